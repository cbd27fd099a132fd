package exam

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	console = "```console\n"
	fence   = "```\n"
	command = "$ go run ./cmd/budgetplan "
)

// What the README shows is what the tool prints: each `console` block is a command and its output, up to a line
// with an ellipsis where the rest is left out.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	rest, blocks := string(readme), 0
	for {
		before, block, found := strings.Cut(rest, console)
		now.WriteString(before)
		if !found {
			break
		}
		blocks++
		shown, after, closed := strings.Cut(block, fence)
		line, _, _ := strings.Cut(shown, "\n")
		args, ok := strings.CutPrefix(line, command)
		if !closed || !ok {
			t.Fatalf("a console block must begin with %q and be closed: %s", command, line)
		}
		now.WriteString(console + line + "\n" + cut(printed(t, args), shown) + fence)
		rest = after
	}
	if blocks < 2 {
		t.Fatalf("the README shows %d commands, want at least two", blocks)
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(readme), now.String()); diff != "" {
		t.Errorf("the README is not what the tool prints (-README +tool); write it anew with `go test ./internal/exam -update`\n%s", diff)
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)\)`)

// Every link of a document to the repository leads somewhere.
func TestLinks(t *testing.T) {
	t.Chdir("../..")
	docs, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append(docs, "README.md") {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", doc, m[1])
			}
		}
	}
}

// cut leaves out of the output what the block leaves out.
func cut(output, shown string) string {
	const rest = "…\n"
	if !strings.HasSuffix(shown, "\n"+rest) {
		return output
	}
	lines := strings.SplitAfter(output, "\n")
	keep := strings.Count(shown, "\n") - 2 // neither the command nor the ellipsis
	return strings.Join(lines[:min(keep, len(lines))], "") + rest
}

var word = regexp.MustCompile(`'[^']*'|\S+`)

// printed is what a person sees: the output, then what standard error adds.
func printed(t *testing.T, args string) string {
	t.Helper()
	var words []string
	for _, w := range word.FindAllString(args, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	stdout, stderr, status := tool(words...)
	if status > 1 {
		t.Errorf("%s: exit status %d\n%s", args, status, stderr)
	}
	return stdout + stderr
}
