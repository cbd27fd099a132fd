package merge

import (
	"slices"
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// oneCall makes a fragment of a single call.
func oneCall(file string, structure bool, w model.Waiter) *model.Fragment {
	f := &model.Fragment{File: file, Structure: structure}
	at := diag.Span{File: file, Line: 1, Col: 1}
	from, to := f.Service("front", at), f.Service("back", at)
	f.Services[from].Declared = structure
	f.Calls = []model.Call{{From: from, To: to, At: at, Waiters: []model.Waiter{w}}}
	f.Services[from].Flow = model.Flow{Kind: model.One}
	return f
}

// TestFront: the proxy beside a service is the last waiter of every call to it, once.
func TestFront(t *testing.T) {
	t.Parallel()
	at := diag.Span{File: "dump.json", Line: 7}
	dump := &model.Fragment{File: "dump.json"}
	back := dump.Service("back", at)
	dump.Services[back].Edit().Front = []model.Waiter{{Name: "inbound", At: at, Timeout: model.At(15*model.Second, at)}}
	plan, found := Plan([]*model.Fragment{oneCall("plan.yaml", true, model.Waiter{}), dump, {File: "again.json", Services: dump.Services}})
	if len(found) > 0 || len(plan.Calls) != 1 {
		t.Fatalf("%d calls, findings %v", len(plan.Calls), found)
	}
	w := plan.Calls[0].Waiters
	if len(w) != 2 || w[1].Name != "inbound" || w[1].Timeout.V != 15*model.Second {
		t.Errorf("waiters %+v", w)
	}
}

// TestNoLimitBesideLimit: a platform that sets no limit by itself says nothing against one that somebody wrote.
func TestNoLimitBesideLimit(t *testing.T) {
	t.Parallel()
	at := diag.Span{File: "config.json", Line: 3}
	none := model.Val[model.Duration]{V: model.NoLimit, From: (&diag.Default{Platform: "grpc"}).For(at)}
	written := model.At(2*model.Second, diag.Span{File: "plan.yaml", Line: 4})
	config := oneCall("config.json", false, model.Waiter{Timeout: none})
	plan, found := Plan([]*model.Fragment{oneCall("plan.yaml", true, model.Waiter{Timeout: written}), config})
	if got := plan.Calls[0].Waiters[0].Timeout; got != written || len(found) > 0 {
		t.Errorf("the timeout is %s, findings %v", got.V, found)
	}
	// One that somebody wrote is a contradiction.
	config = oneCall("config.json", false, model.Waiter{Timeout: model.At(model.NoLimit, at)})
	plan, found = Plan([]*model.Fragment{oneCall("plan.yaml", true, model.Waiter{Timeout: written}), config})
	if got := plan.Calls[0].Waiters[0].Timeout; got.V.Finite() || len(found) != 1 {
		t.Errorf("the timeout is %s, findings %v", got.V, found)
	}
}

// TestTwoCounts: two plan files that retry differently are told in the key that both wrote, else in attempts.
func TestTwoCounts(t *testing.T) {
	t.Parallel()
	count := func(file, key string, attempts int32) *model.Fragment {
		return oneCall(file, true, model.Waiter{Attempts: model.At(attempts, diag.Span{File: file, Line: 3, Col: 1}), RetriesKey: key})
	}
	for _, c := range []struct{ first, second, want string }{
		{"retries", "retries", "`retries` of `front/back` is 2 here, but 5 in `a.yaml`, which is used"},
		{"attempts", "attempts", "`attempts` of `front/back` is 3 here, but 6 in `a.yaml`, which is used"},
		{"retries", "attempts", "`attempts` of `front/back` is 3 here, but 6 in `a.yaml`, which is used"},
	} {
		plan, found := Plan([]*model.Fragment{count("a.yaml", c.first, 6), count("b.yaml", c.second, 3)})
		var said []string
		for _, f := range found {
			said = append(said, f.Message)
		}
		if !slices.Contains(said, c.want) {
			t.Errorf("%s and %s: %q, want %q", c.first, c.second, said, c.want)
		}
		if w := plan.Calls[0].Waiters[0]; w.Attempts.V != 6 || w.RetriesKey != c.first {
			t.Errorf("%s and %s: %d, spelt %s", c.first, c.second, w.Attempts.V, w.RetriesKey)
		}
	}
}
