package solver_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/solver"
)

// runOf plays a request at the first root while a service has the fate given.
func runOf(t *testing.T, b *builder, service string, sc solver.Scenario) (*solver.Run, error) {
	t.Helper()
	g, findings := solver.Compile(&b.Plan)
	if len(findings) > 0 {
		t.Fatal(findings[0].Message)
	}
	sc.Service = solver.NodeID(b.ids[service])
	return g.Run(&g.Roots[0], sc)
}

// deep is a chain of services that each give the next one attempts of 2 s.
func deep(services int, attempts int32) *builder {
	b := plan()
	for i := range services {
		b.call(strconv.Itoa(i), strconv.Itoa(i+1), func(_ *model.Call, w *model.Waiter) {
			w.PerTry, w.Attempts = val(2*s), val(attempts)
		})
	}
	return b
}

// A chain of a thousand services that all retry has more attempts than atoms, and is computed all the same.
func TestRunOfDeepChain(t *testing.T) {
	run, err := runOf(t, deep(1000, 3), "1000", solver.Scenario{Takes: model.NoLimit})
	if err != nil {
		t.Fatal(err)
	}
	last := run.Services[len(run.Services)-1]
	if run.Answer != 6*s || run.Answered || last.Starts != solver.MaxCount || run.Invocations != nil {
		t.Errorf("answer %v, %d starts of the last, %d invocations listed", run.Answer, last.Starts, len(run.Invocations))
	}
	run, err = runOf(t, deep(1000, 3), "1000", solver.Scenario{Takes: model.NoLimit, Enforced: true})
	if err != nil {
		t.Fatal(err)
	}
	if last = run.Services[1000]; last.Starts != 3 || last.Work != 6*s || last.Orphan != 0 || last.Overlap != 1 || run.Ends != 6*s {
		t.Errorf("enforced: %+v, the last work ends at %v", last, run.Ends)
	}
}

// What is too large says so, and where.
func TestRunTooLarge(t *testing.T) {
	b := plan()
	id := b.call("a", "b", func(_ *model.Call, w *model.Waiter) {
		w.PerTry, w.Attempts = val(1*ms), val(model.Unlimited)
	})
	_, err := runOf(t, b, "b", solver.Scenario{Takes: model.NoLimit})
	if large := (*solver.TooLarge)(nil); !errors.As(err, &large) || int(large.Leg) != int(id) || large.Depth {
		t.Errorf("attempts without end: %v", err)
	}
	_, err = runOf(t, deep(30_000, 1), "30000", solver.Scenario{Takes: model.NoLimit})
	if large := (*solver.TooLarge)(nil); !errors.As(err, &large) || !large.Depth {
		t.Errorf("a chain of 30,000: %v", err)
	}
}

// A client that nobody limits waits for good; the word says whether anybody decided that.
func TestRunWithoutEnd(t *testing.T) {
	for _, c := range []struct {
		timeout model.Val[model.Duration]
		want    model.Duration
	}{{model.Val[model.Duration]{}, model.Unknown}, {val(model.NoLimit), model.NoLimit}} {
		b := plan()
		b.entry("a", s).Timeout = val(model.NoLimit)
		b.call("a", "b", func(_ *model.Call, w *model.Waiter) { w.Timeout = c.timeout })
		run, err := runOf(t, b, "b", solver.Scenario{Takes: model.NoLimit})
		if err != nil {
			t.Fatal(err)
		}
		if run.Answer != c.want || run.Answered {
			t.Errorf("timeout %v: answer %v %t, want %v", c.timeout.V, run.Answer, run.Answered, c.want)
		}
	}
}

// What runs in the background outlives its caller, who does not leave it: only its own waiter does.
func TestRunInBackground(t *testing.T) {
	b := plan()
	b.entry("a", s).Timeout = val(1 * s)
	b.call("a", "mail", func(c *model.Call, w *model.Waiter) { c.Async, w.Timeout = val(true), val(4*s) })
	run, err := runOf(t, b, "mail", solver.Scenario{Takes: 10 * s})
	if err != nil {
		t.Fatal(err)
	}
	mail := run.Services[1]
	if run.Answer != 0 || !run.Answered || run.Ends != 10*s || mail.Orphan != 6*s || mail.Waited != 4*s {
		t.Errorf("answer %v, ends %v, mail %+v", run.Answer, run.Ends, mail)
	}
}

// The first good answer of a hedge ends the attempt; the other copy stops where a cancellation reaches it.
func TestRunOfHedge(t *testing.T) {
	for _, c := range []struct {
		told      model.Propagation
		ends, run model.Duration
		ok        bool // of the other copy
	}{{0, 1100 * ms, 100 * ms, true}, {model.Deadline, 1100 * ms, 100 * ms, true}, {model.Deadline | model.Cancel, 1000 * ms, 0, false}} {
		b := plan()
		b.entry("a", s)
		b.call("a", "b", func(_ *model.Call, w *model.Waiter) {
			w.Timeout, w.Propagates = val(5*s), val(c.told)
			w.Edit().Hedge.After = val(100 * ms)
		})
		b.service("b").Honors = val(model.Deadline | model.Cancel)
		run, err := runOf(t, b, "b", solver.Scenario{Takes: 1 * s})
		if err != nil {
			t.Fatal(err)
		}
		if v := run.Services[1]; run.Answer != 1*s || !run.Answered || run.Ends != c.ends || v.Starts != 2 || v.Orphan != c.run || v.Overlap != 2 {
			t.Errorf("%v: answer %v, ends %v, %+v", c.told, run.Answer, run.Ends, v)
		}
		if copies := run.Invocations[1:]; !copies[0].OK || copies[1].OK != c.ok {
			t.Errorf("%v: the copies answered well: %t and %t, want true and %t", c.told, copies[0].OK, copies[1].OK, c.ok)
		}
	}
}

// What is retried decides: an error that is not, and a timeout that is.
func TestRunRetries(t *testing.T) {
	for _, c := range []struct {
		on     model.FailureKind
		sc     solver.Scenario
		starts int64
		answer model.Duration
	}{
		{model.OnTimeout, solver.Scenario{Takes: model.NoLimit}, 3, 6*s + 300*ms},
		{model.OnTimeout, solver.Scenario{Takes: 1 * s, Fails: true}, 1, 1 * s},
		{model.OnError, solver.Scenario{Takes: 1 * s, Fails: true}, 3, 3*s + 300*ms},
		{model.OnError, solver.Scenario{Takes: model.NoLimit}, 1, 2 * s},
		{model.OnError, solver.Scenario{Fails: true}, 3, 300 * ms},
		{model.OnConnect, solver.Scenario{Fails: true}, 1, 0},                 // the error is an answer
		{model.OnTimeout, solver.Scenario{Takes: 2 * s}, 1, 2 * s},            // an answer at the very end counts
		{model.OnError, solver.Scenario{Takes: 2 * s, Fails: true}, 1, 2 * s}, // an error then is a timeout
	} {
		b := plan()
		b.entry("a", s)
		b.call("a", "b", func(_ *model.Call, w *model.Waiter) {
			w.PerTry, w.Attempts, w.Edit().RetryOn = val(2*s), val(int32(3)), val(model.Failures{Kinds: c.on})
			w.Backoff = &model.Backoff{Waits: val([]model.Duration{100 * ms, 200 * ms})}
		})
		run, err := runOf(t, b, "b", c.sc)
		if err != nil {
			t.Fatal(err)
		}
		if run.Services[1].Starts != c.starts || run.Answer != c.answer {
			t.Errorf("%+v: %d starts, answer %v, want %d, %v", c, run.Services[1].Starts, run.Answer, c.starts, c.answer)
		}
	}
}

// Where an answer comes, good or bad, at the moment when the next copy is due, that copy is not sent.
func TestRunSendsNoCopyTooLate(t *testing.T) {
	for _, fails := range []bool{false, true} {
		b := plan()
		b.entry("a", s)
		b.call("a", "b", func(_ *model.Call, w *model.Waiter) {
			w.Timeout = val(5 * s)
			w.Edit().Hedge = model.Hedge{After: val(100 * ms), Attempts: val(int32(3))}
		})
		run, err := runOf(t, b, "b", solver.Scenario{Takes: 100 * ms, Fails: fails})
		if err != nil {
			t.Fatal(err)
		}
		if run.Services[1].Starts != 1 || run.Answer != 100*ms || run.Answered == fails {
			t.Errorf("fails %t: %+v, answer %v %t", fails, run.Services[1], run.Answer, run.Answered)
		}
	}
}
