package planfile

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/peak"
)

// TestMemory reads plans that are made to be large in memory: at most 64 times their size and 64 MB.
func TestMemory(t *testing.T) {
	large := []string{
		"calls", "calls in JSON", "callees below each other", "services", "services of one call", "calls with a limit", "via",
	}
	peak.Shapes(t, dense, 4<<20, large, func(text string) {
		f, found := Importer.Import(&importers.Source{File: "plan.yaml", Bytes: []byte(text)})
		t.Logf("%d calls, %d findings", len(f.Calls), len(found))
	})
}

// Plans that people and programs write are read however large they are, a hundred thousand calls of one word each too,
// be it to as many services.
func TestLarge(t *testing.T) {
	full := "{call: %s, timeout: 250ms, per_try_timeout: 100ms, retries: 1, propagates: deadline, idempotent: true}"
	for _, shape := range []struct {
		call                string
		each, off, services int // calls of a service; the first that is called, and how many are
	}{
		{"%s", 10, 10_000, 40_000}, {full, 10, 10_000, 40_000}, {"%s", 100_000, 1, 100_001},
	} {
		var b strings.Builder
		b.WriteString("services:\n")
		for i := range 100_000 {
			if i%shape.each == 0 {
				fmt.Fprintf(&b, "  s%05d:\n    calls:\n", i/shape.each)
			}
			name := fmt.Sprintf("s%05d", shape.off+i%(shape.services-shape.off))
			fmt.Fprintf(&b, "    - "+shape.call+"\n", name)
		}
		f, found := readText(b.String())
		if len(f.Calls) != 100_000 || len(f.Services) != shape.services || len(found) != 0 {
			t.Errorf("%s: %d calls, %d services, findings\n%s", shape.call, len(f.Calls), len(f.Services), show(found))
		}
	}
}

// What is denser is refused, where it begins to be too much.
func TestTooMuch(t *testing.T) {
	text := "services:\n  a:\n    calls: [" + strings.Repeat("b,", 120_000) + "]\n    unknown: 1\n"
	most := importers.ThingsFree + len(text)/importers.BytesPerThing
	f, found := readText(text)
	want := fmt.Sprintf("3:%d-%d BP001 the file has more than %d services, calls and other things in %d KB, the most that are read\n  help split it into several files\n",
		13+2*(most-2), 14+2*(most-2), most, len(text)>>10)
	if got := show(found); got != want {
		t.Errorf("got %swant %s", got, want)
	}
	if len(f.Calls)+len(f.Services) != 0 || !f.Structure {
		t.Errorf("%d calls and %d services of a plan that is refused", len(f.Calls), len(f.Services))
	}
}

// dense are plans that say as much as they can in a few bytes.
func dense(size int) map[string]string {
	fill := func(line func(i int) string) string { return peak.Fill(size, line) }
	one := func(text string) string { return fill(func(int) string { return text }) }
	return map[string]string{
		"calls":                          "services:\n  a:\n    calls:\n" + one("      - b\n"),
		"calls in a line":                "services: {a: {calls: [" + one("b,") + "b]}}\n",
		"calls in JSON":                  `{"services": {"a": {"calls": [` + one(`"b",`) + `"b"]}}}`,
		"callees":                        "services: {a: {calls: [" + fill(func(i int) string { return peak.Letters(i) + "," }) + "b]}}\n",
		"callees below each other":       "services:\n  a:\n    calls:\n" + fill(func(i int) string { return "    - " + peak.Letters(i) + "\n" }),
		"services":                       "services:\n" + fill(func(i int) string { return " " + peak.Letters(i) + ":\n" }),
		"services in a line":             "services: {" + fill(func(i int) string { return peak.Letters(i) + "," }) + "}\n",
		"services of one call":           "services:\n" + fill(func(i int) string { return "  x" + peak.Letters(i) + ":\n    calls:\n    - b\n" }),
		"services of one call in a line": "services: {" + fill(func(i int) string { return peak.Letters(i) + ": {calls: [b]}," }) + "}\n",
		"services of empty calls":        "services: {" + fill(func(i int) string { return peak.Letters(i) + ": {calls: []}," }) + "}\n",
		"services of names as calls":     "services: {" + fill(func(i int) string { return peak.Letters(i) + ": {calls: b}," }) + "}\n",
		"entrypoints":                    "entrypoints: {" + fill(func(i int) string { return peak.Letters(i) + ": {call: b}," }) + "}\n",
		"empty entrypoints":              "entrypoints: {" + fill(func(i int) string { return peak.Letters(i) + ": {}," }) + "}\n",
		"groups":                         "services: {a: {calls: [" + one("{parallel: []},") + "]}}\n",
		"empty calls":                    "services: {a: {calls: [" + one("{},") + "]}}\n",
		"lists as calls":                 "services: {a: {calls: [" + one("[],") + "]}}\n",
		"calls with a key":               "services: {a: {calls: [" + one("{call: b, repeat: 2},") + "]}}\n",
		"calls with a limit":             "services:\n  a:\n    calls:\n" + one("    - {call: b, timeout: 1s}\n"),
		"calls with a latency":           "services: {a: {calls: [" + one("{call: b, latency: {p1: 1s}},") + "]}}\n",
		"via":                            "services: {a: {calls: [{call: b, via: [" + fill(func(i int) string { return "{name: " + peak.Letters(i) + "}," }) + "]}]}}\n",
		"empty via":                      "services: {a: {calls: [{call: b, via: [" + one("{},") + "]}]}}\n",
		"ignores":                        "services: {a: {ignore: {" + fill(func(i int) string { return "BP" + peak.Letters(i) + ": b," }) + "}}}\n",
		"points":                         "services: {a: {latency: {histogram: {" + fill(func(i int) string { return strconv.Itoa(i) + "ms: 1%," }) + "}}}}\n",
		"unknown keys":                   "services: {a: {" + fill(func(i int) string { return peak.Letters(i) + ": 1," }) + "}}\n",
		"bad values":                     "services: {a: {calls: [" + one("{call: b, timeout: 1},") + "]}}\n",
		"aliases":                        "aliases: {" + fill(func(i int) string { return peak.Letters(i) + ": [b]," }) + "}\n",
		"names in aliases":               "aliases: {a: [" + one("b,") + "b]}\n",
		"sources":                        "sources: [" + one("{envoy: b},") + "]\n",
		"platforms":                      "platforms: {" + fill(func(i int) string { return peak.Letters(i) + ": 1," }) + "}\n",
		"statuses":                       "services: {a: {calls: [{call: b, retry_on: [" + one("503,") + "503]}]}}\n",
		"waits":                          "services: {a: {calls: [{call: b, backoff: [" + one("1s,") + "1s]}]}}\n",
		"dashes":                         "services:\n  a:\n    calls:\n" + one("    -\n"),
		"dashes in a line":               one("- ") + "b\n",
		"an anchor":                      "x-b: &b [" + strings.Repeat("b,", 99) + "b]\nservices: {" + fill(func(i int) string { return peak.Letters(i) + ": {calls: *b}," }) + "}\n",
		"comments":                       "services:\n  a:\n" + one("    # budgetplan:ignore BP202 a\n"),
		"documents":                      one("services:\n---\n"),
	}
}
