package importers_test

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/importers"
)

// What may be read grows with the source. The page of the finding says the numbers.
func TestThings(t *testing.T) {
	things := importers.ThingsOf(&importers.Source{Bytes: make([]byte, 1000)})
	most := importers.ThingsFree + 1000/importers.BytesPerThing
	if got := things.Expect(1 << 40); got != most {
		t.Errorf("there is room for %d things, want %d", got, most)
	}
	if !things.Add(most) || things.Full() || things.Expect(1) != 0 {
		t.Error("what may be read is too much")
	}
	if things.Add(1) || !things.Full() {
		t.Error("one thing too much is read")
	}
	things.End()
	page, err := os.ReadFile("../testdata/script/bp001_syntax.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); importers.ThingsFree != 75_000 || importers.BytesPerThing != 10 || !strings.Contains(text, " 75,000, and\n# one more for every 10 bytes") {
		t.Error("bp001_syntax.txtar says other limits")
	}
}

// Memory is watched while any source with many things is read, and no longer.
func TestThingsEnd(t *testing.T) {
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	before := limit()
	a, b := importers.ThingsOf(&importers.Source{}), importers.ThingsOf(&importers.Source{})
	if a.Add(10); limit() != before {
		t.Error("memory is watched for ten things")
	}
	a.Add(20_000)
	b.Add(20_000)
	a.End()
	a.End()
	if limit() >= before {
		t.Error("memory is not watched")
	}
	if b.End(); limit() != before {
		t.Errorf("the limit is %d after all, was %d", limit(), before)
	}
}
