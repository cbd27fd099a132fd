package diagram_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/render"
	"github.com/budgetplan/budgetplan/render/diagram"
	"github.com/budgetplan/budgetplan/solver"
)

// played runs a request of a plan at its first root while a service hangs.
func played(t *testing.T, plan, service string) *render.Run {
	t.Helper()
	in := load(t, []byte(plan))
	r := &render.Run{Input: in, Scenario: solver.Scenario{Takes: model.NoLimit}}
	for i := range in.Plan.Services {
		if in.Plan.Services[i].Name == service {
			r.Scenario.Service = solver.NodeID(i)
		}
	}
	sc := r.Scenario
	for _, to := range []**solver.Run{&r.AsIs, &r.Enforced} {
		run, err := in.Graph.Run(&in.Graph.Roots[0], sc)
		if err != nil {
			t.Fatal(err)
		}
		*to, sc.Enforced = run, true
	}
	return r
}

// The picture holds together whatever services are called and however many attempts there are.
func TestRunPictures(t *testing.T) {
	long := strings.Repeat("ü", 300)
	for name, plan := range map[string]string{
		"odd names": `{version: 1, services: {a: {calls: [{call: "<&\"'\u0007\u202e>", timeout: 1s}, {call: "` + long + `", timeout: 2s}]}}}`,
		"no limit":  `{version: 1, services: {a: {calls: [{call: b, timeout: none}]}}}`,
		"nothing":   `{version: 1, entrypoints: {in: {call: a, timeout: 0.000000001s, overhead: 1s}}, services: {a: {calls: [b]}}}`,
		"many":      `{version: 1, services: {a: {calls: [{call: b, per_try_timeout: 1s, retries: 60, fan_out: 30}]}}}`,
		"too many":  `{version: 1, services: {a: {calls: [{call: b, per_try_timeout: 1s, retries: 600, fan_out: 3000}]}}}`,
	} {
		for _, service := range []string{"a", "b", long} {
			r := played(t, plan, service)
			var svg, again, text bytes.Buffer
			if err := errors.Join(diagram.RunSVG(&svg, []*render.Run{r, r}), diagram.RunSVG(&again, []*render.Run{r, r}), diagram.RunText(&text, r)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(svg.Bytes(), again.Bytes()) {
				t.Errorf("%s: two pictures of one run differ", name)
			}
			decoder := xml.NewDecoder(&again)
			for {
				_, err := decoder.Token()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			for line := range strings.Lines(text.String()) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 && !strings.Contains(line, "`") {
					t.Errorf("%s: a line of %d columns: %s", name, n, line)
				}
			}
			if name == "too many" && service == "b" && !strings.Contains(text.String(), "more than 100000 invocations are not drawn") {
				t.Errorf("%s: %s", name, text.String())
			}
		}
	}
}

// The marks of the text stand where the numbers say: the caller gives up after 2 of 5 s, the answer is there then.
func TestRunText(t *testing.T) {
	r := played(t, `{version: 1, entrypoints: {in: {call: gateway, slo: 1s}}, services: {
		gateway: {calls: [{call: service, timeout: 2s}]}, service: {server_timeout: 5s}}}`, "service")
	var out bytes.Buffer
	if err := diagram.RunText(&out, r); err != nil {
		t.Fatal(err)
	}
	want := "service [===========================x//////////////////////////////////////////"
	if !strings.Contains(out.String(), want+"\n") {
		t.Errorf("no line\n%s\nin\n%s", want, out.String())
	}
	if !strings.Contains(out.String(), "gateway [==========================]!") {
		t.Errorf("no answer where the gateway ends:\n%s", out.String())
	}
}
