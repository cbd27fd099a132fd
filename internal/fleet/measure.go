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

// Quantiles reports the median and the 99th percentile of many short measurements.
func Quantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "ns-median")
	b.ReportMetric(float64(took[len(took)*99/100]), "ns-p99")
}
