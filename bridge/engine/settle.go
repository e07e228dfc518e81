package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// Decisions makes decisions final, or records them as votes. Its methods that a list of
// deciders has are the checks of every decision.
type Decisions struct {
	outcomes  bridge.Outcomes
	records   bridge.Records
	journal   *journal.Journal
	evaluator *evaluator
	people    *people.People
	mentions  *mentioner
	seams     *Seams
	log       *slog.Logger
}

// concludeTries is the maximum number of times that a decision is checked
// because the request was amended in the meantime.
const concludeTries = 5

// Conclude makes a decision of a person final, or records it as a vote, if the
// current config allows it. Otherwise nothing is approved, and it returns the
// reply to the person.
func (s *Decisions) Conclude(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (bridge.Record, bridge.BallotResult, *bridge.Verdict, error) {
	t := Decision{actor, rec, r, rec.Interaction.Terms}
	for range concludeTries {
		refusal, err := checked(ctx, s.seams.Decisions, &t)
		if refusal != nil {
			return t.Record, "", refusal, err
		}
		if err == nil {
			got, result, failed := s.settleOne(ctx, t.Actor, t.Record, r)
			if err = failed; bridge.ErrorCode(err) != bridge.CodeConflict {
				return got, result, nil, err
			}
		}
		if bridge.ErrorCode(err) != bridge.CodeConflict {
			return t.Record, "", nil, err
		}
		if t.Record, err = s.records.Load(ctx, rec.Interaction.ID); err != nil {
			return t.Record, "", nil, err
		}
		if t.Actor, refusal = s.admitAgain(ctx, t.Actor, t.Record, r); refusal != nil {
			return t.Record, "", refusal, nil
		}
	}
	return t.Record, "", nil, bridge.Errorf(bridge.CodeUnavailable, "the request keeps changing").WithHint("try again")
}

// Decision is a decision of a person that is checked.
type Decision struct {
	Actor    bridge.Actor
	Record   bridge.Record
	Response bridge.Response
	seen     int // Interaction.Terms when the person decided
}

// decides reports whether the decision approves or answers a pending request. Others
// need no check of the config.
func (t *Decision) decides() bool {
	return !t.Record.State.Final() && (t.Response.State == bridge.StateApproved || t.Response.State == bridge.StateAnswered)
}

// admitAgain checks that a person may still give a response to a request that
// was amended, because an amendment can replace its responders.
func (s *Decisions) admitAgain(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (bridge.Actor, *bridge.Verdict) {
	i := rec.Interaction
	if rec.State.Final() {
		return actor, nil
	}
	actor, no := s.people.Eligible(ctx, i, actor)
	denies := r.State == bridge.StateDenied || r.State == bridge.StateCancelled
	if no.Why == "" || denies && no.Denies {
		return actor, nil
	}
	s.journal.Refuse(ctx, i, actor, no.Why)
	return actor, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Why(i, no)}
}

// settleOne records the response of an actor, as the decision or as a vote.
func (s *Decisions) settleOne(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (bridge.Record, bridge.BallotResult, error) {
	i := rec.Interaction
	r = stamped(actor, i, r)
	var got bridge.Record
	var err error
	result := bridge.BallotLate
	if i.Kind == bridge.KindApproval && i.Counted() {
		got, result, err = s.vote(ctx, actor, rec, r)
	} else {
		t := bridge.Settlement{ID: i.ID, Response: r, Nonce: nonce(actor, r), Expect: &rec.Amended}
		var won bool
		got, won, err = s.outcomes.Settle(ctx, t)
		if won {
			result = bridge.BallotDecided
		}
	}
	if err != nil || result != bridge.BallotDecided {
		return got, result, err
	}
	s.log.Info("settled", "id", i.ID, "state", got.State, "platform", actor.Platform, "user", actor.User)
	// A click that fails here is repeated, and then ends here again.
	return got, result, s.seams.resolved(ctx, got, s.log)
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

// nonce identifies a decision of a person, so that a click that the platform
// delivers twice is recognized. It covers no request, because the store compares
// it with the decision that one request has.
func nonce(actor bridge.Actor, r bridge.Response) string {
	b, _ := json.Marshal(struct { // map keys are sorted, so this is stable
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

// SameTerms refuses an approval under other terms than those that the person saw.
func (s *Decisions) SameTerms(_ context.Context, t *Decision) (*bridge.Verdict, error) {
	if t.Record.State.Final() || t.Record.Interaction.Terms == t.seen || t.Response.State != bridge.StateApproved {
		return nil, nil //nolint:nilnil // no objection
	}
	return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Changed}, nil
}

// CurrentConfig evaluates the request again if the config has changed since.
func (s *Decisions) CurrentConfig(ctx context.Context, t *Decision) (refusal *bridge.Verdict, err error) {
	if !t.decides() || s.evaluator.unchanged(t.Record.Interaction) {
		return nil, nil //nolint:nilnil // no objection
	}
	t.Record, refusal, err = s.reevaluate(ctx, t.Actor, t.Record)
	return refusal, err
}

// Fits refuses an edited input that the policy does not let people approve here.
func (s *Decisions) Fits(ctx context.Context, t *Decision) (*bridge.Verdict, error) {
	if !t.decides() || len(t.Response.Input) == 0 {
		return nil, nil //nolint:nilnil // no objection
	}
	problem, err := s.unfitEdit(ctx, t.Record, t.Response.Input)
	if err != nil || problem == "" {
		return nil, err
	}
	v := words.Problem(problem)
	s.journal.Refuse(ctx, t.Record.Interaction, t.Actor, "edited input")
	return &v, nil
}

// Recounted takes back the approvals of people who may no longer approve.
func (s *Decisions) Recounted(ctx context.Context, t *Decision) (*bridge.Verdict, error) {
	if !t.decides() {
		return nil, nil //nolint:nilnil // no objection
	}
	now, err := s.recount(ctx, t.Record, t.Response)
	if err == nil {
		t.Record = now
	}
	return nil, err
}

// reevaluate evaluates a request again. It returns a verdict if the current
// config does not let the actor approve it.
func (s *Decisions) reevaluate(ctx context.Context, actor bridge.Actor, rec bridge.Record) (bridge.Record, *bridge.Verdict, error) {
	i := rec.Interaction
	refuse := func(note string) *bridge.Verdict {
		s.journal.Refuse(ctx, i, actor, "the rules changed")
		return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}
	}
	v, err := s.evaluator.rejudge(ctx, rec)
	if why := unapprovable(err); why != "" {
		return rec, refuse("This cannot be approved with the current config: " + why + ". Nothing was recorded."), nil
	}
	if err != nil {
		return rec, nil, err
	}
	if v.Denied != nil {
		if rec, err = s.evaluator.endByRule(ctx, rec, v.Denied); err != nil {
			return rec, nil, err
		}
		return rec, refuse("The current policy denies this: " + v.Denied.Reason +
			". Nothing was approved, and the request is closed."), nil
	}
	if len(v.Stricter) > 0 {
		if rec, err = s.evaluator.restate(ctx, rec, v); err != nil {
			return rec, nil, err
		}
		return rec, refuse("The rules changed since this was requested. It now requires " + strings.Join(v.Stricter, ", ") +
			". Nothing was recorded: read the card and decide again."), nil
	}
	return rec, nil, nil
}

// unapprovable returns the reason why a request could not be opened now. It
// returns "" for an error that is not about the request.
func unapprovable(err error) string {
	if c := bridge.ErrorCode(err); c == bridge.CodeInvalid || c == bridge.CodeForbidden || c == bridge.CodeUnsupported {
		return bridge.PublicError(err).Message
	}
	return ""
}

// unfitEdit returns the reason why an edited input cannot be approved here. It
// returns "" if it can.
func (s *Decisions) unfitEdit(ctx context.Context, rec bridge.Record, input json.RawMessage) (string, error) {
	v, err := s.evaluator.rejudgeEdit(ctx, rec, input)
	if why := unapprovable(err); why != "" {
		return "The edited input cannot be approved: " + why + ". Nothing was approved.", nil
	}
	switch {
	case err != nil:
		return "", err
	case v.Denied != nil:
		return "The policy denies the edited input: " + v.Denied.Reason + ". Nothing was approved.", nil
	case len(v.Stricter) > 0:
		return "The edited input requires " + strings.Join(v.Stricter, ", ") +
			", so the agent has to request it separately. Nothing was approved.", nil
	}
	return "", nil
}

// recount voids the approvals of people who may no longer approve.
func (s *Decisions) recount(ctx context.Context, rec bridge.Record, r bridge.Response) (bridge.Record, error) {
	i := rec.Interaction
	if !i.Counted() || r.State != bridge.StateApproved {
		return rec, nil
	}
	a := bridge.Amendment{Expect: rec.Amended, Interaction: i}
	lost := slices.DeleteFunc(slices.Clone(rec.Votes), func(v bridge.Vote) bool {
		return v.State != bridge.StateApproved || s.holdsVote(ctx, i, v)
	})
	if len(lost) == 0 {
		return rec, nil
	}
	s.mentions.void(ctx, &a, rec, lost, "the config no longer lets you approve this")
	if err := amend(ctx, s.records, rec, a); err != nil && bridge.ErrorCode(err) != bridge.CodeConflict {
		return rec, err
	}
	return s.records.Load(ctx, i.ID)
}

// holdsVote reports whether a voter could approve at the time of the vote, by what
// is known now, and counted toward the same slots. A change of shift since then
// takes away no vote, and neither does what nod cannot read now.
func (s *Decisions) holdsVote(ctx context.Context, i bridge.Interaction, v bridge.Vote) bool {
	actor, no := s.people.EligibleAt(ctx, i, v.Actor, v.At)
	switch {
	case no.Why == people.WhyUnread:
		return true
	case no.Why != "" || actor.Person != v.Actor.Person:
		return false
	}
	yes, maybe := s.people.Covers(ctx, i, actor, v.At)
	return len(bridge.Missing(append(yes, maybe...), v.Covers)) == 0
}
