package importers

import (
	"runtime"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model/diag"
)

// A source may have ThingsFree things, and one more for every BytesPerThing bytes of it. Things are services, calls,
// entrypoints, waiters and whatever else is kept in memory, findings too. Calls that say anything take more bytes; a
// large file of less was made to fill the memory.
const (
	ThingsFree    = 75_000
	BytesPerThing = 10
)

// bytesEach is about what a thing takes in memory, and frugalFrom the number of things from which on memory is watched:
// the collector would let the heap grow to twice what is in use.
const (
	bytesEach  = 270
	frugalFrom = 10_000
)

// Things counts what a source has.
type Things struct {
	size, count, most int
	end               func()
}

// ThingsOf starts to count what a source has.
func ThingsOf(src *Source) *Things {
	size := len(src.Bytes)
	return &Things{size: size, most: ThingsFree + size/BytesPerThing}
}

// Add counts things more, and reports whether the source may have them.
func (t *Things) Add(more int) bool {
	t.watch(more)
	t.count += more
	return !t.Full()
}

// Expect gives for how many of so many things more there is room.
func (t *Things) Expect(more int) int {
	t.watch(more)
	return max(0, min(more, t.most-t.count))
}

// watch has the collector hold the memory down once there are many things.
func (t *Things) watch(more int) {
	if t.end == nil && t.count+more >= frugalFrom {
		runtime.GC() // what the parser left
		t.end = yamlsrc.Frugal(int64(t.most) * bytesEach)
	}
}

// Full reports whether the source has more than it may.
func (t *Things) Full() bool { return t.count > t.most }

// End is called when the source is read.
func (t *Things) End() {
	if t.end != nil {
		t.end()
		t.end = nil
	}
}

// TooMuch is the finding for the first thing that is too much. What has it is not read at all.
func (t *Things) TooMuch(at diag.Span) diag.Finding {
	f := yamlsrc.Syntax.New("", at, "the file has more than %d services, calls and other things in %d KB, the most that are read", t.most, t.size>>10)
	f.Help = "split it into several files"
	return f
}
