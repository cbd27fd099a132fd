package main

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var out strings.Builder
	err := write(&out, strings.NewReader(`cpu: Some Processor
BenchmarkPhases/calls=1000/allocate,_slack-2  	       3	        86.35 B/call	       153.4 ms	      1534 ns/call	        13.15 ×pass
BenchmarkPhases/calls=10000/bounds-2  	       3	        86.35 B/call	       2 ms	      200 ns/call	        13.15 ×pass
BenchmarkPhases/calls=10000/allocate,_slack-2  	       3	        86.35 B/call	       30.68 ms	      3068 ns/call	        13.15 ×pass
BenchmarkWhatIf/calls=100000/what-if_of_one_call-2   3   0.001237 ms   1237 ns/call   13889 p99   42 B/call   0.01 ×pass
BenchmarkProcess/20_calls-2   3   12.17 MB-binary   6.827 ms   5 ms-cpu
PASS
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Measured on Some Processor",
		"| allocate, slack | 1000 | 153.4 | 1534 |  | 86.35 | 13.15 |  |\n| allocate, slack | 10000 | 30.68 | 3068 | 2.00 | 86.35 | 13.15 |  |\n",
		"| what-if of one call | 100000 | 0.001237 | 1237 |  | 42 | 0.01 | 13889 |\n",
		"| 20 calls |  | 6.827 | 5 | 12.17 |\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if err := write(&out, strings.NewReader("PASS\n")); err == nil {
		t.Error("an output without a benchmark is taken")
	}
}
