package prometheus

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
)

// backfilled is the moment of every sample that the server is given, in seconds.
const backfilled = 1_700_000_000

// server starts a Prometheus on the loopback interface over backfilled samples, and gives its address. The test is
// skipped where there is none, except in CI.
func server(t *testing.T, samples string) string {
	t.Helper()
	for _, program := range []string{"prometheus", "promtool"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "true" {
				t.Skip("no server to compare with: ", err)
			}
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	data := filepath.Join(dir, "data")
	fill := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", write("fill.om", samples+"# EOF\n"), data)
	if out, err := fill.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", fill, err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	cmd := exec.Command("prometheus", "--config.file="+write("prometheus.yml", "global: {}\n"), "--storage.tsdb.path="+data,
		"--web.listen-address="+address, "--storage.tsdb.retention.time=100y", "--log.level=error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for range 300 {
		if resp, err := http.Get("http://" + address + "/-/ready"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return address
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the server is not ready after 30 s")
	return ""
}

// query asks for an instant vector and gives its values by the label id.
func query(t *testing.T, address, promql string) map[string]float64 {
	t.Helper()
	resp, err := http.PostForm("http://"+address+"/api/v1/query", url.Values{"query": {promql}, "time": {strconv.Itoa(backfilled)}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	var results []result
	if err := json.Unmarshal(body, &a); err != nil || a.Status != "success" {
		t.Fatalf("%s: %v: %s", promql, err, body)
	}
	if err := json.Unmarshal(a.Data.Result, &results); err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, r := range results {
		v, err := strconv.ParseFloat(r.Value.value, 64)
		if err != nil {
			t.Fatal(err)
		}
		values[r.Metric["id"]] = v
	}
	return values
}

// edgeCases are histograms at the borders of the definition.
var edgeCases = [][]bucket{
	{{0.1, 50}, {1, 90}, {math.Inf(1), 100}},                // p90 is a bound
	{{0.1, 0}, {1, 0}, {math.Inf(1), 0}},                    // nothing observed
	{{0.1, 0}, {1, 0}, {math.Inf(1), 7}},                    // all above the last bound
	{{0.1, 5}, {1, 5}, {math.Inf(1), 5}},                    // all in the first bucket
	{{math.Inf(1), 5}},                                      // no finite bucket
	{{0.1, 5}, {1, 9}},                                      // no last bucket
	{{0.1, 5}, {1, 3}, {2, 9}, {math.Inf(1), 10}},           // falling
	{{0.1, 5}, {1, 9}, {math.Inf(1), 4}},                    // the last one too small
	{{0, 3}, {1, 9}, {math.Inf(1), 9}},                      // a bound of 0
	{{0.1, 0}, {1, 4}, {math.Inf(1), 4}},                    // an empty first bucket
	{{0.1, 0.25}, {1, 0.5}, {math.Inf(1), 0.75}},            // counts of a recording rule
	{{1, 1e15}, {2, 1e15 + 1}, {math.Inf(1), 1e15 + 2}},     // many
	{{0.1, 1}, {math.Inf(1), 1}},                            // one observation
	{{1, 10}, {1, 5}, {2, 30}, {math.Inf(1), 30}},           // one bound written in two ways
	{{1e-9, 1}, {1e9, 2}, {math.Inf(1), 2}},                 // far apart
	{{0.1, 5}, {1, 5 - 1e-14}, {2, 9}, {math.Inf(1), 9.25}}, // an error of rounding
}

// histograms gives the edge cases, then random ones: with empty buckets, with falling counts, saturated.
func histograms(n int) [][]bucket {
	rng := rand.New(rand.NewPCG(1, 2))
	all := append([][]bucket(nil), edgeCases...)
	for len(all) < n {
		var h []bucket
		le, sum := 0.0, 0.0
		for range 1 + rng.IntN(20) {
			le += rng.ExpFloat64() * 0.2
			switch rng.IntN(6) {
			case 0: // empty
			case 1:
				sum = math.Floor(sum * rng.Float64() * 2)
			default:
				sum += float64(rng.IntN(1000))
			}
			h = append(h, bucket{le, sum})
		}
		if rng.IntN(3) > 0 {
			sum += float64(rng.IntN(50))
		}
		all = append(all, append(h, bucket{math.Inf(1), sum}))
	}
	return all
}

// TestQuantilesAreThoseOfPrometheus holds 200 histograms against the server, at nine percentiles. In the last bucket
// the server gives the highest bound as if it were the value; so do we, but marked as a lower bound.
func TestQuantilesAreThoseOfPrometheus(t *testing.T) {
	t.Parallel()
	all := histograms(200)
	var om strings.Builder
	for id, h := range all {
		bounds := map[string]bool{}
		for _, b := range h {
			le := strconv.FormatFloat(b.le, 'g', -1, 64)
			if bounds[le] {
				le += ".0"
			}
			bounds[le] = true
			fmt.Fprintf(&om, "h_bucket{id=\"%d\",le=%q} %v %d\n", id, le, b.n, backfilled)
		}
	}
	address := server(t, om.String())
	compared, open, none := 0, 0, 0
	for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
		values := query(t, address, fmt.Sprintf("histogram_quantile(%v, h_bucket)", q))
		for id, h := range all {
			want, found := values[strconv.Itoa(id)]
			if !found {
				t.Fatalf("the server has no histogram %d", id)
			}
			got, atLeast := math.NaN(), false
			if c, _, err := settle(append([]bucket(nil), h...), -1); err == nil {
				got, atLeast = c.quantile(q)
			}
			compared++
			switch {
			case math.IsNaN(want) && math.IsNaN(got):
				none++
			case !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))):
				t.Errorf("quantile %v of %v is %v, the server's is %v", q, h, got, want)
			}
			if atLeast {
				open++
				if finite := top(h); got != finite {
					t.Errorf("quantile %v of %v is at least %v, want the highest bound %v", q, h, got, finite)
				}
			}
		}
	}
	t.Logf("%d values are equal, %d of them lower bounds, %d of them none", compared, open, none)
	if open < 20 || none < 10 {
		t.Errorf("%d lower bounds and %d without a value: the histograms do not reach the borders", open, none)
	}
}

// TestSumsAndWindowsAreThoseOfPrometheus reads scrapes as a user would, of 40 series that make 8 edges at two moments,
// and holds the percentiles of what lies between against the server, which sums and subtracts by itself.
func TestSumsAndWindowsAreThoseOfPrometheus(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	bounds := []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	var om strings.Builder
	for series := range 40 {
		labels := fmt.Sprintf("id=\"%d\",client=\"c%d\",server=\"s\",pod=\"%d\"", series%8, series%8, series)
		early, late := 0, 0
		for i := range len(bounds) + 1 {
			early += rng.IntN(100)
			late += rng.IntN(300)
			le := "+Inf"
			if i < len(bounds) {
				le = strconv.FormatFloat(bounds[i], 'g', -1, 64)
			}
			fmt.Fprintf(&om, "traces_service_graph_request_client_seconds_bucket{%s,le=%q} %d %d\n", labels, le, early, backfilled-240)
			fmt.Fprintf(&om, "traces_service_graph_request_client_seconds_bucket{%s,le=%q} %d %d\n", labels, le, early+late, backfilled)
		}
	}
	f, found := Importer.Import(&importers.Source{File: "dump.om", Bytes: []byte(om.String() + "# EOF\n")})
	if len(f.Calls) != 8 || len(found) > 0 {
		t.Fatalf("%d calls, findings %v", len(f.Calls), found)
	}
	address := server(t, om.String())
	for i, p := range percentiles {
		const b = "traces_service_graph_request_client_seconds_bucket"
		values := query(t, address, fmt.Sprintf("histogram_quantile(%v, sum by (id, le) (%s - (%s offset 240s)))", p.Float(), b, b))
		for k := range f.Calls {
			lat := f.Calls[k].Latency
			got, want := lat.Points[i].V.V, values[strconv.Itoa(k)]
			if math.Abs(float64(got)-want*1e9) > 0.5+1e-9*want*1e9 {
				t.Errorf("%s of edge %d is %v, the server's is %v s", p.Percentile(), k, got, want)
			}
			if lat.Window.V != 240*model.Second {
				t.Errorf("the window of edge %d is %v", k, lat.Window.V)
			}
		}
	}
}

// top gives the highest finite bound.
func top(h []bucket) float64 {
	le := math.Inf(-1)
	for _, b := range h {
		if !math.IsInf(b.le, 1) {
			le = max(le, b.le)
		}
	}
	return le
}
