package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
)

// vote records a decision as a vote, with its stamped response. It returns the
// updated record.
func (s *Decisions) vote(ctx context.Context, d Decision, r bridge.Response) (bridge.Record, core.BallotResult, error) {
	i, actor := d.Record.Interaction, d.Actor
	b := s.ballot(ctx, d.Record, actor, r)
	b.Vote.Content, b.Expect = d.saw, &d.Record.Amended
	got, result, err := s.records.Vote(ctx, b, s.seams.also)
	if err != nil {
		return got, result, err
	}
	s.log.Info("voted", "id", i.ID, "vote", r.State, "result", result, "platform", actor.Platform, "user", actor.User)
	return got, result, nil
}

// ballot returns the vote of an actor for a response. A denial needs no lookup
// of people. An approval counts at least toward the slots of an earlier
// approval by the same person.
func (s *Decisions) ballot(ctx context.Context, rec bridge.Record, actor bridge.Actor, r bridge.Response) life.Ballot {
	i := rec.Interaction
	b := life.Ballot{ID: i.ID, Response: r, Nonce: nonce(actor, r), Vote: bridge.Vote{
		Actor: actor, State: r.State, Scope: r.Scope, Reason: r.Reason, At: r.At, Message: r.Message,
		Assurance: r.Assurance, Assertion: r.Assertion,
	}}
	b.Response.Assertion = nil // each vote has its own assertion
	if r.State != bridge.StateApproved {
		return b
	}
	b.Covers, _ = s.people.Covers(ctx, i, actor, r.At)
	for _, v := range rec.Votes {
		if v.State == bridge.StateApproved && v.SameVoter(b.Vote) {
			b.Covers = append(b.Covers, bridge.Missing(b.Covers, v.Covers)...)
		}
	}
	slices.Sort(b.Covers)
	return b
}

// stamped returns a response with its actor, time and digest.
func stamped(actor bridge.Actor, i bridge.Interaction, r bridge.Response) bridge.Response {
	r.Actor, r.At, r.Digest = &actor, time.Now().UTC().Truncate(time.Millisecond), i.Digest
	if r.Annotations == nil {
		r.Annotations = map[string]bridge.Annotation{}
	}
	if r.State == bridge.StateApproved {
		r.Covers = i.Coverage(r.Scope)
	}
	return r
}

// nonce identifies a person's decision, so that nod recognizes a click that the
// platform delivers twice. It does not cover the request, because the store
// compares it only with the decision of that request.
func nonce(actor bridge.Actor, r bridge.Response) string {
	b, _ := json.Marshal(struct { // JSON sorts map keys, so this is stable
		P, U    string
		State   bridge.State
		Answers map[string]bridge.Answer
		Scope   bridge.Scope
		Reason  string
		Stop    bool            `json:",omitempty"`
		Respond bool            `json:",omitempty"`
		Input   json.RawMessage `json:",omitempty"`
	}{actor.Platform, actor.User, r.State, r.Answers, r.Scope, r.Reason, r.Stop, r.Respond, r.Input})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}
