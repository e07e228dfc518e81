package bridge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/visible"
)

// Reprompt asks again after an answer that the agent could not use, or instead
// of a question that is still pending. The follow-up is evaluated as if it were
// new. It keeps session and correlation, takes over the messages if its
// destinations are the same, and starts with the earlier values filled in if
// the questions have the same IDs. It returns CodeConflict if the rounds are
// used up or the interaction was asked again already, and CodeForbidden if the
// policy denies the follow-up.
func (e *Engine) Reprompt(ctx context.Context, agent Agent, id ID, r Request, key string) (Record, error) {
	before, err := e.Get(ctx, id) // what was changed outside nod has no follow-up
	if err != nil {
		return Record{}, err
	}
	digest, err := r.sent(id)
	if err != nil {
		return Record{}, err
	}
	r = inherit(before, r)
	if err := r.Normalize(); err != nil {
		return Record{}, err
	}
	fillIn(before, &r)
	return e.again(ctx, agent, before, r, followUp{key: key, digest: digest})
}

// inherit fills what a request to ask again leaves out.
func inherit(before Record, r Request) Request {
	i := before.Interaction
	if r.Prompt == "" {
		r.Prompt = i.Prompt
	}
	same := r.Approval == nil && len(r.Questions) == 0
	if same {
		r.Questions, r.Approval = i.Questions, i.Approval
		if i.Redacted > 0 && i.Approval != nil { // what was masked is not here to grant
			a := *i.Approval
			a.limit([]Scope{ScopeOnce})
			r.Approval = &a
		}
	}
	if r.Timeout == 0 {
		r.Timeout = Duration(i.Deadline.Sub(i.Created))
		if !before.Queued.IsZero() || !before.Escalated.IsZero() {
			r.Timeout = 0 // the deadline was moved; the default is a better guess
		}
	}
	if r.OnTimeout == "" && (same || i.OnTimeout != OnTimeoutDeny && i.OnTimeout != OnTimeoutDefault) {
		r.OnTimeout = i.OnTimeout // those two depend on what is asked
	}
	r.Session, r.ToolCall, r.Turn, r.ResponseID, r.ToolName = i.Session, i.ToolCall, i.Turn, i.ResponseID, i.ToolName
	if i.Requester != "" {
		r.Requester = i.Requester
	}
	r.Route, r.Hold, r.CancelOnDisconnect, r.Presentation, r.MaxRounds = i.own(), i.Hold, i.CancelOnDisconnect, i.Presentation, i.MaxRounds
	r.Declinable = i.Declinable && r.Approval == nil
	r.OneAtATime = false // it takes the place of the one before
	return r
}

// fillIn fills in the earlier values that fit the questions, and keeps the
// completed view if it fits, unless the request has its own.
func fillIn(before Record, r *Request) {
	if c := before.Interaction.CompletedView; r.CompletedView == nil && c != nil && c.check(r.Questions) == nil {
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
		if _, problem := (Interaction{Questions: []Question{q}}).split(map[string]Answer{q.ID: a}); problem != "" {
			continue // the question has another form now
		}
		if r.Initial == nil {
			r.Initial = map[string]Answer{}
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
func (e *Engine) again(ctx context.Context, agent Agent, before Record, r Request, f followUp) (Record, error) {
	was := before.Interaction
	if err := checkText("Idempotency-Key", f.key, 200); err != nil {
		return Record{}, err
	}
	if was.Round >= was.MaxRounds {
		return Record{}, Errorf(CodeConflict, "this was asked %d times, which is its limit", was.Round).WithHint("ask with a higher max_rounds, or finish without the answer")
	}
	if err := e.permit(ctx, agent, &r); err != nil {
		return Record{}, err
	}
	i, ruling, err := e.prepare(ctx, agent, r)
	if err != nil {
		return Record{}, err
	}
	if ruling.Effect == EffectDeny {
		return Record{}, Errorf(CodeForbidden, "the policy denies it: %s", i.ruled(ruling).Reason)
	}
	if i.ID, err = NewID(was.ID.Partition()); err != nil {
		return Record{}, err
	}
	i.Round, i.Previous = was.Round+1, was.ID
	if slices.Equal(i.routeNames(), was.routeNames()) {
		e.carryOver(&i, before)
	}
	if slices.Equal(i.Destinations, was.Destinations) {
		if i.Root = was.Root; i.Root == "" {
			i.Root = was.ID
		}
	}
	o := e.opening(i, f.key)
	o.RequestDigest, o.Queued, o.Limited = f.digest, f.queued, agent.MaxPending > 0
	o.Superseded = Response{State: StateSuperseded, Annotations: map[string]Annotation{}, At: i.Created, Digest: was.Digest}
	if err := e.answered(ctx, &o, ruling); err != nil || o.Response != nil {
		if err != nil {
			return Record{}, err
		}
		return e.openStored(ctx, o)
	}
	if i.Root == "" {
		err = e.findPeople(ctx, &o)
	} else if o.Failures, err = e.reach(i); err == nil {
		o.FrontEnds, err = e.frontEnds(ctx, i.Session)
	}
	if err != nil {
		return Record{}, err
	}
	return e.openStored(ctx, o)
}

// carryOver keeps the people and places that were added to the round before,
// which has the same routes.
func (e *Engine) carryOver(i *Interaction, before Record) {
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
	if i.OnTimeout == OnTimeoutEscalate {
		i.OnTimeout = OnTimeoutExpire
	}
}

// Queue tells the agent of an interaction that the answer comes later: while it
// is pending, it stays open for hold (0: as the request said), and a late
// answer becomes a message to its session. One that was answered is asked
// again in the same way.
func (e *Engine) Queue(ctx context.Context, agent Agent, id ID, hold Duration, message string) (Record, error) {
	rec, err := e.Get(ctx, id)
	if err != nil {
		return Record{}, err
	}
	i := rec.Interaction
	if i.Session == "" {
		return Record{}, Errorf(CodeInvalid, "session: is needed to be told later").WithHint("open the request with a session")
	}
	if err := checkText("message", message, MaxText); err != nil {
		return Record{}, err
	}
	if hold == 0 {
		hold = i.Hold
	}
	if err := checkHold(hold); err != nil {
		return Record{}, err
	}
	if !rec.State.Final() {
		return e.store.Mark(ctx, id, Mark{Queued: time.Duration(hold)})
	}
	if rec.State != StateAnswered && rec.State != StateDenied && rec.State != StateExpired {
		return Record{}, Errorf(CodeConflict, "interaction %s has ended: %s", id, rec.State)
	}
	r := inherit(rec, Request{Hold: hold, Error: message})
	r.Hold = hold
	if err := r.Normalize(); err != nil {
		return Record{}, err
	}
	fillIn(rec, &r)
	return e.again(ctx, agent, rec, r, followUp{queued: true})
}

// Complete notes what the agent's tool made of a response; people see it below
// their answer. Only the first note counts. CodeConflict while it is pending.
func (e *Engine) Complete(ctx context.Context, id ID, c Completion) (Record, error) {
	c.Result, c.Error = e.veilText(c.Result), e.veilText(c.Error)
	for _, f := range []struct{ name, text string }{{"result", c.Result}, {"error", c.Error}} {
		if err := checkText(f.name, f.text, MaxPrompt); err != nil {
			return Record{}, err
		}
	}
	rec, err := e.store.Load(ctx, id)
	if err != nil {
		return Record{}, err
	}
	if !rec.State.Final() {
		return Record{}, Errorf(CodeConflict, "interaction %s is still pending", id).WithHint("wait for its end, or cancel it")
	}
	return e.store.Mark(ctx, id, Mark{Completed: &c})
}

// Message is a late answer for a session.
type Message struct {
	ID      string    `json:"id"` // acknowledges it and all before it
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	// Text is the answer in words, to be handed to the agent as a user's message.
	Text   string `json:"text"`
	Record Record `json:"record"`
}

// NewMessage makes the message of a record that was answered late.
func NewMessage(id string, r Record) Message {
	m := Message{ID: id, Session: r.Interaction.Session, Record: r}
	var b strings.Builder
	b.WriteString("Late answer to: " + oneLine(r.Interaction.Prompt) + "\n")
	if r.Response == nil {
		m.Text = b.String()
		return m
	}
	m.At = r.Response.At
	switch r.State {
	case StateAnswered:
		for _, q := range r.Interaction.Questions {
			name := q.Text
			if name == "" {
				name = "Answer"
			}
			b.WriteString(oneLine(name) + ": " + q.Labels(r.Response.Answers[q.ID]) + "\n")
		}
	default:
		b.WriteString("Decision: " + r.Outcome() + "\n")
		if r.Response.Reason != "" {
			b.WriteString("Reason: " + r.Response.Reason + "\n")
		}
	}
	if a := r.Response.Actor; a != nil {
		b.WriteString("By: " + a.Display() + " on " + a.Platform + "\n")
	}
	m.Text = b.String()
	return m
}

func oneLine(s string) string { return visible.Line(s) }

// messageBatch is how many messages are handed out at once.
const messageBatch = 100

// Messages returns the late answers of a session that its agent has not
// acknowledged, oldest first.
func (e *Engine) Messages(ctx context.Context, agent, session string) ([]Message, error) {
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
		if _, err := e.store.Mark(ctx, id, Mark{Delivered: true}); err != nil && ErrorCode(err) != CodeNotFound {
			return err
		}
	}
	return nil
}

// Reach is how a destination can be reached.
type Reach struct {
	Destination
	Reachable bool   `json:"reachable"`
	Reason    string `json:"reason,omitempty"` // why not
}

// Availability tells whether anybody could answer now.
type Availability struct {
	Available bool `json:"available"`
	// Clients are the front ends connected to the session, Enabled those of
	// them that can answer.
	Clients      int     `json:"clients"`
	Enabled      int     `json:"enabled"`
	Destinations []Reach `json:"destinations"`
}

// Availability counts who could answer a request on a route, in a session that
// may be empty.
func (e *Engine) Availability(ctx context.Context, agent Agent, route, session string) (Availability, error) {
	var out Availability
	i, err := e.interaction(agent, Request{Route: route, Session: session, Prompt: "?", Kind: KindAsk, Questions: []Question{{ID: "q", Widget: WidgetText, MaxLength: 1}}}, nil)
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
		out.Destinations = append(out.Destinations, Reach{Destination: d, Reachable: !failed, Reason: why})
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
		if slices.ContainsFunc(route.Responders, func(r Responder) bool { return r.Person == person }) {
			return true
		}
		if in, err := e.memberOfAny(context.Background(), route.Groups, Actor{Platform: PlatformAPI, User: person, Person: person}); err == nil && in {
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
