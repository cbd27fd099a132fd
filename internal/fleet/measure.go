package fleet

import (
	"runtime"
	"slices"
	"testing"
	"time"
)

// Meter measures one step over a fleet: its time and what it allocates, per call.
type Meter struct {
	b     *testing.B
	calls int
	pass  time.Duration
	took  []time.Duration
	bytes uint64
}

// PlainPass is the time of one sweep that looks at every call once, the least of a few.
func PlainPass(sweep func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range 5 {
		start := time.Now()
		sweep()
		best = min(best, time.Since(start))
	}
	return best
}

// Measure starts a measurement; pass is the time of a plain pass over the same calls, 0 where there is none.
func Measure(b *testing.B, calls int, pass time.Duration) *Meter {
	return &Meter{b: b, calls: calls, pass: pass}
}

// Time measures one run of the step.
func (m *Meter) Time(step func()) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	step()
	m.took = append(m.took, time.Since(start))
	runtime.ReadMemStats(&after)
	m.bytes += after.TotalAlloc - before.TotalAlloc
}

// Report gives the median of the runs.
func (m *Meter) Report() {
	slices.Sort(m.took)
	median := m.took[len(m.took)/2]
	m.b.ReportMetric(0, "ns/op") // setting up is in it
	m.b.ReportMetric(float64(median)/1e6, "ms")
	m.b.ReportMetric(float64(median)/float64(m.calls), "ns/call")
	m.b.ReportMetric(float64(m.bytes)/float64(len(m.took)*m.calls), "B/call")
	if m.pass > 0 {
		m.b.ReportMetric(float64(median)/float64(m.pass), "×pass")
	}
}

// Quantiles reports the median and the 99th percentile of many short measurements, each of one call, and what they
// allocated each.
func Quantiles(b *testing.B, took []time.Duration, allocated uint64, pass time.Duration) {
	slices.Sort(took)
	median := took[len(took)/2]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(median)/1e6, "ms")
	b.ReportMetric(float64(median), "ns/call")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99")
	b.ReportMetric(float64(allocated)/float64(len(took)), "B/call")
	b.ReportMetric(float64(median)/float64(pass), "×pass")
}
