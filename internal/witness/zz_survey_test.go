package witness_test

import (
	"fmt"
	"os"
	"regexp"
	"sort"
	"testing"

	"github.com/budgetplan/budgetplan/internal/witness"
)

var ids = regexp.MustCompile(`^(\w+) \S+`)

func TestSurvey(t *testing.T) {
	n := 300
	fmt.Sscan(os.Getenv("SURVEY"), &n)
	if os.Getenv("ONE") != "" {
		gen := witness.Plans()
		for i := 0; i < n; i++ {
			p := gen.Example(i + 200000)
			if d := witness.Describe(p); regexp.MustCompile(os.Getenv("ONE")).MatchString(d) {
				w, g := witness.Compute(p, "eqf"), solve(p, "eqf")
				t.Log(d)
				for k := range w { t.Log(k, w[k], g[k]) }
				return
			}
		}
	}
	type hit struct{ count, size int; text string }
	hits := map[string]*hit{}
	gen := witness.Plans()
	for i := 0; i < n; i++ {
		p := gen.Example(i + 200000)
		for _, policy := range []string{"eqf", "eqs", "equal"} {
			want, got := witness.Compute(p, policy), solve(p, policy)
			for k, w := range want {
				if got[k] == w || skip(k, w, got[k], witness.Describe(p)) { continue }
				kind := ids.ReplaceAllString(k, "$1")
				h := hits[kind]
				d := witness.Describe(p)
				if h == nil { h = &hit{size: 1 << 30}; hits[kind] = h }
				h.count++
				if len(d) < h.size {
					h.size = len(d)
					h.text = fmt.Sprintf("%s (%s): witness %s, product %s\n%s", k, policy, w, got[k], d)
				}
			}
		}
	}
	var ks []string
	for k := range hits { ks = append(ks, k) }
	sort.Slice(ks, func(i, j int) bool { return hits[ks[i]].count > hits[ks[j]].count })
	for _, k := range ks { t.Logf("%s: %d\n%s", k, hits[k].count, hits[k].text) }
}

var word = regexp.MustCompile("^at (least|most) ")

func skip(k, w, g, d string) bool {
	if regexp.MustCompile("one_of").MatchString(d) && regexp.MustCompile("@sdk|@mesh").MatchString(d) && regexp.MustCompile("attempts|amplif|waited|work$").MatchString(k) { return true }
	if regexp.MustCompile("hedge_after").MatchString(d) && regexp.MustCompile("limited|waited|work$").MatchString(k) { return true }
	if regexp.MustCompile("unordered").MatchString(d) { return true }

	if regexp.MustCompile("orphan$|if .* wait$").MatchString(k) { return true }
	if w == "unknown" && g == "none" && k[:5] == "entry" { return true }
	if w == "0ms" && g == "none" { return true }
	return word.ReplaceAllString(w, "") == word.ReplaceAllString(g, "")
}
