package engine_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// proven is a world whose store is proven with a key that is not in Redis.
func proven(t *testing.T, r bridge.Ruling) (*world, setup) {
	s := newSetup()
	s.signer, s.policy = newSigner(t), ruledBy(r)
	return inRedis(t, s), s
}

// TestEndedByRuleAfterVotes checks that the end of a request by a rule is
// proven although people had voted on the request.
func TestEndedByRuleAfterVotes(t *testing.T) {
	t.Parallel()
	w, s := proven(t, bridge.Ruling{Quorum: 2})
	id := w.open(agentCI, shell("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	s.policy = ruledBy(bridge.Ruling{Effect: bridge.EffectDeny, Reason: "frozen"})
	w.reload(s)
	w.said(w.press("bo", id, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "frozen")
	rec, err := w.engine.Get(t.Context(), id)
	if err != nil || rec.State != bridge.StateDenied {
		t.Errorf("%s: %v", rec.State, err)
	}
	keys := w.engine.Audit.PublicKeys()
	if _, err := keys.VerifyRecord(rec); err != nil {
		t.Errorf("its receipt: %v", err)
	}
}

// TestVotesUnderFormerTerms checks that a vote that was given under other
// requirements does not count when it is restored in Redis.
func TestVotesUnderFormerTerms(t *testing.T) {
	t.Parallel()
	w, s := proven(t, bridge.Ruling{Quorum: 2})
	id := w.open(agentCI, shell("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	voted, err := w.redis.Get(t.Context(), document("life", id)).Result()
	if err != nil || !strings.Contains(voted, `"votes"`) {
		t.Fatalf("%q: %v", voted, err)
	}
	s.policy = ruledBy(bridge.Ruling{Quorum: 2, Risk: "high", Confirm: "prod"})
	w.reload(s)
	w.said(w.press("bo", id, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "rules changed")
	v := w.drawn(id, "C1")
	if err := w.redis.Set(t.Context(), document("life", id), voted, 0).Err(); err != nil {
		t.Fatal(err)
	}
	w.pressOn("bo", v, "C1", bridge.DecideOnce, "prod")
	if rec, err := w.engine.Get(t.Context(), id); err == nil && rec.State == bridge.StateApproved {
		t.Errorf("approved by %+v", rec.Votes)
	}
}

// TestGrantByMovedAccount checks that a grant counts for the person who gave
// it, and not for the person who has the account now.
func TestGrantByMovedAccount(t *testing.T) {
	t.Parallel()
	w, s := proven(t, bridge.Ruling{})
	r := shell("make x")
	r.Approval.Decisions = append(r.Approval.Decisions, bridge.DecideAlways)
	id := w.open(agentCI, r).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideAlways, "")
	w.state(id, bridge.StateApproved)
	again := w.open(agentCI, r)
	w.state(again.Interaction.ID, bridge.StateApproved)
	s.swap("ana", "bo")
	s.routes["default"] = routeTo("C1", "bo")
	w.reload(s)
	w.state(w.open(agentCI, r).Interaction.ID, bridge.StatePending)
}

// TestFollowUpOfChangedRequest checks that a request that was changed in Redis
// has no follow-up, which would be asked of the people that were added to it.
func TestFollowUpOfChangedRequest(t *testing.T) {
	t.Parallel()
	w, _ := proven(t, bridge.Ruling{})
	id := w.open(agentCI, shell("make x")).Interaction.ID
	w.rewrite("body", id, func(text string) string {
		return strings.Replace(text, `"agent":`, `"added":[{"responders":[{"person":"eve","platform":"chat","user":"U-eve"}]}],"agent":`, 1)
	})
	for name, again := range map[string]func() (bridge.Record, error){
		"follow-up": func() (bridge.Record, error) { return w.engine.Reprompt(t.Context(), agentCI, id, shell("make y"), "") },
		"queue":     func() (bridge.Record, error) { return w.engine.Queue(t.Context(), agentCI, id, 0, "") },
	} {
		if rec, err := again(); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("%s: responders %+v, %v", name, rec.Interaction.Responders, err)
		}
	}
}
