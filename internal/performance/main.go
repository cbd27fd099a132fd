// Command performance turns the output of the benchmarks into docs/performance.md. It measures nothing itself:
//
//	go test -run - -bench . -benchtime 3x -timeout 1h ./internal/fleet ./solver | go run ./internal/performance > docs/performance.md
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := write(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// result is one line of a benchmark's output.
type result struct {
	bench, size, step string
	metrics           map[string]string // by unit
}

// line is `BenchmarkStages/calls=1000/read-2   3   1.2 ms   1200 ns/call`.
var line = regexp.MustCompile(`^Benchmark(\w+)/(?:calls=(\d+))?/?(.*?)(?:-\d+)?\s+\d+\s+(.*)$`)

// read gives the results of an output, and what it says of the machine.
func read(in io.Reader) (results []result, machine string, err error) {
	s := bufio.NewScanner(in)
	for s.Scan() {
		if cpu, ok := strings.CutPrefix(s.Text(), "cpu: "); ok {
			machine = cpu
		}
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		r := result{m[1], m[2], strings.ReplaceAll(m[3], "_", " "), map[string]string{}}
		fields := strings.Fields(m[4])
		for i := 0; i+1 < len(fields); i += 2 {
			r.metrics[fields[i+1]] = fields[i]
		}
		results = append(results, r)
	}
	return results, machine, s.Err()
}

const head = `# Performance

Measured on %s by the benchmarks of the repository, on plans of the published shape of large fleets
(` + "`internal/fleet`" + ` names the sources): wide rather than deep, a heavy tail of fan-outs, a few services that nearly everybody
calls, eight entrypoints. Nothing in the tests asserts a time. To measure again:

    go test -run - -bench . -benchtime 3x -timeout 1h ./internal/fleet ./solver | go run ./internal/performance > docs/performance.md

**growth** is the time a call over that at a tenth of the calls: 1 is linear. **×pass** says how many plain sweeps over the
same calls, measured in the same run, a step takes: it compares machines, and runs on a busy one, better than a time does.
**bounds to slack together** are bounds, ways to fail, attempts, need and allocation, one after the other. Of **what-if** (what
the entrypoints need where one call needs a millisecond more) a row is the median of 20,000 questions, and **p99** in ns of them.
`

// tables are the tables of the document: the benchmarks that fill one, its title, and the units of its columns.
var tables = []struct {
	title string
	bench []string
	units []string
}{
	{"Parts of a run", []string{"Stages", "Phases", "WhatIf"}, []string{"ms", "ns/call", "growth", "B/call", "×pass", "p99"}},
	{"Memory that stays, in bytes a call", []string{"Stages"}, []string{"B/call-model", "B/call-graph", "B/call-solution"}},
	{"The whole command", []string{"Process"}, []string{"ms", "ms-cpu", "MB-binary"}},
}

// bySteps puts the sizes of one step behind each other, steps in the order of their first mention, and adds how its time
// a call grows from one size to the next.
func bySteps(results []result) []result {
	first := map[string]int{}
	for i, r := range results {
		if _, seen := first[r.bench+r.step]; !seen {
			first[r.bench+r.step] = i
		}
	}
	slices.SortStableFunc(results, func(a, b result) int { return first[a.bench+a.step] - first[b.bench+b.step] })
	for i := 1; i < len(results); i++ {
		was, now := results[i-1], results[i]
		if was.bench+was.step != now.bench+now.step {
			continue
		}
		before, err := strconv.ParseFloat(was.metrics["ns/call"], 64)
		after, err2 := strconv.ParseFloat(now.metrics["ns/call"], 64)
		if err == nil && err2 == nil && before > 0 {
			now.metrics["growth"] = fmt.Sprintf("%.2f", after/before)
		}
	}
	return results
}

func write(w io.Writer, in io.Reader) error {
	results, machine, err := read(in)
	if err != nil {
		return err
	}
	results = bySteps(results)
	if len(results) == 0 {
		return fmt.Errorf("no benchmark in the input")
	}
	fmt.Fprintf(w, head, machine)
	for _, t := range tables {
		fmt.Fprintf(w, "\n## %s\n\n| step | calls | %s |\n| --- | ---: |%s\n", t.title, strings.Join(t.units, " | "), strings.Repeat(" ---: |", len(t.units)))
		for _, bench := range t.bench {
			for _, r := range results {
				if _, has := r.metrics[t.units[0]]; r.bench != bench || !has {
					continue
				}
				fmt.Fprintf(w, "| %s | %s |", r.step, r.size)
				for _, u := range t.units {
					fmt.Fprintf(w, " %s |", r.metrics[u])
				}
				fmt.Fprintln(w)
			}
		}
	}
	return nil
}
