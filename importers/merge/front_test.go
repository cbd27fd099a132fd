package merge

import (
	"testing"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

// one makes a fragment of a single call.
func oneCall(file string, structure bool, w model.Waiter) *model.Fragment {
	f := &model.Fragment{File: file, Structure: structure}
	at := diag.Span{File: file, Line: 1, Col: 1}
	from, to := f.Service("front", at), f.Service("back", at)
	f.Services[from].Declared = structure
	f.Calls = []model.Call{{From: from, To: to, At: at, Waiters: []model.Waiter{w}}}
	f.Services[from].Flow = model.Flow{Kind: model.One, At: at}
	return f
}

// TestFront: the proxy beside a service is the last waiter of every call to it, once.
func TestFront(t *testing.T) {
	t.Parallel()
	at := diag.Span{File: "dump.json", Line: 7}
	dump := &model.Fragment{File: "dump.json"}
	back := dump.Service("back", at)
	dump.Services[back].Front = []model.Waiter{{Name: "inbound", At: at, Timeout: model.At(15*model.Second, at)}}
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
	none := model.Val[model.Duration]{V: model.NoLimit, From: &diag.Origin{Span: at, Default: &diag.Default{Platform: "grpc"}}}
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
