package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
)

// Open validates a request, finds out whether and where people are asked, and
// stores it. A repeat with the same idempotency key, which may be empty,
// returns the first record.
func (e *Engine) Open(ctx context.Context, agent bridge.Agent, r bridge.Request, key string) (bridge.Record, error) {
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	if err := bridge.CheckText("Idempotency-Key", key, 200); err != nil {
		return bridge.Record{}, err
	}
	digest, err := proof.Sent(r.Ask, "")
	if err != nil {
		return bridge.Record{}, err
	}
	if err := e.permit(ctx, agent, &r); err != nil {
		return bridge.Record{}, err
	}
	i, ruling, err := e.prepare(ctx, agent, r)
	if err != nil {
		return bridge.Record{}, err
	}
	if i.ID, err = e.store.NewID(i.Session, key); err != nil {
		return bridge.Record{}, err
	}
	o := e.opening(i, key)
	o.RequestDigest, o.Awaited, o.Limited = digest, r.Awaited, agent.MaxPending > 0
	if err := e.answered(ctx, &o, ruling); err != nil {
		return bridge.Record{}, err
	}
	if o.Response == nil {
		if err := e.findPeople(ctx, &o); err != nil {
			return bridge.Record{}, err
		}
	}
	if r.OneAtATime {
		return e.openAlone(ctx, o)
	}
	return e.openStored(ctx, o)
}

// answered fills in the response of a request that the policy or a grant
// decides.
func (e *Engine) answered(ctx context.Context, o *bridge.Opening, ruling bridge.Ruling) error {
	if o.Response = o.Interaction.Ruled(ruling); o.Response != nil {
		return nil
	}
	var err error
	o.Response, err = e.granted(ctx, o.Interaction)
	return err
}

// prepare makes the interaction of a request, as the policy wants it.
func (e *Engine) prepare(ctx context.Context, agent bridge.Agent, r bridge.Request) (bridge.Interaction, bridge.Ruling, error) {
	return e.prepareUnder(ctx, agent, r, e.judge(agent, &r))
}

// prepareUnder makes the interaction of a request under a ruling.
func (e *Engine) prepareUnder(ctx context.Context, agent bridge.Agent, r bridge.Request, ruling bridge.Ruling) (bridge.Interaction, bridge.Ruling, error) {
	i, err := e.interaction(agent, r, ruling.Routes)
	if err != nil {
		return i, ruling, err
	}
	i.Trace = traceOf(ctx)
	i.Rule, i.Risk, i.PolicyVersion = ruling.Rule, ruling.Risk, e.rules
	i.Quorum = max(i.Quorum, ruling.Quorum)
	if i.Counted() {
		i.Batch = 0 // each shows who has approved
		i.Approval.WithoutEdit()
	}
	sent := i
	err = e.veil(&i, ruling.Redact)
	if err == nil {
		err = grantable(&i, ruling, sent)
	}
	return i, ruling, err
}

// opening prepares what is stored, except for whom it reaches.
func (e *Engine) opening(i bridge.Interaction, key string) bridge.Opening {
	o := bridge.Opening{Interaction: i, IdempotencyKey: key, Timeout: i.TimeoutResponse(), AfterHold: bridge.Response{
		State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, Digest: i.Digest, Reason: "nobody answered while it was queued",
	}}
	if i.Escalation != nil {
		next := i.Escalated()
		o.Escalated = &next
	}
	return o
}

// findPeople finds out who can be reached; nobody ends the opening at once.
func (e *Engine) findPeople(ctx context.Context, o *bridge.Opening) error {
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
		o.Response = &bridge.Response{State: bridge.StateUndeliverable, Reason: e.failureText(i, closed), Annotations: map[string]bridge.Annotation{}, At: i.Created, Digest: i.Digest}
	}
	return nil
}

func (e *Engine) openStored(ctx context.Context, o bridge.Opening) (bridge.Record, error) {
	i := o.Interaction
	rec, created, err := e.store.Open(ctx, o)
	if err == nil && created {
		e.log.Info("opened", "id", i.ID, "kind", i.Kind, "agent", i.Agent, "state", rec.State, "destinations", len(i.Destinations), "round", i.Round)
	}
	if err != nil {
		return rec, err
	}
	return rec, rec.Trusted()
}

const (
	aloneLease = 5 * time.Second
	alonePoll  = 20 * time.Millisecond
)

// openAlone opens unless something of the session is pending.
func (e *Engine) openAlone(ctx context.Context, o bridge.Opening) (bridge.Record, error) {
	i := o.Interaction
	lease, holder := "one:"+i.Agent+"/"+i.Session, uuid.NewString()
	for {
		held, err := e.store.Hold(ctx, lease, holder, aloneLease)
		if err != nil {
			return bridge.Record{}, err
		}
		if held {
			break
		}
		if !bridge.Pause(ctx, alonePoll) {
			return bridge.Record{}, ctx.Err()
		}
	}
	defer func() {
		if err := e.store.Release(context.WithoutCancel(ctx), lease, holder); err != nil {
			e.log.Warn("lease not given back, it will end by itself", "lease", lease, "error", err)
		}
	}()
	if known, err := e.store.Known(ctx, i.Agent, i.Session, o.IdempotencyKey); err != nil {
		return bridge.Record{}, err
	} else if known {
		return e.openStored(ctx, o) // a repeat finds its first, which may be the one that is pending
	}
	pending, err := e.store.Pending(ctx, i.Agent, i.Session)
	if err != nil {
		return bridge.Record{}, err
	}
	for _, id := range pending {
		rec, err := e.store.Load(ctx, id)
		if err != nil || !rec.Over() {
			return bridge.Record{}, bridge.Errorf(bridge.CodeConflict, "one_at_a_time: %s of this session is pending", id).WithHint("wait for its end, or cancel it")
		}
	}
	return e.openStored(ctx, o)
}

// interaction makes the interaction of a request that goes to the routes that
// its ruling names. An agent that is limited to some routes may name only
// those; the routes of the ruling are the operator's.
func (e *Engine) interaction(agent bridge.Agent, r bridge.Request, named []string) (bridge.Interaction, error) {
	names := routesOf(r.Route, named)
	own := routesOf(r.Route, nil)[0]
	if (r.Route != "" || slices.Contains(names, own)) && len(agent.Routes) > 0 && !slices.Contains(agent.Routes, own) {
		return bridge.Interaction{}, bridge.Errorf(bridge.CodeForbidden, "route: agent %s may not use %q", agent.Name, own)
	}
	var err error
	now := time.Now().UTC().Truncate(time.Millisecond)
	i := bridge.Interaction{
		Ask:      r.Opened(),
		Agent:    agent.Name,
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Duration(r.Timeout))},
		Lineage:  bridge.Lineage{Round: 1},
		Webhooks: e.webhooksFor(agent.Name),
	}
	if err = e.addressed(&i, agent, r.OnTimeout, names); err != nil {
		return bridge.Interaction{}, err
	}
	if len(names) > 1 || names[0] != own {
		i.OwnRoute = own
	}
	if r.Batches() && len(i.Steps) == 0 {
		i.MaxRounds = 1 // another round could not take its message over
	} else {
		i.Batch = 0
	}
	if i.Digest, err = proof.NormalizedDigest(r.Ask); err != nil {
		return bridge.Interaction{}, err
	}
	return i, nil
}

// steps are those of a route as they are now: what becomes of the config later
// does not change them.
func (e *Engine) steps(route bridge.Route) ([]bridge.Step, error) {
	out := slices.Clone(route.Steps)
	places := len(route.Destinations)
	for n := range out {
		if out[n].Route == "" {
			continue
		}
		next, ok := e.routes[out[n].Route]
		if places += len(next.Destinations); !ok || places > bridge.MaxDestinations {
			return nil, bridge.Errorf(bridge.CodeInvalid, "route: step %d can not go to %q", n+1, out[n].Route)
		}
		out[n].Destinations, out[n].Responders, out[n].Groups = next.Destinations, next.Responders, next.Groups
	}
	return out, nil
}

// escalation is who the route asks next.
func (e *Engine) escalation(name string, route bridge.Route) (*bridge.Escalation, error) {
	next, ok := e.routes[route.EscalateTo]
	if route.EscalateTo == "" || !ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "on_timeout: route %q does not escalate", name).WithHint("set escalate_to of the route in the config")
	}
	if n := len(route.Destinations) + len(next.Destinations); n > bridge.MaxDestinations {
		return nil, bridge.Errorf(bridge.CodeInvalid, "route: %q and %q have %d destinations together, more than %d", name, route.EscalateTo, n, bridge.MaxDestinations)
	}
	return &bridge.Escalation{Route: route.EscalateTo, Destinations: next.Destinations, Responders: next.Responders, Groups: next.Groups}, nil
}

// reach asks every destination whether it can show the interaction. The error
// is CodeUnsupported if none can; what is merely away is in the map.
func (e *Engine) reach(i bridge.Interaction) (map[int]string, error) {
	failures := map[int]string{}
	var refusal *bridge.Error
	refused := 0
	for n, d := range i.Destinations {
		p, ok := e.platforms[d.Platform]
		if !ok {
			failures[n] = "platform " + d.Platform + " is not configured"
			continue
		}
		if err := p.Check(i, d); err != nil {
			failures[n] = bridge.PublicError(err).Message
			refusal = bridge.PublicError(err)
			refused++
			continue
		}
		if h, ok := p.(bridge.Healther); ok {
			if s := h.Health(); s.State == bridge.HealthDown {
				failures[n] = d.Platform + ": " + s.Reason
			}
		}
	}
	if refused == len(i.Destinations) {
		return nil, refusal
	}
	return failures, nil
}

// closed says by destination why nobody can answer there: what cannot be
// reached, and what is read-only.
func (e *Engine) closed(ctx context.Context, i bridge.Interaction, failures map[int]string) (map[int]string, error) {
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

func (e *Engine) failureText(i bridge.Interaction, failures map[int]string) string {
	var s []string
	for n := range i.Destinations {
		if f := failures[n]; f != "" && !slices.Contains(s, f) {
			s = append(s, f)
		}
	}
	return strings.Join(s, "; ")
}
