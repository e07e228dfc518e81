package bridge_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestStepUp checks that joined requirements satisfy each of them, and which
// assurances they accept.
func TestStepUp(t *testing.T) {
	t.Parallel()
	all := &bridge.StepUp{Method: bridge.AssurancePasskey}
	one := &bridge.StepUp{Method: bridge.AssurancePasskey, Approvals: 1}
	two := &bridge.StepUp{Method: bridge.AssurancePasskey, Approvals: 2, Fallback: bridge.AssuranceTOTP}
	weak := &bridge.StepUp{Method: bridge.AssurancePasskey, Fallback: bridge.AssuranceTOTP}
	for _, c := range []struct{ a, b, want *bridge.StepUp }{
		{nil, nil, nil}, {nil, one, one}, {one, nil, one}, {all, one, all}, {one, all, all},
		{one, two, &bridge.StepUp{Method: bridge.AssurancePasskey, Approvals: 2}}, {weak, all, all}, {weak, weak, weak},
		{two, weak, weak},
	} {
		got := c.a.Join(c.b)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v and %+v: %+v, want %+v", c.a, c.b, got, c.want)
		}
		if got.Stricter(got) || c.a.Stricter(got) || c.b.Stricter(got) {
			t.Errorf("%+v is not as strict as its parts", got)
		}
	}
	if !all.Stricter(weak) || !all.Stricter(nil) || all.Stricter(all) || one.Stricter(all) {
		t.Error("stricter")
	}
	for s, want := range map[*bridge.StepUp][3]bool{
		nil: {true, true, true}, all: {false, true, false}, weak: {false, true, true},
	} {
		got := [3]bool{s.Accepts(""), s.Accepts(bridge.AssurancePasskey), s.Accepts(bridge.AssuranceTOTP)}
		if got != want {
			t.Errorf("%+v accepts %v", s, got)
		}
	}
}

// TestRequireProof checks that the quorum has room for every approval that needs
// a proof, and that a record without them lacks something.
func TestRequireProof(t *testing.T) {
	t.Parallel()
	var i bridge.Interaction
	i.RequireProof(&bridge.StepUp{Method: bridge.AssurancePasskey, Approvals: 2})
	if i.Quorum != 2 || !i.Counted() {
		t.Errorf("%+v", i.Placement)
	}
	vote := func(who string, a bridge.Assurance) bridge.Vote {
		return bridge.Vote{
			Actor: bridge.Actor{Platform: "chat", User: who, Person: who}, State: bridge.StateApproved, Assurance: a,
		}
	}
	r := bridge.Record{Interaction: i, Votes: []bridge.Vote{vote("ana", ""), vote("bo", bridge.AssurancePasskey)}}
	if r.Enough(bridge.StateApproved) || r.Missing() != "1 with a passkey" {
		t.Errorf("missing %q", r.Missing())
	}
	r.Interaction.StepUp = &bridge.StepUp{Method: bridge.AssurancePasskey}
	r.Votes = append(r.Votes, vote("cy", bridge.AssurancePasskey))
	if r.Enough(bridge.StateApproved) {
		t.Error("an approval without a proof counts although all of them need one")
	}
}
