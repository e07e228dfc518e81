package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// Reprompt asks again after an answer that the agent could not use, or instead
// of a question that is still pending. The follow-up is evaluated as if it were
// new. It keeps session and correlation, takes over the messages if its
// destinations are the same, and starts with the earlier values filled in if
// the questions have the same IDs. It returns CodeConflict if the rounds are
// used up or the interaction was asked again already, and CodeForbidden if the
// policy denies the follow-up.
func (e *Engine) Reprompt(ctx context.Context, agent bridge.Agent, id bridge.ID, r bridge.Request, key string) (bridge.Record, error) {
	before, err := e.Get(ctx, id) // what was changed outside nod has no follow-up
	if err != nil {
		return bridge.Record{}, err
	}
	digest, err := proof.Sent(r.Ask, id)
	if err != nil {
		return bridge.Record{}, err
	}
	r = inherit(before, r)
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	fillIn(before, &r)
	return e.again(ctx, agent, before, r, followUp{key: key, digest: digest})
}

// inherit returns the request for another round: the ask before, with what the
// agent now sends in its place.
func inherit(before bridge.Record, sent bridge.Request) bridge.Request {
	i := before.Interaction
	r := bridge.Request{Ask: i.Again(), Awaited: sent.Awaited}
	// These belong to one round.
	r.Kind, r.Error, r.Initial, r.CompletedView = sent.Kind, sent.Error, sent.Initial, sent.CompletedView
	r.Grace, r.Batch, r.Join = sent.Grace, sent.Batch, sent.Join
	if sent.Prompt != "" {
		r.Prompt = sent.Prompt
	}
	same := sent.Approval == nil && len(sent.Questions) == 0
	switch {
	case !same:
		r.Questions, r.Approval = sent.Questions, sent.Approval
	case i.Redacted > 0 && i.Approval != nil: // what was masked is not here to grant
		a := *i.Approval
		a.Limit([]bridge.Scope{bridge.ScopeOnce})
		r.Approval = &a
	}
	switch {
	case sent.Timeout != 0:
		r.Timeout = sent.Timeout
	case !before.Queued.IsZero() || !before.Escalated.IsZero():
		r.Timeout = 0 // the deadline was moved; the default is a better guess
	}
	bound := i.OnTimeout == bridge.OnTimeoutDeny || i.OnTimeout == bridge.OnTimeoutDefault // to what is asked
	if sent.OnTimeout != "" || bound && !same {
		r.OnTimeout = sent.OnTimeout
	}
	if i.Requester == "" {
		r.Requester = sent.Requester
	}
	r.Declinable = i.Declinable && r.Approval == nil
	return r
}

// fillIn fills in the earlier values that fit the questions, and keeps the
// completed view if it fits, unless the request has its own.
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
		if _, problem := (bridge.Interaction{Ask: bridge.Ask{
			Questions: []bridge.Question{q},
		}}).Split(map[string]bridge.Answer{q.ID: a}); problem != "" {
			continue // the question has another form now
		}
		if r.Initial == nil {
			r.Initial = map[string]bridge.Answer{}
		}
		r.Initial[q.ID] = a
	}
}

// followUp is what comes with a request to ask again.
type followUp struct {
	key    string // for repeats
	digest string // of what the agent sent
	queued bool
}

// again opens the next round of an interaction. It is evaluated as if it were
// new, and takes the messages over if they are where it has to be shown.
func (e *Engine) again(ctx context.Context, agent bridge.Agent, before bridge.Record, r bridge.Request, f followUp) (bridge.Record, error) {
	was := before.Interaction
	if err := bridge.CheckText("Idempotency-Key", f.key, 200); err != nil {
		return bridge.Record{}, err
	}
	if was.Round >= was.MaxRounds {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "this was asked %d times, which is its limit", was.Round).WithHint("ask with a higher max_rounds, or finish without the answer")
	}
	if err := e.permit(ctx, agent, &r); err != nil {
		return bridge.Record{}, err
	}
	i, ruling, err := e.prepare(ctx, agent, r)
	if err != nil {
		return bridge.Record{}, err
	}
	if ruling.Effect == bridge.EffectDeny {
		return bridge.Record{}, bridge.Errorf(bridge.CodeForbidden, "the policy denies it: %s", i.Ruled(ruling).Reason)
	}
	if i.ID, err = bridge.NewID(was.ID.Partition()); err != nil {
		return bridge.Record{}, err
	}
	i.Round, i.Previous = was.Round+1, was.ID
	if slices.Equal(i.RouteNames(), was.RouteNames()) {
		e.carryOver(&i, before)
	}
	if slices.Equal(i.Destinations, was.Destinations) {
		if i.Root = was.Root; i.Root == "" {
			i.Root = was.ID
		}
	}
	o := e.opening(i, f.key)
	o.RequestDigest, o.Queued, o.Limited = f.digest, f.queued, agent.MaxPending > 0
	o.Superseded = bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: was.Digest}
	if err := e.answered(ctx, &o, ruling); err != nil || o.Response != nil {
		if err != nil {
			return bridge.Record{}, err
		}
		return e.openStored(ctx, o)
	}
	if i.Root == "" {
		err = e.findPeople(ctx, &o)
	} else if o.Failures, err = e.reach(i); err == nil {
		o.FrontEnds, err = e.frontEnds(ctx, i.Session)
	}
	if err != nil {
		return bridge.Record{}, err
	}
	return e.openStored(ctx, o)
}

// carryOver keeps the people and places that were added to the round before,
// which has the same routes.
func (e *Engine) carryOver(i *bridge.Interaction, before bridge.Record) {
	was := before.Interaction
	e.addAgain(i, was)
	if n := len(i.Destinations); n <= len(was.Destinations) && slices.Equal(i.Destinations, was.Destinations[:n]) {
		i.Destinations = was.Destinations
	}
	if before.Escalated.IsZero() {
		return
	}
	i.Escalation = nil
	for n := range i.Requirements {
		i.Requirements[n].Escalation = nil
	}
	if i.OnTimeout == bridge.OnTimeoutEscalate {
		i.OnTimeout = bridge.OnTimeoutExpire
	}
}

// Queue tells the agent of an interaction that the answer comes later: while it
// is pending, it stays open for hold (0: as the request said), and a late
// answer becomes a message to its session. One that was answered is asked
// again in the same way.
func (e *Engine) Queue(ctx context.Context, agent bridge.Agent, id bridge.ID, hold bridge.Duration, message string) (bridge.Record, error) {
	rec, err := e.Get(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	i := rec.Interaction
	if i.Session == "" {
		return bridge.Record{}, bridge.Errorf(bridge.CodeInvalid, "session: is needed to be told later").WithHint("open the request with a session")
	}
	if err := bridge.CheckText("message", message, bridge.MaxText); err != nil {
		return bridge.Record{}, err
	}
	if hold == 0 {
		hold = i.Hold
	}
	if err := bridge.CheckHold(hold); err != nil {
		return bridge.Record{}, err
	}
	if !rec.State.Final() {
		return e.store.Mark(ctx, id, bridge.Mark{Queued: time.Duration(hold)})
	}
	if rec.State != bridge.StateAnswered && rec.State != bridge.StateDenied && rec.State != bridge.StateExpired {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "interaction %s has ended: %s", id, rec.State)
	}
	r := inherit(rec, bridge.Request{Ask: bridge.Ask{Hold: hold, Error: message}})
	r.Hold = hold
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	fillIn(rec, &r)
	return e.again(ctx, agent, rec, r, followUp{queued: true})
}

// Complete notes what the agent's tool made of a response; people see it below
// their answer. Only the first note counts. CodeConflict while it is pending.
func (e *Engine) Complete(ctx context.Context, id bridge.ID, c bridge.Completion) (bridge.Record, error) {
	c.Result, c.Error = e.veilText(c.Result), e.veilText(c.Error)
	for _, f := range []struct{ name, text string }{{"result", c.Result}, {"error", c.Error}} {
		if err := bridge.CheckText(f.name, f.text, bridge.MaxPrompt); err != nil {
			return bridge.Record{}, err
		}
	}
	rec, err := e.store.Load(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	if !rec.State.Final() {
		return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "interaction %s is still pending", id).WithHint("wait for its end, or cancel it")
	}
	return e.store.Mark(ctx, id, bridge.Mark{Completed: &c})
}

// messageBatch is how many messages are handed out at once.
const messageBatch = 100

// Messages returns the late answers of a session that its agent has not
// acknowledged, oldest first.
func (e *Engine) Messages(ctx context.Context, agent, session string) ([]bridge.Message, error) {
	return e.store.Messages(ctx, agent, session, messageBatch)
}

// Acknowledge forgets the messages of a session up to one; their cards say that
// the agent has the answer.
func (e *Engine) Acknowledge(ctx context.Context, agent, session, through string) error {
	ids, err := e.store.Acknowledge(ctx, agent, session, through)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := e.store.Mark(ctx, id, bridge.Mark{Delivered: true}); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
}

// Availability counts who could answer a request on a route, in a session that
// may be empty.
func (e *Engine) Availability(ctx context.Context, agent bridge.Agent, route, session string) (bridge.Availability, error) {
	var out bridge.Availability
	i, err := e.interaction(agent, bridge.Request{Ask: bridge.Ask{
		Route: route, Session: session, Prompt: "?", Kind: bridge.KindAsk, Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetText, MaxLength: 1}},
	}}, nil)
	if err != nil {
		return out, err
	}
	failures, err := e.reach(i)
	if err == nil {
		failures, err = e.closed(ctx, i, failures)
	}
	if err != nil {
		return out, err
	}
	for n, d := range i.Destinations {
		why, failed := failures[n]
		out.Destinations = append(out.Destinations, bridge.Reach{Destination: d, Reachable: !failed, Reason: why})
		out.Available = out.Available || !failed
	}
	if session != "" {
		if out.Clients, out.Enabled, err = e.store.Present(ctx, session); err != nil {
			return out, err
		}
		out.Available = out.Available || out.Enabled > 0
	}
	return out, nil
}

func (e *Engine) frontEnds(ctx context.Context, session string) (bool, error) {
	if session == "" {
		return false, nil
	}
	_, enabled, err := e.store.Present(ctx, session)
	return enabled > 0, err
}

// Responds reports whether a person may answer on any route.
func (e *Engine) Responds(person string) bool {
	for _, route := range e.routes {
		if slices.ContainsFunc(route.Responders, func(r bridge.Responder) bool { return r.Person == person }) {
			return true
		}
		if in, err := e.memberOfAny(context.Background(), route.Groups, bridge.Actor{Platform: bridge.PlatformAPI, User: person, Person: person}); err == nil && in {
			return true
		}
	}
	return false
}

// Join counts a front end among those of a session, for PresenceTTL.
func (e *Engine) Join(ctx context.Context, session, client string, enabled bool) error {
	return e.store.Join(ctx, session, client, enabled)
}

// Leave stops counting a front end.
func (e *Engine) Leave(ctx context.Context, session, client string) error {
	return e.store.Leave(ctx, session, client)
}
