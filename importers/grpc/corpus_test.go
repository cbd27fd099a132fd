package grpc

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// shared is where real files are, beside the repository.
const shared = "../../../shared"

// sharedFile reads one of them. Without it a test is skipped, except in CI.
func sharedFile(t *testing.T, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(shared, name))
	if err != nil {
		if os.Getenv("CI") != "true" {
			t.Skip("not here: ", err)
		}
		t.Fatal(err)
	}
	return src
}

// callless are the files of the corpus from which no call can be had, with why.
var callless = map[string]string{
	"grpc__proposal__A21-bad-format.json-fragment":     "not recognised", // broken on purpose
	"grpc__proposal__A6-hedgingPolicy.json-fragment":   "a gRPC service config that names no method",
	"grpc__proposal__A6-retryThrottling.json-fragment": "a gRPC service config that names no method",
}

// TestCorpus gives an answer for every real file.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shared, "corpus/grpc/*"))
	if err != nil || len(files) == 0 {
		sharedFile(t, "corpus/grpc")
	}
	calls, refused := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		src := &importers.Source{File: name, Bytes: sharedFile(t, "corpus/grpc/"+name)}
		why := "not recognised"
		if Importer.Recognise(src) {
			f, found := Importer.Import(src)
			checkFragment(t, f, found)
			if why = f.Without; len(f.Calls) > 0 {
				calls++
			}
			if refuses(found) {
				refused++
			}
		}
		if why != callless[name] {
			t.Errorf("%s: no call: %q, want %q", name, why, callless[name])
		}
		if why != "" {
			t.Logf("%s: no call: %s", name, why)
		}
	}
	t.Logf("of %d files %d gave calls, of which gRPC refuses %d whole", len(files), calls, refused)
}

func refuses(found []diag.Finding) bool {
	return slices.ContainsFunc(found, func(f diag.Finding) bool { return strings.HasSuffix(f.Message, "refuses the whole service config") })
}

// TestRealFiles compares a line a call of files that were chosen for their traps, and what is said of them.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	const name = "testdata/real/want.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range ar.Files {
		f, found := Importer.Import(&importers.Source{File: want.Name, Bytes: sharedFile(t, want.Name)})
		got := brief(f, found)
		if *update {
			ar.Files[i].Data = []byte(got)
		}
		if diff := cmp.Diff(string(ar.Files[i].Data), got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", want.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// brief prints a line a call: where it is named, its callee and limits.
func brief(f *model.Fragment, found []diag.Finding) string {
	var b strings.Builder
	for i := range f.Calls {
		c := &f.Calls[i]
		w := &c.Waiters[0]
		fmt.Fprintf(&b, "%d %s timeout %s", c.At.Line, f.Services[c.To].Name, w.Timeout.V)
		if w.Retries() {
			fmt.Fprintf(&b, ", %d attempts, waits %s × %.1f up to %s ± %s, on %s", w.Attempts.V, w.Backoff.Get().Base.V,
				w.Backoff.Get().Multiplier.V.Float(), w.Backoff.Get().Max.V, w.Backoff.Get().Jitter.V, w.RetryOn().V)
		}
		if w.Hedge().Set() {
			fmt.Fprintf(&b, ", %d copies every %s", w.Hedge().Attempts.V, w.Hedge().After.V)
		}
		if w.RetryBudget().Set() {
			fmt.Fprintf(&b, ", retry budget %s", w.RetryBudget().V)
		}
		b.WriteByte('\n')
	}
	for _, fd := range found {
		fmt.Fprintf(&b, "%s %d:%d %s (%d more)\n", fd.Code.ID, fd.Place().Line, fd.Place().Col, fd.Message, len(fd.Notes))
	}
	return b.String()
}

// rows are those of the reference on gRPC service configs, with the test of each that changes a number, or why it
// needs none.
var rows = []struct{ row, test, why string }{
	{"name match", "e_name_match", ""},
	{"name match: duplicate", "e_duplicate_name", ""},
	{"name match: method without service", "e_method_without_service", ""},
	{"timeout", "e_timeout", ""},
	{"duration format", "e_duration_format", ""},
	{"retryPolicy required fields", "e_required_fields", ""},
	{"cap", "e_cap", ""},
	{"back-off before retry k", "e_back_off", ""},
	{"deadline", "", "covers all attempts: a timeout without a per-try timeout, in every test"},
	{"perAttemptRecvTimeout", "e_per_attempt_timeout", ""},
	{"hedgingPolicy", "e_hedging", ""},
	{"hedgingPolicy: exclusive", "e_hedging_and_retries", ""},
	{"status codes", "e_status_codes", ""},
	{"retryThrottling", "e_retry_throttling", ""},
	{"retryThrottling: limits", "e_retry_throttling_limits", ""},
	{"pushback", "", "a server's answer, which no config has"},
	{"commit", "", "depends on the answer, which no config has"},
	{"transparent retries", "", "reach nobody, and no config has them"},
	{"waitForReady", "e_propagation", ""},
	{"connect", "", "of the channel, not of the config; the deadline bounds it"},
	{"propagation", "e_propagation", ""},
	{"proxyless xDS", "", "is Envoy's configuration, read by other clients"},
	{"JSON keys", "e_json_keys", ""},
}

// TestRows: every row has a test or a reason, and every test a row.
func TestRows(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, r := range rows {
		if (r.test == "") == (r.why == "") {
			t.Errorf("%s: has test %q and reason %q, wants one of them", r.row, r.test, r.why)
		}
		if r.test == "" {
			t.Logf("%s: no test: %s", r.row, r.why)
			continue
		}
		tested[r.test] = true
		if _, err := os.Stat("testdata/" + r.test + ".txtar"); err != nil {
			t.Errorf("%s: %v", r.row, err)
		}
	}
	files, _ := filepath.Glob("testdata/e_*.txtar")
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txtar"); !tested[name] {
			t.Errorf("%s stands for no row", name)
		}
	}
	for _, row := range tableRows(t, "## E.") {
		if !slices.ContainsFunc(rows, func(r struct{ row, test, why string }) bool { return strings.HasPrefix(row, r.row) }) {
			t.Errorf("the reference has the row %q, which is not in the list", row)
		}
	}
}

var firstCell = regexp.MustCompile(`^\| ([^|]+) \|`)

// tableRows gives the first cell of every row under a heading of the reference, without marks.
func tableRows(t *testing.T, heading string) []string {
	t.Helper()
	text := string(sharedFile(t, "reference/dialects.md"))
	_, text, found := strings.Cut(text, "\n"+heading)
	if !found {
		t.Fatalf("the reference has no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var out []string
	for line := range strings.Lines(text) {
		if m := firstCell.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[1], "--") && m[1] != "Item" {
			out = append(out, strings.NewReplacer("`", "", "*", "").Replace(m[1]))
		}
	}
	if len(out) == 0 {
		t.Fatalf("no row under %q", heading)
	}
	return out
}
