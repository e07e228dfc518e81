package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/bridge/words"
)

// reevaluate evaluates a request again. It returns a verdict if the current
// config does not let the actor approve it.
func (s *Decisions) reevaluate(ctx context.Context, actor bridge.Actor, rec bridge.Record) (bridge.Record, *bridge.Verdict, error) {
	i := rec.Interaction
	refuse := func(note string) *bridge.Verdict {
		s.journal.Refuse(ctx, i, actor, "the rules changed")
		return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}
	}
	v, err := s.evaluator.rejudge(ctx, rec)
	if why := Unapprovable(err); why != "" {
		return rec, refuse("This cannot be approved with the current config: " + why + ". Nothing was recorded."), nil
	}
	if err != nil {
		return rec, nil, err
	}
	if v.Denied != nil {
		got, ended, err := s.evaluator.endByRule(ctx, rec, v.Denied)
		if err != nil {
			return got, nil, err
		}
		if !ended { // the person is told what closed it first
			return got, nil, errAmended
		}
		rec = got
		return rec, refuse("The current policy denies this: " + v.Denied.Reason +
			". Nothing was approved, and the request is closed."), nil
	}
	if len(v.Stricter) > 0 {
		if rec, err = s.evaluator.restate(ctx, rec, v); err != nil {
			return rec, nil, err
		}
		if rec.State.Final() { // the person is told what closed it
			return rec, nil, errAmended
		}
		return rec, refuse("The rules changed since this was requested. It now requires " + strings.Join(v.Stricter, ", ") +
			". Nothing was recorded: read the card and decide again."), nil
	}
	return rec, nil, nil
}

// Unapprovable returns the reason that nod could not open a request now. It
// returns "" for an error that does not concern the request.
func Unapprovable(err error) string {
	if c := bridge.ErrorCode(err); c == bridge.CodeInvalid || c == bridge.CodeForbidden || c == bridge.CodeUnsupported {
		return bridge.PublicError(err).Message
	}
	return ""
}

// unfitEdit returns the reason that an edited input cannot be approved here. It
// returns "" if it can.
func (s *Decisions) unfitEdit(ctx context.Context, rec bridge.Record, input json.RawMessage) (string, error) {
	v, err := s.evaluator.rejudgeEdit(ctx, rec, input)
	if why := Unapprovable(err); why != "" {
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

// errAmended is the error of a check that changed the request.
var errAmended = bridge.Errorf(bridge.CodeConflict, "the request was amended")

// recount voids the approvals of people who may no longer approve. If there are
// any, it returns CodeConflict, because the checks must start again without them.
func (s *Decisions) recount(ctx context.Context, rec bridge.Record, r bridge.Response) error {
	i := rec.Interaction
	if !i.Counted() || r.State != bridge.StateApproved {
		return nil
	}
	a := life.Amendment{Expect: rec.Amended, Interaction: i}
	lost := slices.DeleteFunc(slices.Clone(rec.Votes), func(v bridge.Vote) bool {
		return v.State != bridge.StateApproved || s.holdsVote(ctx, i, v)
	})
	if len(lost) == 0 {
		return nil
	}
	s.mentions.Void(ctx, &a, rec, lost, "the config no longer lets you approve this")
	if err := Amend(ctx, s.records, rec, a); err != nil {
		return err
	}
	return errAmended
}

// holdsVote reports whether a voter could approve at the time of the vote, and
// counted toward the same slots, as far as nod knows now. A later change of
// shift does not remove a vote. A group that nod cannot read now does not
// remove a vote either.
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
