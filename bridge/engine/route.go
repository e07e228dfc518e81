package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// covers returns the indexes of the slots that an approver counts for.
func (e *Engine) covers(ctx context.Context, i bridge.Interaction, actor bridge.Actor) ([]int, error) {
	var out []int
	on := make([]bool, len(i.Requirements))
	for n, q := range i.Requirements {
		var err error
		if on[n], err = e.responds(ctx, q.Responders, q.Groups, actor); err != nil {
			return nil, err
		}
	}
	for n, s := range i.ApprovalSlots() {
		in := s.Requirement < 0 || on[s.Requirement]
		if in && s.Must != "" {
			var err error
			if in, err = e.named(ctx, s.Must, actor); err != nil {
				return nil, err
			}
		}
		if in {
			out = append(out, n)
		}
	}
	return out, nil
}

// named reports whether a name, of a person or with GroupMark of a group,
// includes an actor.
func (e *Engine) named(ctx context.Context, name string, actor bridge.Actor) (bool, error) {
	group, isGroup := strings.CutPrefix(name, bridge.GroupMark)
	if !isGroup || e.directory == nil {
		return name == actor.Person, nil
	}
	return e.directory.Member(ctx, group, actor)
}

// routesOf are the routes of a request whose ruling names some: its own where
// the ruling says so or names none.
func routesOf(own string, named []string) []string {
	if own == "" {
		own = bridge.DefaultRoute
	}
	var out []string
	for _, name := range named {
		if name == "" {
			name = own
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return []string{own}
	}
	return out
}

// route returns a route that requests can go to.
func (e *Engine) route(name string) (bridge.Route, error) {
	route, ok := e.routes[name]
	switch {
	case !ok:
		known := strings.Join(slices.Sorted(maps.Keys(e.routes)), ", ")
		return route, bridge.Errorf(bridge.CodeInvalid, "route: there is no %q", name).WithHint("known routes: %s", known)
	case len(route.Responders)+len(route.Groups) == 0:
		return route, bridge.Errorf(bridge.CodeForbidden, "route: nobody may answer on %q", name).
			WithHint("name responders for the route in the config")
	}
	if n := len(route.Destinations); n == 0 || n > bridge.MaxDestinations {
		return route, bridge.Errorf(bridge.CodeInvalid, "route: %q has %d destinations, want 1 to %d", name, n, bridge.MaxDestinations)
	}
	return route, nil
}

// addressed fills in where a request is shown, who may respond, and what their
// routes require.
func (e *Engine) addressed(i *bridge.Interaction, agent bridge.Agent, onTimeout bridge.OnTimeout, names []string) error {
	i.Route, i.DenyCounts = names[0], true
	steps := map[string][]bridge.Step{}
	self := true
	for _, name := range names {
		route, err := e.route(name)
		if err != nil {
			return err
		}
		q := bridge.Requirement{Route: name, Responders: slices.Clone(route.Responders), Groups: slices.Clone(route.Groups)}
		if i.Kind == bridge.KindApproval {
			q.Quorum, q.Must = route.Quorum, slices.Clone(route.Must)
		}
		i.DenyCounts = i.DenyCounts && route.DenyCounts && i.Kind == bridge.KindApproval
		if i.Kind != bridge.KindNotice {
			q.HandOver = slices.Clone(route.HandOver)
			if steps[name], err = e.steps(route); err != nil {
				return err
			}
			if i.Quiet == nil {
				i.Quiet = route.Quiet
			}
			i.Snooze = max(i.Snooze, bridge.Duration(route.Snooze))
		}
		if onTimeout == bridge.OnTimeoutEscalate && (route.EscalateTo != "" || len(names) == 1) {
			if q.Escalation, err = e.escalation(name, route); err != nil {
				return err
			}
		}
		self = self && route.AllowSelf
		i.Require(q, route)
	}
	if n := len(i.Destinations); n > bridge.MaxDestinations {
		return bridge.Errorf(bridge.CodeInvalid, "route: the routes %s have %d destinations together, more than %d",
			strings.Join(names, ", "), n, bridge.MaxDestinations)
	}
	if len(names) == 1 {
		only := i.Requirements[0]
		i.Requirements, i.Must, i.Escalation = nil, only.Must, only.Escalation
	}
	i.Steps = chain(names, steps)
	if !self {
		i.Requesters = slices.Clone(agent.Owners)
		if i.Requester != "" && !slices.Contains(i.Requesters, i.Requester) {
			i.Requesters = append(i.Requesters, i.Requester)
		}
	}
	return e.escalates(i, onTimeout)
}

// escalates joins the escalations of several routes.
func (e *Engine) escalates(i *bridge.Interaction, onTimeout bridge.OnTimeout) error {
	if onTimeout != bridge.OnTimeoutEscalate || len(i.Requirements) == 0 {
		return nil
	}
	all := &bridge.Escalation{}
	for _, q := range i.Requirements {
		if next := q.Escalation; next != nil {
			all.Route = strings.TrimPrefix(all.Route+", "+next.Route, ", ")
			all.Destinations = append(all.Destinations, bridge.Missing(all.Destinations, next.Destinations)...)
			all.Responders = append(all.Responders, bridge.Missing(all.Responders, next.Responders)...)
			all.Groups = append(all.Groups, bridge.Missing(all.Groups, next.Groups)...)
		}
	}
	if all.Route == "" {
		return bridge.Errorf(bridge.CodeInvalid, "on_timeout: none of the routes escalates").
			WithHint("set escalate_to of one of the routes in the config")
	}
	if n := len(i.Destinations) + len(bridge.Missing(i.Destinations, all.Destinations)); n > bridge.MaxDestinations {
		return bridge.Errorf(bridge.CodeInvalid, "route: %q with its escalation has %d destinations, more than %d",
			i.Route, n, bridge.MaxDestinations)
	}
	i.Escalation = all
	return nil
}

// chain joins the steps of several routes by the time when each is due.
func chain(names []string, steps map[string][]bridge.Step) []bridge.Step {
	if len(names) == 1 {
		return steps[names[0]]
	}
	type due struct {
		at time.Duration
		bridge.Step
	}
	var all []due
	for _, name := range names {
		at := time.Duration(0)
		for _, s := range steps[name] {
			at += time.Duration(s.After)
			s.For = name
			all = append(all, due{at, s})
		}
	}
	slices.SortStableFunc(all, func(a, b due) int { return int(a.at - b.at) })
	var out []bridge.Step
	last := time.Duration(0)
	for _, d := range all {
		d.After = bridge.Duration(d.at - last)
		last = d.at
		out = append(out, d.Step)
	}
	return out
}
