package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/tell"
)

// rounds opens follow-ups, and defers and completes interactions.
type rounds struct {
	records  core.Interactions
	reader   *reader
	opener   *Openings
	composer *composer
	routes   routes
	redactor *Redactor
}

// reprompt implements Engine.Reprompt.
func (rd *rounds) reprompt(ctx context.Context, agent bridge.Agent, id bridge.ID, r bridge.Request, key string) (bridge.Record, error) {
	before, err := rd.reader.get(ctx, id) // a record that was changed outside nod cannot have a follow-up
	if err != nil {
		return bridge.Record{}, err
	}
	if err := bridge.CheckText("Idempotency-Key", key, 200); err != nil {
		return bridge.Record{}, err
	}
	identity, err := identify(agent, r, key, id)
	if err != nil {
		return bridge.Record{}, err
	}
	r = inherit(before, r)
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	fillIn(before, &r)
	return rd.again(ctx, agent, before, r, followUp{identity: identity})
}

// inherit returns the request for another round: the previous ask with the
// changes in the agent's request.
func inherit(before bridge.Record, sent bridge.Request) bridge.Request {
	i := before.Interaction
	r := bridge.Request{Ask: i.Again(), Awaited: sent.Awaited}
	// These fields belong to one round.
	r.Kind, r.Error, r.Initial, r.CompletedView = sent.Kind, sent.Error, sent.Initial, sent.CompletedView
	r.Grace, r.Join = sent.Grace, sent.Join
	if sent.Prompt != "" {
		r.Prompt = sent.Prompt
	}
	same := sent.Approval == nil && len(sent.Questions) == 0
	switch {
	case !same:
		r.Questions, r.Approval = sent.Questions, toolsOwn(i.Approval, sent.Approval)
	case i.Redacted > 0 && i.Approval != nil: // a grant cannot use redacted values
		a := *i.Approval
		a.Limit([]bridge.Scope{bridge.ScopeOnce})
		r.Approval = &a
	}
	switch {
	case sent.Timeout != 0:
		r.Timeout = sent.Timeout
	case !before.Queued.IsZero():
		r.Timeout = 0 // the deadline was moved, so the default timeout fits better
	}
	// the setting fits only this kind of request
	bound := i.OnTimeout == bridge.OnTimeoutDeny || i.OnTimeout == bridge.OnTimeoutDefault
	if sent.OnTimeout != "" || bound && !same {
		r.OnTimeout = sent.OnTimeout
	}
	if i.Requester == "" {
		r.Requester = sent.Requester
	}
	r.Declinable = i.Declinable && r.Approval == nil
	return r
}

// toolsOwn returns the approval of a follow-up. If the tool remembers the
// approvals of the previous round, it does so in every round. A follow-up that
// names no tool is about the same call.
func toolsOwn(before, sent *bridge.Approval) *bridge.Approval {
	if before == nil || sent == nil || !before.AgentRemembers {
		return sent
	}
	a := *sent
	a.AgentRemembers = true
	if a.Tool == "" {
		a.Tool, a.Input = before.Tool, before.Input
	}
	return &a
}

// fillIn fills in the earlier values and the completed view if they fit the
// questions, unless the request has its own.
func fillIn(before bridge.Record, r *bridge.Request) {
	if c := before.Interaction.CompletedView; r.CompletedView == nil && c != nil && c.Check(r.Questions) == nil {
		r.CompletedView = c
	}
	if len(r.Initial) > 0 || before.Response == nil {
		return
	}
	for _, q := range r.Questions {
		a, ok := before.Response.Answers[q.ID]
		if !ok {
			continue
		}
		if _, err := (bridge.Interaction{Ask: bridge.Ask{
			Questions: []bridge.Question{q},
		}}).Split("initial", map[string]bridge.Answer{q.ID: a}); err != nil {
			continue // the form of the question has changed
		}
		if r.Initial == nil {
			r.Initial = map[string]bridge.Answer{}
		}
		r.Initial[q.ID] = a
	}
}

// followUp holds the options of a follow-up.
type followUp struct {
	identity bridge.Identity
	queued   bool
}

// again opens the next round of an interaction. nod evaluates it as a new
// request. It takes over the messages if the destinations are the same and no
// other people are asked.
func (rd *rounds) again(ctx context.Context, agent bridge.Agent, before bridge.Record, r bridge.Request, f followUp) (bridge.Record, error) {
	was := before.Interaction
	if was.Round >= was.MaxRounds {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "max_rounds: interaction %s was already asked %d times", was.ID, was.Round).WithHint("set a higher max_rounds, or continue without an answer")
	}
	if err := rd.opener.permit(ctx, agent, &r); err != nil {
		return bridge.Record{}, err
	}
	i, ruling, err := rd.composer.prepare(ctx, agent, r)
	if err != nil {
		return bridge.Record{}, err
	}
	if ruling.Effect == bridge.EffectDeny {
		return bridge.Record{}, bridge.Errorf(bridge.CodeForbidden, "the policy denies the follow-up: %s", ruled(i, ruling).Reason)
	}
	if i.ID, err = bridge.NewID(); err != nil {
		return bridge.Record{}, err
	}
	rd.follow(&i, before)
	d := Draft{Opening: opening(i, f.identity), Ruling: ruling, Now: r.Now}
	d.Queued, d.MaxPending = f.queued, agent.MaxPending
	d.Superseded = bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: was.Digest}
	return rd.opener.askAndStore(ctx, d, rd.opener.store)
}

// follow makes an interaction the next round of another one.
func (rd *rounds) follow(i *bridge.Interaction, before bridge.Record) {
	was := before.Interaction
	i.Round, i.Previous = was.Round+1, was.ID
	if slices.Equal(routeNames(*i), routeNames(was)) {
		rd.carryOver(i, before)
	}
	others := bridge.Missing(tell.Names(was.Responders, was.Groups), tell.Names(i.Responders, i.Groups))
	if slices.Equal(i.Destinations, was.Destinations) && len(others) == 0 { // an edited card notifies no one
		if i.Root = was.Root; i.Root == "" {
			i.Root = was.ID
		}
	}
}

// carryOver keeps the people and destinations that were added during the
// previous round, which has the same routes.
func (rd *rounds) carryOver(i *bridge.Interaction, before bridge.Record) {
	was := before.Interaction
	rd.routes.addAgain(i, was)
	if n := len(i.Destinations); n <= len(was.Destinations) && slices.Equal(i.Destinations, was.Destinations[:n]) {
		i.Destinations, i.Unfound = was.Destinations, was.Unfound
		i.Told = slices.Clone(was.Told)
		for n := range i.Told {
			i.Told[n].Step = 0
		}
	}
}

// queue implements Engine.Queue.
func (rd *rounds) queue(ctx context.Context, agent bridge.Agent, id bridge.ID, hold bridge.Duration, message string) (bridge.Record, error) {
	rec, err := rd.reader.get(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	i := rec.Interaction
	if i.Session == "" {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "session: required to receive a late answer").WithHint("open the request with a session")
	}
	if err := bridge.CheckText("message", message, bridge.MaxText); err != nil {
		return bridge.Record{}, err
	}
	if !rec.Queued.IsZero() && (rec.State.Decided() || hold == 0 && !rec.State.Final()) {
		return rec, nil // the request is already deferred, and the inbox gets or has the answer
	}
	if hold == 0 {
		hold = i.Hold
	}
	if err := bridge.CheckHold(hold); err != nil {
		return bridge.Record{}, err
	}
	if !rec.State.Final() {
		return rd.records.Mark(ctx, id, life.Deferred{Hold: time.Duration(hold)})
	}
	if rec.State != bridge.StateAnswered && rec.State != bridge.StateDenied && rec.State != bridge.StateExpired {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "interaction %s is already closed: %s", id, rec.State)
	}
	r := inherit(rec, bridge.Request{Ask: bridge.Ask{Hold: hold, Error: message}})
	r.Hold = hold
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	fillIn(rec, &r)
	return rd.again(ctx, agent, rec, r, followUp{queued: true})
}

// complete implements Engine.Complete.
func (rd *rounds) complete(ctx context.Context, id bridge.ID, c bridge.Completion) (bridge.Record, error) {
	if c.Ran != "" && c.Ran != bridge.ReasonAllowed {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "ran: unknown value %q", c.Ran).WithHint("use %q", bridge.ReasonAllowed)
	}
	if err := rd.redactor.Texts(c.Texts()); err != nil {
		return bridge.Record{}, err
	}
	if err := bridge.CheckTexts(c.Texts()); err != nil {
		return bridge.Record{}, err
	}
	rec, err := rd.records.Load(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	switch {
	case rec.State.Final():
	case rec.Queued.IsZero():
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "interaction %s is still pending", id).WithHint("wait for its response, or cancel it")
	default: // the tool has ended and does not get the late answer
		i := rec.Interaction
		if _, _, err := rd.records.Resolve(ctx, life.Resolution{ID: id, Nonce: "completed", Response: bridge.Response{
			State: bridge.StateExpired, Reason: "no one answered in time", Annotations: map[string]bridge.Annotation{}, At: time.Now().UTC(), Digest: i.Digest,
		}}); err != nil {
			return bridge.Record{}, err
		}
	}
	return rd.records.Mark(ctx, id, life.Completed{Completion: c})
}
