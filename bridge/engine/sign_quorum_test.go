package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
)

// inPairs requires two approvals.
func inPairs(s *setup) {
	r := s.routes["default"]
	r.Quorum = 2
	s.routes["default"] = r
}

// TestQuorumProof checks that each approval of a quorum needs a proof, and that
// the receipt proves each of them, even if a key is revoked before the last one.
func TestQuorumProof(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey, inPairs, func(s *setup) { s.admins = []string{"cy"} })
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	if v := b.press("di", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictForbidden {
		t.Fatalf("di has no passkey: %+v", v)
	}
	for _, who := range []string{"bo", "ana"} {
		secret := b.asked(who, id, bridge.DecideOnce)
		if _, err := b.engine.Passkeys.Sign(t.Context(), secret, b.signature(who, secret)); err != nil {
			t.Fatal(err)
		}
		if got := b.get(id); who == "bo" && (len(got.Votes) != 1 || got.Missing() != "1 more with a passkey") {
			t.Errorf("%d votes, missing %q", len(got.Votes), got.Missing())
		}
		of, err := b.engine.Passkeys.Of(t.Context(), who)
		if err == nil && who == "bo" {
			err = b.engine.Passkeys.Revoke(t.Context(), "cy", who, of[0].Name())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	rec, err := b.engine.Get(t.Context(), id)
	if err != nil || rec.State != bridge.StateApproved || len(rec.Votes) != 2 {
		t.Fatalf("%s %v %+v", rec.State, err, rec.Votes)
	}
	for _, v := range rec.Votes {
		if v.Assurance != bridge.AssurancePasskey || v.Assertion == nil {
			t.Errorf("%+v", v)
		}
	}
	keys := b.signer.PublicKeys()
	receipt, err := keys.VerifyRecord(rec)
	if err != nil {
		t.Error(err)
	}
	of, err := b.engine.Passkeys.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys.Passkeys = &of
	if who, err := keys.SignedBy(receipt); err != nil || !slices.Equal(who, []string{"bo", "ana"}) {
		t.Errorf("signed by %q, %v", who, err)
	}
	of.Keys[slices.IndexFunc(of.Keys, func(k passkey.Key) bool { return k.Person == "bo" })].Revoked = rec.Votes[0].At.Format(time.RFC3339Nano)
	if _, err := keys.SignedBy(receipt); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("the key was revoked before the signature: %v", err)
	}
}

// TestQuorumUpgrade checks that approvals with a click no longer count once a
// rule requires a proof, and that the people can approve again with it.
func TestQuorumUpgrade(t *testing.T) {
	t.Parallel()
	b := newBureau(t, "", inPairs)
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	if v := b.press("ana", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	s := b.setup
	s.policy = ruledBy(bridge.Ruling{Effect: bridge.EffectAsk, StepUp: bridge.AssurancePasskey})
	b.reload(s)
	if v := b.press("bo", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictForbidden {
		t.Fatalf("a click on the earlier terms: %+v", v)
	}
	if got := b.get(id); len(got.Votes) > 0 || got.Missing() != "2 more with a passkey" {
		t.Fatalf("missing %q, votes %+v", got.Missing(), got.Votes)
	}
	for _, who := range []string{"ana", "bo"} {
		secret := b.asked(who, id, bridge.DecideOnce)
		if _, err := b.engine.Passkeys.Sign(t.Context(), secret, b.signature(who, secret)); err != nil {
			t.Fatal(err)
		}
	}
	b.state(id, bridge.StateApproved)
}

// TestProvenGrant checks that a standing approval exists only where a rule
// allows it, and covers only if it was signed.
func TestProvenGrant(t *testing.T) {
	t.Parallel()
	ask := bridge.Ruling{Effect: bridge.EffectAsk, Scopes: []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession}}
	b := newBureau(t, "", func(s *setup) { s.policy = ruledBy(ask) })
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
	ask.StepUp = bridge.AssurancePasskey
	s := b.setup
	s.policy = ruledBy(ask)
	b.reload(s)
	second := b.open(bot, request())
	if second.State.Final() {
		t.Fatal("a grant without a proof covers a request that requires one")
	}
	secret := b.asked("ana", second.Interaction.ID, bridge.DecideSession)
	if _, err := b.engine.Passkeys.Sign(t.Context(), secret, b.signature("ana", secret)); err != nil {
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
