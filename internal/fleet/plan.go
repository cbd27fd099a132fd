package fleet

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// SLO is the target of every entrypoint.
const SLO = 30 * model.Second

// Plan gives the fleet as merge would, every value with a place of its own.
func (f *Fleet) Plan() *model.Plan {
	p := &model.Plan{Services: make([]model.Service, len(f.Services)), Calls: make([]model.Call, len(f.Calls))}
	for i := range Entrypoints {
		p.Entrypoints = append(p.Entrypoints, model.Entrypoint{
			Name: "in" + strconv.Itoa(i), Call: model.ServiceID(i), SLO: at(SLO, i), Timeout: at(2*SLO, i),
		})
	}
	for i := range f.Services {
		p.Services[i] = f.service(i)
	}
	for i := range f.Calls {
		p.Calls[i] = f.call(i)
	}
	return p
}

// at makes a written value; every one has a line of its own.
func at[T any](v T, line int) model.Val[T] {
	return model.At(v, diag.Span{File: "fleet.yaml", Line: int32(line) + 1, Col: 1})
}

// ms is a time that is unset where 0.
func ms(n int32, line int) model.Val[model.Duration] {
	if n == 0 {
		return model.Val[model.Duration]{}
	}
	return at(model.Duration(n)*model.Millisecond, line)
}

func (f *Fleet) service(i int) model.Service {
	s := &f.Services[i]
	out := model.Service{Name: name(int32(i)), Declared: true, Before: ms(s.Local, i), ServerTimeout: ms(s.Server, i)}
	if i%3 == 0 {
		out.Honors = at(model.Deadline, i)
	}
	calls := make([]model.Flow, len(s.Calls))
	for k, c := range s.Calls {
		calls[k] = model.Flow{Kind: model.One, Call: model.CallID(c)}
	}
	out.Flow = model.Flow{Of: calls}
	if s.Groups() != model.Sequence {
		out.Flow = model.Flow{Of: []model.Flow{{Kind: s.Groups(), Of: calls}}}
	}
	return out
}

func (f *Fleet) call(i int) model.Call {
	c := &f.Calls[i]
	w := model.Waiter{Timeout: ms(c.Timeout, i), PerTry: ms(c.PerTry, i)}
	if c.Retries > 0 {
		w.Attempts = at(c.Retries+1, i)
		w.Backoff = &model.Backoff{Base: at(25*model.Millisecond, i), Max: at(250*model.Millisecond, i), Jitter: at(model.Jitter{Kind: model.JitterFull}, i)}
	}
	if c.Deadlines {
		w.Propagates = at(model.Deadline, i)
	}
	out := model.Call{
		ID: name(c.From) + "/" + name(c.To) + "#" + strconv.Itoa(i), From: model.ServiceID(c.From), To: model.ServiceID(c.To), Waiters: []model.Waiter{w},
	}
	if c.Optional {
		out.Optional = at(true, i)
	}
	if c.Async {
		out.Async = at(true, i)
	}
	if c.P99 > 0 {
		out.Latency = &model.Latency{Points: []model.Point{{P: 500_000, V: ms(c.P50, i)}, {P: 990_000, V: ms(c.P99, i)}}}
	}
	return out
}

func name(i int32) string { return "service-" + strconv.Itoa(int(i)) }

// YAML gives the fleet as a plan file.
func (f *Fleet) YAML() []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nentrypoints:\n")
	for i := range Entrypoints {
		fmt.Fprintf(&b, "  in%d: {slo: %s, timeout: %s, call: %s}\n", i, SLO, 2*SLO, name(int32(i)))
	}
	b.WriteString("services:\n")
	for i := range f.Services {
		s := &f.Services[i]
		fmt.Fprintf(&b, "  %s:\n    local_work: %dms\n", name(int32(i)), s.Local)
		if s.Server > 0 {
			fmt.Fprintf(&b, "    server_timeout: %dms\n", s.Server)
		}
		if i%3 == 0 {
			b.WriteString("    honors: deadline\n")
		}
		indent := "      "
		switch {
		case len(s.Calls) == 0:
		case s.Groups() == model.Sequence:
			b.WriteString("    calls:\n")
		default:
			fmt.Fprintf(&b, "    calls:\n      - %s:\n", s.Groups())
			indent = "          "
		}
		for _, c := range s.Calls {
			f.Calls[c].write(&b, indent)
		}
	}
	return b.Bytes()
}

func (c *Call) write(b *bytes.Buffer, indent string) {
	fmt.Fprintf(b, "%s- call: %s\n", indent, name(c.To))
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+"  "+format+"\n", args...) }
	if c.Timeout > 0 {
		line("timeout: %dms", c.Timeout)
	}
	if c.PerTry > 0 {
		line("per_try_timeout: %dms", c.PerTry)
	}
	if c.Retries > 0 {
		line("retries: %d", c.Retries)
		line("backoff: {base: 25ms, max: 250ms, jitter: full}")
	}
	if c.P99 > 0 {
		line("latency: {p50: %dms, p99: %dms}", c.P50, c.P99)
	}
	if c.Deadlines {
		line("propagates: deadline")
	}
	if c.Optional {
		line("optional: true")
	}
	if c.Async {
		line("async: true")
	}
}
