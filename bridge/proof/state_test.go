package proof

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestVotes checks that a vote counts only on its own interaction, and with a
// proof.
func TestVotes(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	i.Quorum = 2
	prove(t, p, &i)
	v := bridge.Vote{Actor: *resp.Actor, State: bridge.StateApproved, Scope: bridge.ScopeOnce, At: resp.At, Content: i.Content}
	if p.AcceptsVote(i.ID, v) {
		t.Error("a vote without a proof")
	}
	p.ProveVote(i.ID, &v)
	fresh := NewProver(signerOf(t, 1))
	for n := range 2 { // the second time, the vote is cached
		if !fresh.AcceptsVote(i.ID, v) || fresh.AcceptsVote(evidenceID, v) {
			t.Errorf("check %d of the vote", n)
		}
	}
	w := v
	w.Actor = bridge.Actor{Platform: "slack", User: "U2", Person: "bo"}
	p.ProveVote(i.ID, &w)
	for what, c := range map[string]struct {
		scope bridge.Scope
		votes []bridge.Vote
		good  bool
	}{
		"as it was voted":  {bridge.ScopeOnce, []bridge.Vote{v, w}, true},
		"wider than voted": {bridge.ScopeSession, []bridge.Vote{v, w}, false},
		"voted twice":      {bridge.ScopeOnce, []bridge.Vote{v, v}, false},
		"voted by one":     {bridge.ScopeOnce, []bridge.Vote{v}, false},
	} {
		resp.Scope = c.scope
		if err := p.ProveResponse(i, &resp, c.votes); err != nil {
			t.Fatal(err)
		}
		got := p.Checked(bridge.Record{Interaction: i, State: resp.State, Response: &resp, Votes: c.votes})
		if (got.Unverified == "") != c.good || (got.State == bridge.StateApproved) != c.good {
			t.Errorf("%s: %s, %q", what, got.State, got.Unverified)
		}
	}
}

// TestUnprovenRecords checks that records are not accepted without a proof or
// with an invalid one.
func TestUnprovenRecords(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	bare := i
	prove(t, p, &i)
	if err := p.ProveResponse(i, &resp, nil); err != nil {
		t.Fatal(err)
	}
	unsigned, other := resp, resp
	unsigned.Proof, other.Reason = "", "other"
	expired := bridge.Response{State: bridge.StateExpired}
	for what, c := range map[string]struct {
		rec  bridge.Record
		good bool
	}{
		"as it was stored":    {bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &resp}, true},
		"no proof":            {bridge.Record{Interaction: bare, State: bridge.StatePending}, false},
		"no receipt":          {bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &unsigned}, false},
		"another reason":      {bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &other}, false},
		"no response":         {bridge.Record{Interaction: i, State: bridge.StateApproved}, false},
		"pending and decided": {bridge.Record{Interaction: i, State: bridge.StatePending, Response: &resp}, false},
		"expired":             {bridge.Record{Interaction: i, State: bridge.StateExpired, Response: &expired}, true},
	} {
		if why := p.Marked(c.rec).Unverified; (why == "") != c.good {
			t.Errorf("%s: %q", what, why)
		}
	}
	if p.InteractionProblem(i) != "" || p.InteractionProblem(bare) == "" {
		t.Error("the problem of an interaction")
	}
	if r := (*Prover)(nil).Marked(bridge.Record{Interaction: bare, State: bridge.StatePending}); r.Unverified != "" {
		t.Errorf("without a signer: %s", r.Unverified)
	}
}
