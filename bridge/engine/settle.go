package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// concludeTries bounds how often a decision is checked again because the
// request was amended in the meantime.
const concludeTries = 5

// conclude makes a decision of a person final, or counts it, if the current
// config lets it stand. Otherwise it returns what to tell the person, and
// nothing was approved.
func (e *Engine) conclude(
	ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response,
) (bridge.Record, bridge.BallotResult, *bridge.Verdict, error) {
	var err error
	seen := rec.Interaction.Terms
	for range concludeTries {
		if !rec.State.Final() && rec.Interaction.Terms != seen && r.State == bridge.StateApproved {
			return rec, "", &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteChanged}, nil
		}
		if !rec.State.Final() && (r.State == bridge.StateApproved || r.State == bridge.StateAnswered) {
			now, refusal, failed := e.reconsider(ctx, actor, rec, r)
			if err = failed; refusal != nil || err != nil && bridge.ErrorCode(err) != bridge.CodeConflict {
				return now, "", refusal, err
			}
			rec = now
		}
		if err == nil {
			got, result, failed := e.settleOne(ctx, actor, rec, r)
			if err = failed; bridge.ErrorCode(err) != bridge.CodeConflict {
				return got, result, nil, err
			}
		}
		if rec, err = e.store.Load(ctx, rec.Interaction.ID); err != nil {
			return rec, "", nil, err
		}
	}
	return rec, "", nil, bridge.Errorf(bridge.CodeUnavailable, "the request keeps changing").WithHint("try again")
}

// reconsider checks a decision that approves or answers against the current
// config. It returns the record to decide, or a verdict if it does not stand.
func (e *Engine) reconsider(ctx context.Context, actor bridge.Actor, rec bridge.Record, r bridge.Response) (bridge.Record, *bridge.Verdict, error) {
	i := rec.Interaction
	refuse := func(note string) *bridge.Verdict {
		e.refuse(ctx, i, actor, "the rules changed")
		return &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}
	}
	v, err := e.rejudge(ctx, rec)
	if why := unapprovable(err); why != "" {
		return rec, refuse("This cannot be approved with the current config: " + why + ". Nothing was recorded."), nil
	}
	if err != nil {
		return rec, nil, err
	}
	if v.denied != nil {
		if rec, err = e.endByRule(ctx, rec, v.denied); err != nil {
			return rec, nil, err
		}
		return rec, refuse("The current policy denies this: " + v.denied.Reason +
			". Nothing was approved, and the request is closed."), nil
	}
	if len(v.stricter) > 0 {
		if rec, err = e.restate(ctx, rec, v); err != nil {
			return rec, nil, err
		}
		return rec, refuse("The rules changed since this was requested. It now requires " + strings.Join(v.stricter, ", ") +
			". Nothing was recorded: read the card and decide again."), nil
	}
	if len(r.Input) > 0 {
		problem, err := e.unfitEdit(ctx, rec, r.Input)
		if err != nil {
			return rec, nil, err
		}
		if problem != "" {
			v := typedProblem(problem)
			e.refuse(ctx, i, actor, "edited input")
			return rec, &v, nil
		}
	}
	return e.recount(ctx, rec, r)
}

// unapprovable returns the reason that a request could not be opened now. It is
// empty for an error that says nothing about the request.
func unapprovable(err error) string {
	if c := bridge.ErrorCode(err); c == bridge.CodeInvalid || c == bridge.CodeForbidden || c == bridge.CodeUnsupported {
		return bridge.PublicError(err).Message
	}
	return ""
}

// unfitEdit says why an edited input cannot be approved here; empty if it can.
func (e *Engine) unfitEdit(ctx context.Context, rec bridge.Record, input json.RawMessage) (string, error) {
	v, err := e.rejudgeEdit(ctx, rec, input)
	if why := unapprovable(err); why != "" {
		return "The edited input cannot be approved: " + why + ". Nothing was approved.", nil
	}
	switch {
	case err != nil:
		return "", err
	case v.denied != nil:
		return "The policy denies the edited input: " + v.denied.Reason + ". Nothing was approved.", nil
	case len(v.stricter) > 0:
		return "The edited input requires " + strings.Join(v.stricter, ", ") +
			", so it has to be requested on its own. Nothing was approved.", nil
	}
	return "", nil
}

// recount voids the approvals of people who may no longer approve.
func (e *Engine) recount(ctx context.Context, rec bridge.Record, r bridge.Response) (bridge.Record, *bridge.Verdict, error) {
	i := rec.Interaction
	if !i.Counted() || r.State != bridge.StateApproved {
		return rec, nil, nil
	}
	a := bridge.Amendment{Expect: rec.Amended, Interaction: i, Step: rec.Step, Next: -1}
	for _, v := range rec.Votes {
		if v.State != bridge.StateApproved {
			continue
		}
		holds, err := e.holdsVote(ctx, i, v)
		if err != nil {
			return rec, nil, err
		}
		if !holds {
			a.Void = append(a.Void, v.Actor.Voter())
		}
	}
	if len(a.Void) == 0 {
		return rec, nil, nil
	}
	if err := amend(ctx, e.store, rec, a); err != nil && bridge.ErrorCode(err) != bridge.CodeConflict {
		return rec, nil, err
	}
	rec, err := e.store.Load(ctx, i.ID)
	return rec, nil, err
}

// holdsVote reports whether whoever voted may still approve, and counts for
// what the vote counted for.
func (e *Engine) holdsVote(ctx context.Context, i bridge.Interaction, v bridge.Vote) (bool, error) {
	actor, why, err := e.eligible(ctx, i, v.Actor)
	if err != nil || why != "" || actor.Person != v.Actor.Person {
		return false, err
	}
	covers, err := e.covers(ctx, i, actor)
	return len(bridge.Missing(covers, v.Covers)) == 0, err
}
