package rules

import (
	"fmt"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
	"github.com/budgetplan/budgetplan/solver"
)

// SlowConnect is raised for a call whose time to connect leaves too little of its timeout.
var SlowConnect = &diag.Code{
	ID: "BP110", Name: "slow-connect", Severity: diag.Warning,
	Summary: "connect time makes the attempts of a call overrun, or an unreachable host uses up its timeout",
}

var slowConnect = &Rule{
	Code: SlowConnect,
	Leg:  (*Pass).connects,
	Default: func(d *diag.Default, n int) string {
		verb := "have"
		if n == 1 {
			verb = "has"
		}
		return fmt.Sprintf("`%s` waits %s for a connection by itself, more than %s %s time for", d.Platform, d.Value, counted(int64(n), "call"), verb)
	},
}

// connects compares what a call takes with connect time in it, and what connecting to a host that never answers takes,
// with its timeout. Attempts that overrun without any connect time are BP102's. An unset connect timeout adds nothing.
func (p *Pass) connects(l solver.LegID) {
	leg, t, c, w := p.call(l)
	if c.Stream().Or(false) || t.Rounds == 0 || leg.Connect == 0 || !leg.Timeout.Finite() {
		return
	}
	id := p.Graph.LegName(l)
	one := min(t.Patience, t.CalleeBusy.Add(leg.Network))
	needs := p.withoutConnect(l, one)
	n, try := p.connections(l), min(leg.Connect, t.Limit)
	sum := try.Mul(n).Add(p.backoffBefore(l, n))
	spent := min(sum.Sub(try), leg.Window).Add(try)
	f := SlowConnect.New(id, diag.Span{}, "")
	switch {
	case spent >= leg.Timeout:
		f.Message = fmt.Sprintf("an unreachable host uses up the %s of `%s`: its connect timeout is %s", leg.Timeout, id, leg.Connect)
		if !leg.Connect.Finite() {
			f.Message = fmt.Sprintf("an unreachable host uses up the %s of `%s`: its connect timeout is `none`", leg.Timeout, id)
		}
		if n > 1 && leg.Connect < leg.Timeout && sum == spent {
			f.Message = fmt.Sprintf("an unreachable host uses up the %s of `%s`: %s to connect%s = %s", leg.Timeout, id,
				times(n, "attempt", try), backoffText(p.backoffBefore(l, n)), spent)
		}
	case leg.Attempts > 1 && !endless(leg.Attempts) && t.Uncut >= leg.Timeout && needs < leg.Timeout:
		f.Message = fmt.Sprintf("with %s to connect before each, the %s of `%s` need %s, its timeout is %s",
			leg.Connect, attemptsText(leg.Attempts), id, t.Uncut, leg.Timeout)
		f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("once connected they need %s", needs), At: perTry(w).From})
	default:
		return
	}
	f.Cause, f.Touched = w.Connect.From, p.Sol.Nodes[leg.From].Touched
	if !w.Connect.Written() {
		f.Severity = diag.Info
	}
	f.Notes = append(f.Notes, diag.Note{Text: fmt.Sprintf("the timeout of `%s` is %s", id, leg.Timeout), At: w.Timeout.From})
	p.connectFixes(&f, l, needs)
	f.Notes = append(f.Notes, p.sharedNotes(f.Fixes)...)
	p.Report(f, ref{code: AttemptsDoNotFit, subject: id})
}

// withoutConnect is what the attempts of a round need once they are connected, each of which takes one.
func (p *Pass) withoutConnect(l solver.LegID, one model.Duration) model.Duration {
	leg, t, _, _ := p.call(l)
	switch {
	case t.Rounds <= 1 || endless(leg.Attempts):
		return one
	case leg.RetryOn.Late() || leg.RetryOn.Timeout() && t.CalleeBusy.Add(leg.Network) >= t.Patience:
		return p.allAttempts(l, one)
	}
	return one.Add(t.BackoffSum)
}

// connections is how many attempts in a row an unreachable host can cost. Attempts without end are meant to be ended by
// their timeout.
func (p *Pass) connections(l solver.LegID) int64 {
	leg, _, _, _ := p.call(l)
	if leg.RetryOn&model.OnConnect == 0 || endless(leg.Attempts) {
		return 1
	}
	return leg.Attempts
}

func (p *Pass) backoffBefore(l solver.LegID, attempts int64) model.Duration {
	if attempts <= 1 {
		return 0
	}
	return p.Sol.Legs[l].BackoffSum
}

// connectFixes adds the changes after which both an unreachable host and attempts that all connect slowly end before the
// timeout. Where the call needs a known time, connecting leaves it that.
func (p *Pass) connectFixes(f *diag.Finding, l solver.LegID, needs model.Duration) {
	leg, t, _, w := p.call(l)
	within := leg.Timeout.Sub(1)
	reserve := needs
	if reserve >= leg.Timeout {
		reserve = p.backoffBefore(l, p.connections(l))
		if t.One.Known == solver.Complete && reserve.Add(t.One.V) < leg.Timeout {
			reserve = reserve.Add(t.One.V)
		}
	}
	n := max(p.connections(l), min(t.Rounds, leg.Attempts))
	if endless(n) {
		n = 1
	}
	var ways []string
	if q := floor(within.Sub(reserve).Div(n)); q > 0 {
		f.Fixes = append(f.Fixes, p.limitFix(l, "connect_timeout", w.Connect, "most", q))
		ways = append(ways, fmt.Sprintf("a connect timeout of %s or less", q))
	}
	free := t.Uncut
	if t.Attempt >= leg.Timeout || t.Retried >= leg.Timeout || endless(leg.Attempts) {
		free = model.NoLimit // what an attempt takes grows with the timeout
	}
	if free.Finite() {
		least := ceil(max(free, leg.Connect.Mul(n).Add(p.backoffBefore(l, n))).Add(1))
		f.Fixes = append(f.Fixes, p.limitFix(l, "timeout", w.Timeout, "least", least))
		ways = append(ways, fmt.Sprintf("a timeout of %s or more", least))
	}
	if k := p.mostAttempts(l, within); k > 0 && k < leg.Attempts && !endless(leg.Attempts) {
		f.Fixes = append(f.Fixes, p.retriesFix(l, k))
		ways = append(ways, retriesText(k))
	}
	f.Help = fmt.Sprintf("give `%s` %s", p.Graph.LegName(l), either(ways))
	if len(ways) == 0 {
		f.Help = fmt.Sprintf("give `%s` a connect timeout well below its timeout, and a longer timeout", p.Graph.LegName(l))
	}
}
