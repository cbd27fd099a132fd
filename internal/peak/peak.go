// Package peak measures the memory that reading an input takes, for the tests of every reader.
package peak

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Most is what reading an input of a size may take at its peak.
func Most(size int) uint64 { return uint64(64*size + 64<<20) }

// Of gives the most memory that a step takes, as samples of the heap show it.
func Of(step func()) uint64 {
	runtime.GC()
	before := heap()
	var most atomic.Uint64
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), heap()))
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	step()
	close(done)
	<-stopped
	return most.Load() - min(most.Load(), before)
}

// MostAllocated is what reading an input of a size may allocate in all: several times what it may take at once, and yet
// less than what an input does that stands for far more than it says.
func MostAllocated(size int) uint64 { return uint64(1024*size + 128<<20) }

// Allocated gives what a step allocates in all. No collector changes it, so it can be asserted of every input of a fuzz
// target.
func Allocated(step func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	step()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Check fails a test whose step, which reads an input of a size, takes more than that. On a busy machine the collector
// comes late, so that a step counts that keeps to it once in three times.
func Check(t *testing.T, size int, step func()) {
	t.Helper()
	var used uint64
	for range 3 {
		start := time.Now()
		used = Of(step)
		t.Logf("%d KB in %v take %d MB", size>>10, time.Since(start).Round(time.Millisecond), used>>20)
		if used <= Most(size) {
			return
		}
	}
	t.Errorf("%d KB take %d MB of memory, more than %d MB", size>>10, used>>20, Most(size)>>20)
}

// Shapes reads texts that are made to be large in memory, all of them of 256 KB and those named as large of more, and
// fails a test where one takes more than Most.
func Shapes(t *testing.T, dense func(size int) map[string]string, size int, large []string, read func(text string)) {
	check := func(name, text string) {
		t.Run(name, func(t *testing.T) { Check(t, len(text), func() { read(text) }) })
	}
	for name, text := range dense(256 << 10) {
		check(name, text)
	}
	texts := dense(size)
	for _, name := range large {
		check("more "+name, texts[name])
	}
}

// Fill repeats a line, which is given its number, until the text has a size.
func Fill(size int, line func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(line(i))
	}
	return b.String()
}

// Letters gives a name of small letters for a number, short ones for small numbers.
func Letters(i int) string {
	name := []byte{'a'}
	for ; i > 0; i /= 26 {
		name = append(name, byte('a'+i%26))
	}
	return string(name)
}
