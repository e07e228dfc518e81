package engine_test

import (
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

// TestQuorumProof checks that a quorum is not reached before the required
// number of approvals has a proof, and that others may approve with a click.
func TestQuorumProof(t *testing.T) {
	t.Parallel()
	b := newBureau(t, &bridge.StepUp{Method: bridge.AssurancePasskey, Approvals: 1}, func(s *setup) {
		r := s.routes["default"]
		r.Quorum = 2
		s.routes["default"] = r
	})
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	if v := b.press("di", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	secret := b.asked("ana", id, bridge.DecideOnce)
	if got := b.get(id); len(got.Votes) != 1 || got.Missing() != "1 more with a passkey" {
		t.Errorf("%d votes, missing %q", len(got.Votes), got.Missing())
	}
	if _, err := b.engine.Sign(t.Context(), secret, b.signature("ana", secret)); err != nil {
		t.Fatal(err)
	}
	rec, err := b.engine.Get(t.Context(), id)
	if err != nil || rec.State != bridge.StateApproved || len(rec.Votes) != 2 {
		t.Fatalf("%s %v %+v", rec.State, err, rec.Votes)
	}
	if v := rec.Votes[1]; v.Assurance != bridge.AssurancePasskey || v.Assertion == nil || rec.Votes[0].Assurance != "" {
		t.Errorf("%+v", rec.Votes)
	}
	keys := b.signer.PublicKeys()
	if _, err := keys.VerifyRecord(rec); err != nil {
		t.Error(err)
	}
}

// TestQuorumUpgrade checks that a person who approved with a click can add the
// proof.
func TestQuorumUpgrade(t *testing.T) {
	t.Parallel()
	b := newBureau(t, &bridge.StepUp{Method: bridge.AssurancePasskey, Approvals: 1}, func(s *setup) {
		r := s.routes["default"]
		r.Quorum, r.Must = 2, []string{"di"}
		s.routes["default"] = r
	})
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	if v := b.press("ana", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	if v := b.press("di", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictForbidden {
		t.Fatalf("di has no passkey: %+v", v)
	}
	secret := b.asked("ana", id, bridge.DecideOnce)
	if _, err := b.engine.Sign(t.Context(), secret, b.signature("ana", secret)); err != nil {
		t.Fatal(err)
	}
	if got := b.get(id); len(got.Votes) != 1 || got.Votes[0].Assurance != bridge.AssurancePasskey {
		t.Fatalf("%+v", got.Votes)
	}
	if v := b.press("di", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	b.state(id, bridge.StateApproved)
}

// TestCode checks that a one-time code approves only where it is allowed, and
// that the outcome says that it is weaker.
func TestCode(t *testing.T) {
	t.Parallel()
	b := newBureau(t, &bridge.StepUp{Method: bridge.AssurancePasskey, Fallback: bridge.AssuranceTOTP})
	code := b.codes("di")
	bot := bridge.Agent{Name: "bot"}
	id := b.open(bot, shell("make deploy")).Interaction.ID
	secret := b.asked("di", id, bridge.DecideOnce)
	if s, err := b.engine.SignPage(t.Context(), secret); err != nil || !s.Code || s.Options != nil {
		t.Fatalf("%+v %v", s, err)
	}
	b.refused(id, secret, engine.Proof{Code: "x"}, bridge.CodeForbidden, "")
	if _, err := b.engine.Sign(t.Context(), secret, engine.Proof{Code: code}); err != nil {
		t.Fatal(err)
	}
	rec, _ := b.engine.Get(t.Context(), id)
	if rec.Response == nil || rec.Response.Assurance != bridge.AssuranceTOTP || rec.Response.Assertion != nil {
		t.Errorf("%+v", rec.Response)
	}
	second := b.open(bot, shell("make second")).Interaction.ID
	again := b.asked("di", second, bridge.DecideOnce)
	b.refused(second, again, engine.Proof{Code: code}, bridge.CodeForbidden, "")
}

// TestProvenGrant checks that a standing approval exists only where a rule
// allows it, and covers only if it was signed.
func TestProvenGrant(t *testing.T) {
	t.Parallel()
	ask := bridge.Ruling{Effect: bridge.EffectAsk, Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}}
	b := newBureau(t, nil, func(s *setup) { s.policy = ruledBy(ask) })
	bot := bridge.Agent{Name: "bot"}
	request := func() bridge.Request {
		r := shell("make deploy")
		r.Session, r.Approval.Decisions = "s", nil
		r.Approval.Scopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}
		return r
	}
	first := b.open(bot, request()).Interaction.ID
	if v := b.press("ana", first, "C1", bridge.DecideSession, ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	ask.StepUp = passkeyNeeded
	s := b.setup
	s.policy = ruledBy(ask)
	b.reload(s)
	second := b.open(bot, request())
	if second.State.Final() {
		t.Fatal("a grant without a proof covers a request that requires one")
	}
	secret := b.asked("ana", second.Interaction.ID, bridge.DecideSession)
	if _, err := b.engine.Sign(t.Context(), secret, b.signature("ana", secret)); err != nil {
		t.Fatal(err)
	}
	if third := b.open(bot, request()); third.State != bridge.StateApproved || third.Response.Grant != second.Interaction.ID {
		t.Errorf("%s %+v", third.State, third.Response)
	}
	ask.Scopes = nil
	s.policy = ruledBy(ask)
	b.reload(s)
	fourth := b.open(bot, request())
	if fourth.State.Final() || slices.Contains(fourth.Interaction.Decisions(), bridge.DecideSession) {
		t.Errorf("%s %v", fourth.State, fourth.Interaction.Decisions())
	}
}
