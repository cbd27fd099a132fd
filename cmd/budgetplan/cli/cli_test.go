package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/budgetplan/budgetplan/cmd/budgetplan/pipeline"
	"github.com/budgetplan/budgetplan/importers"
)

func run(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = Main(args, strings.NewReader(""), &out, &err)
	return status, out.String(), err.String()
}

// TestEveryCommandHasHelp: a page that says what the command does, with an example of it.
func TestEveryCommandHasHelp(t *testing.T) {
	for _, cmd := range newRoot(&streams{}).Commands() {
		if cmd.Short == "" || cmd.Long == "" || !strings.Contains(cmd.Example, "budgetplan "+cmd.Name()) {
			t.Errorf("%s lacks a help text or an example of itself", cmd.Name())
		}
		status, out, _ := run("help", cmd.Name())
		if status != statusOK || !strings.Contains(out, cmd.Example) {
			t.Errorf("help %s: status %d\n%s", cmd.Name(), status, out)
		}
	}
}

// TestEveryInputFindingHasAPage: what it means, why it hurts, how to fix it.
func TestEveryInputFindingHasAPage(t *testing.T) {
	n := 0
	for _, code := range pipeline.Codes() {
		if !strings.HasPrefix(code.ID, "BP0") {
			continue
		}
		n++
		text, ok := page(strings.ToLower(code.Name))
		for _, part := range []string{"# " + code.ID, "## What it means", "## Why it hurts", "## How to fix it"} {
			if !ok || !strings.Contains(text, part) {
				t.Errorf("the page of %s has no %q", code.ID, part)
			}
		}
	}
	if n != 12 {
		t.Errorf("%d input findings, want BP001 to BP012", n)
	}
}

// TestFault: a panic is a fault of ours, told as such, with a status of its own.
func TestFault(t *testing.T) {
	var out bytes.Buffer
	status := Main([]string{"check", "-"}, panicking{}, &out, &out)
	if status != statusFault || !strings.Contains(out.String(), "a fault of ours") || strings.Contains(out.String(), "goroutine") {
		t.Errorf("status %d, told:\n%s", status, out.String())
	}
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("no such luck") }

// TestSettings: the keys of a what-if are those of a plan, whatever the value has in it.
func TestSettings(t *testing.T) {
	for text, want := range map[string]string{
		"gateway/order timeout=2s":                           "gateway/order|timeout|2s",
		"a/b retries=1  backoff={base: 25ms, jitter: full} ": "a/b|retries|1 a/b|backoff|{base: 25ms, jitter: full}",
		"outbound|80||x.y latency.p99=3ms":                   "outbound|80||x.y|latency.p99|3ms",
		"a name with spaces margin=[5%, 50ms]":               "a name with spaces|margin|[5%, 50ms]",
		"timeout=2s":                                         "error", "gateway/order": "error", "": "error", "a b=\nc": "error",
	} {
		settings, err := pipeline.ParseSettings(text)
		var got []string
		for _, s := range settings {
			got = append(got, s.Subject+"|"+s.Key+"|"+s.Value)
		}
		if err != nil {
			got = []string{"error"}
		}
		if joined := strings.Join(got, " "); joined != want {
			t.Errorf("%q gives %q, want %q", text, joined, want)
		}
	}
}

// TestStarter: the plan that init writes is read without a finding.
func TestStarter(t *testing.T) {
	in := importers.Source{File: "starter.yaml", Bytes: starter}
	if _, found := in.YAML(); len(found) > 0 {
		t.Fatal(found)
	}
	var out, err bytes.Buffer
	status := Main([]string{"check", "--fail-on", "warning", "-"}, bytes.NewReader(starter), &out, &err)
	if status != statusOK || !strings.HasSuffix(err.String(), "found nothing\n") {
		t.Errorf("status %d\n%s%s", status, out.String(), err.String())
	}
}
