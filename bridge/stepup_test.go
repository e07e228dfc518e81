package bridge_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestRequireProof checks that an approval without the required proof does not
// count, alone or in a quorum.
func TestRequireProof(t *testing.T) {
	t.Parallel()
	var i bridge.Interaction
	yes, ana := bridge.StateApproved, &bridge.Actor{Person: "ana"}
	for name, x := range map[string]struct {
		resp bridge.Response
		lax  bool // accepted although the request requires a proof
	}{
		"a click":    {bridge.Response{State: yes, Actor: ana}, false},
		"a passkey":  {bridge.Response{State: yes, Actor: ana, Assurance: bridge.AssurancePasskey}, true},
		"a denial":   {bridge.Response{State: bridge.StateDenied, Actor: ana}, true},
		"a grant":    {bridge.Response{State: yes, Actor: ana, Grant: "x"}, true},
		"a rule":     {bridge.Response{State: yes, Rule: "x"}, true},
		"a liar":     {bridge.Response{State: yes, Actor: ana, Rule: "x"}, false},
		"no one yet": {bridge.Response{State: yes}, false},
	} {
		i.StepUp = ""
		if i.Unassured(x.resp) {
			t.Errorf("%s needs a proof that the request does not require", name)
		}
		i.StepUp = bridge.AssurancePasskey
		if r := (bridge.Record{Interaction: i, State: bridge.StatePending}); r.Unproven(x.resp) == x.lax {
			t.Errorf("%s: accepted is %t, want %t", name, !x.lax, x.lax)
		}
	}
	i.Quorum = 2
	click, signed := vote("ana", yes), vote("bo", yes)
	signed.Assurance = bridge.AssurancePasskey
	r := bridge.Record{Interaction: i, Votes: []bridge.Vote{click, signed}}
	if r.Enough(yes) || r.Missing() != "1 more with a passkey" {
		t.Errorf("missing %q", r.Missing())
	}
	more := vote("cy", yes)
	more.Assurance = bridge.AssurancePasskey
	if r.Votes = append(r.Votes, more); !r.Enough(yes) {
		t.Errorf("two signed approvals are not enough: missing %q", r.Missing())
	}
}
