package bridge

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Open validates a request, finds out whether and where people are asked, and
// stores it. A repeat with the same idempotency key, which may be empty,
// returns the first record.
func (e *Engine) Open(ctx context.Context, agent Agent, r Request, key string) (Record, error) {
	if err := r.Normalize(); err != nil {
		return Record{}, err
	}
	if err := checkText("Idempotency-Key", key, 200); err != nil {
		return Record{}, err
	}
	key = e.veilKey(key)
	if err := e.permit(ctx, agent, &r); err != nil {
		return Record{}, err
	}
	i, ruling, err := e.prepare(ctx, agent, r)
	if err != nil {
		return Record{}, err
	}
	if i.ID, err = e.store.NewID(i.Session, key); err != nil {
		return Record{}, err
	}
	o := e.opening(i, key)
	o.Awaited, o.Limited = r.Awaited, agent.MaxPending > 0
	if o.Response = i.ruled(ruling); o.Response == nil {
		if o.Response, err = e.granted(ctx, i); err != nil {
			return Record{}, err
		}
	}
	if o.Response == nil {
		if err := e.findPeople(ctx, &o); err != nil {
			return Record{}, err
		}
	}
	if r.OneAtATime {
		return e.openAlone(ctx, o)
	}
	return e.openStored(ctx, o)
}

// prepare makes the interaction of a request, as the policy wants it.
func (e *Engine) prepare(ctx context.Context, agent Agent, r Request) (Interaction, Ruling, error) {
	ruling := e.judge(agent, &r)
	i, err := e.interaction(agent, r)
	if err != nil {
		return i, ruling, err
	}
	i.Trace = traceOf(ctx)
	i.Rule, i.Risk = ruling.Rule, ruling.Risk
	i.Quorum = max(i.Quorum, ruling.Quorum)
	if i.counted() {
		i.Batch = 0 // each shows who has approved
		i.Approval.withoutEdit()
	}
	if i.Approval != nil {
		i.grantable(ruling)
	}
	err = e.veil(&i, ruling.Redact)
	if i.Approval != nil && i.Covers == "" {
		i.Covers = i.Approval.covers() // of what people see
	}
	return i, ruling, err
}

// opening prepares what is stored, but for whom it reaches.
func (e *Engine) opening(i Interaction, key string) Opening {
	o := Opening{Interaction: i, IdempotencyKey: key, Timeout: i.timeoutResponse(), AfterHold: Response{
		State: StateExpired, Annotations: map[string]Annotation{}, Digest: i.Digest, Reason: "nobody answered while it was queued",
	}}
	if i.Escalation != nil {
		next := i
		next.Destinations = append(slices.Clone(i.Destinations), missing(i.Destinations, i.Escalation.Destinations)...)
		next.Responders = append(slices.Clone(i.Responders), missing(i.Responders, i.Escalation.Responders)...)
		next.Groups = append(slices.Clone(i.Groups), missing(i.Groups, i.Escalation.Groups)...)
		next.Deadline = i.Deadline.Add(i.Deadline.Sub(i.Created))
		o.Escalated = &next
	}
	return o
}

// missing are the elements of b that a lacks.
func missing[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(b), func(v T) bool { return slices.Contains(a, v) })
}

// findPeople finds out who can be reached; nobody ends the opening at once.
func (e *Engine) findPeople(ctx context.Context, o *Opening) error {
	i := o.Interaction
	var err error
	if o.Failures, err = e.reach(i); err != nil {
		return err
	}
	closed, err := e.closed(ctx, i, o.Failures)
	if err != nil {
		return err
	}
	if o.FrontEnds, err = e.frontEnds(ctx, i.Session); err != nil {
		return err
	}
	if len(closed) == len(i.Destinations) && !o.FrontEnds {
		o.Failures = closed
		o.Response = &Response{State: StateUndeliverable, Reason: e.failureText(i, closed), Annotations: map[string]Annotation{}, At: i.Created, Digest: i.Digest}
	}
	return nil
}

func (e *Engine) openStored(ctx context.Context, o Opening) (Record, error) {
	i := o.Interaction
	rec, created, err := e.store.Open(ctx, o)
	if err == nil && created {
		e.log.Info("opened", "id", i.ID, "kind", i.Kind, "agent", i.Agent, "state", rec.State, "destinations", len(i.Destinations), "round", i.Round)
	}
	if err != nil {
		return rec, err
	}
	return e.sealed(rec)
}

// How long an opening that has to be alone holds the session, and how long
// another waits for it.
const (
	aloneLease = 5 * time.Second
	alonePoll  = 20 * time.Millisecond
)

// openAlone opens unless something of the session is pending.
func (e *Engine) openAlone(ctx context.Context, o Opening) (Record, error) {
	i := o.Interaction
	lease, holder := "one:"+i.Agent+"/"+i.Session, uuid.NewString()
	for {
		held, err := e.store.Hold(ctx, lease, holder, aloneLease)
		if err != nil {
			return Record{}, err
		}
		if held {
			break
		}
		if !Pause(ctx, alonePoll) {
			return Record{}, ctx.Err()
		}
	}
	defer func() {
		if err := e.store.Release(context.WithoutCancel(ctx), lease, holder); err != nil {
			e.log.Warn("lease not given back, it will end by itself", "lease", lease, "error", err)
		}
	}()
	if known, err := e.store.Known(ctx, i.Agent, i.Session, o.IdempotencyKey); err != nil {
		return Record{}, err
	} else if known {
		return e.openStored(ctx, o) // a repeat finds its first, which may be the one that is pending
	}
	pending, err := e.store.Pending(ctx, i.Agent, i.Session)
	if err != nil {
		return Record{}, err
	}
	for _, id := range pending {
		rec, err := e.store.Load(ctx, id)
		if err != nil || !rec.Over() {
			return Record{}, Errorf(CodeConflict, "one_at_a_time: %s of this session is pending", id).WithHint("wait for its end, or cancel it")
		}
	}
	return e.openStored(ctx, o)
}

func (e *Engine) interaction(agent Agent, r Request) (Interaction, error) {
	name := r.Route
	if name == "" {
		name = DefaultRoute
	}
	if len(agent.Routes) > 0 && !slices.Contains(agent.Routes, name) {
		return Interaction{}, Errorf(CodeForbidden, "route: agent %s may not use %q", agent.Name, name)
	}
	route, ok := e.routes[name]
	if !ok {
		return Interaction{}, Errorf(CodeInvalid, "route: there is no %q", name).WithHint("known routes: %s", strings.Join(slices.Sorted(maps.Keys(e.routes)), ", "))
	}
	if len(route.Responders)+len(route.Groups) == 0 {
		return Interaction{}, Errorf(CodeForbidden, "route: nobody may answer on %q", name).WithHint("name responders for the route in the config")
	}
	if n := len(route.Destinations); n == 0 || n > MaxDestinations {
		return Interaction{}, Errorf(CodeInvalid, "route: %q has %d destinations, want 1 to %d", name, n, MaxDestinations)
	}
	var err error
	now := time.Now().UTC().Truncate(time.Millisecond)
	i := Interaction{
		Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions, Approval: r.Approval,
		Agent: agent.Name, Session: r.Session, ToolCall: r.ToolCall, Turn: r.Turn, ResponseID: r.ResponseID, ToolName: r.ToolName,
		Route: name, Destinations: slices.Clone(route.Destinations), Responders: slices.Clone(route.Responders), Groups: slices.Clone(route.Groups),
		Requester: r.Requester,
		Created:   now, Deadline: now.Add(time.Duration(r.Timeout)), OnTimeout: r.OnTimeout, Hold: r.Hold,
		CancelOnDisconnect: r.CancelOnDisconnect, Declinable: r.Declinable, Presentation: r.Presentation, CompletedView: r.CompletedView,
		Initial: r.Initial, Error: r.Error, Round: 1, MaxRounds: r.MaxRounds, Grace: r.Grace, Join: r.Join, Webhooks: e.webhooksFor(agent.Name),
	}
	if !route.AllowSelf {
		i.Requesters = slices.Clone(agent.Owners)
		if r.Requester != "" && !slices.Contains(i.Requesters, r.Requester) {
			i.Requesters = append(i.Requesters, r.Requester)
		}
	}
	if r.Kind == KindApproval {
		i.Quorum, i.Must, i.DenyCounts = route.Quorum, slices.Clone(route.Must), route.DenyCounts
	}
	if r.Kind != KindNotice {
		i.Quiet, i.Snooze, i.HandOver = route.Quiet, Duration(route.Snooze), slices.Clone(route.HandOver)
		if i.Steps, err = e.steps(route); err != nil {
			return Interaction{}, err
		}
	}
	if r.batches() && len(i.Steps) == 0 {
		i.Batch, i.MaxRounds = r.Batch, 1 // another round could not take its message over
	}
	if r.OnTimeout == OnTimeoutEscalate {
		if i.Escalation, err = e.escalation(name, route); err != nil {
			return Interaction{}, err
		}
	}
	if i.Digest, err = r.digest(); err != nil {
		return Interaction{}, err
	}
	return i, nil
}

// steps are those of a route as they are now: what becomes of the config later
// does not change them.
func (e *Engine) steps(route Route) ([]Step, error) {
	out := slices.Clone(route.Steps)
	places := len(route.Destinations)
	for n := range out {
		if out[n].Route == "" {
			continue
		}
		next, ok := e.routes[out[n].Route]
		if places += len(next.Destinations); !ok || places > MaxDestinations {
			return nil, Errorf(CodeInvalid, "route: step %d can not go to %q", n+1, out[n].Route)
		}
		out[n].Destinations, out[n].Responders, out[n].Groups = next.Destinations, next.Responders, next.Groups
	}
	return out, nil
}

// escalation is who the route asks next.
func (e *Engine) escalation(name string, route Route) (*Escalation, error) {
	next, ok := e.routes[route.EscalateTo]
	if route.EscalateTo == "" || !ok {
		return nil, Errorf(CodeInvalid, "on_timeout: route %q does not escalate", name).WithHint("set escalate_to of the route in the config")
	}
	if n := len(route.Destinations) + len(next.Destinations); n > MaxDestinations {
		return nil, Errorf(CodeInvalid, "route: %q and %q have %d destinations together, more than %d", name, route.EscalateTo, n, MaxDestinations)
	}
	return &Escalation{Route: route.EscalateTo, Destinations: next.Destinations, Responders: next.Responders, Groups: next.Groups}, nil
}

// reach asks every destination whether it can show the interaction. The error
// is CodeUnsupported if none can; what is merely away is in the map.
func (e *Engine) reach(i Interaction) (map[int]string, error) {
	failures := map[int]string{}
	var refusal *Error
	refused := 0
	for n, d := range i.Destinations {
		p, ok := e.platforms[d.Platform]
		if !ok {
			failures[n] = "platform " + d.Platform + " is not configured"
			continue
		}
		if err := p.Check(i, d); err != nil {
			failures[n] = PublicError(err).Message
			refusal = PublicError(err)
			refused++
			continue
		}
		if h, ok := p.(Healther); ok {
			if s := h.Health(); s.State == HealthDown {
				failures[n] = d.Platform + ": " + s.Reason
			}
		}
	}
	if refused == len(i.Destinations) {
		return nil, refusal
	}
	return failures, nil
}

// closed says by destination why nobody can answer there: what can not be
// reached, and what is read-only.
func (e *Engine) closed(ctx context.Context, i Interaction, failures map[int]string) (map[int]string, error) {
	out := map[int]string{}
	for n, d := range i.Destinations {
		if why := failures[n]; why != "" {
			out[n] = why
			continue
		}
		off, err := e.muted(ctx, d)
		if err != nil {
			return nil, err
		}
		if off {
			out[n] = d.Platform + ": the channel is read-only for nod"
		}
	}
	return out, nil
}

func (e *Engine) failureText(i Interaction, failures map[int]string) string {
	var s []string
	for n := range i.Destinations {
		if f := failures[n]; f != "" && !slices.Contains(s, f) {
			s = append(s, f)
		}
	}
	return strings.Join(s, "; ")
}

// timeoutResponse is what stands if nobody answers.
func (i Interaction) timeoutResponse() Response {
	if i.Kind == KindNotice {
		return Response{State: StateUndeliverable, Reason: "it could not be shown in time", Annotations: map[string]Annotation{}, At: i.Deadline, Digest: i.Digest}
	}
	r := Response{State: StateExpired, Annotations: map[string]Annotation{}, At: i.Deadline, Digest: i.Digest}
	switch i.OnTimeout {
	case OnTimeoutDeny:
		r.State, r.Reason = StateDenied, "nobody answered in time"
	case OnTimeoutPending:
		r.State = StatePending
	case OnTimeoutDefault:
		i.Initial = nil // what was filled in is no default
		defaults, _ := i.Respond(nil)
		r.State, r.Reason, r.Answers = StateAnswered, "nobody answered in time; these are the defaults", defaults.Answers
	}
	return r
}
