package engine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
)

// routes are the configured routes by name.
type routes map[string]bridge.Route

// find returns a route that can receive requests.
func (m routes) find(name string) (bridge.Route, error) {
	route, ok := m[name]
	switch {
	case len(m) == 0:
		return route, bridge.Errorf(bridge.CodeInvalid, "route: %q does not exist, because no route is configured", name).
			WithHint("connect a chat and set a route with nod init")
	case !ok:
		known := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
		return route, bridge.Errorf(bridge.CodeInvalid, "route: unknown route %q (routes: %s)", name, known)
	case len(route.Responders)+len(route.Groups) == 0:
		return route, bridge.Errorf(bridge.CodeForbidden, "route: %q has no responders", name).
			WithHint("set routes.%s.responders in the config", name)
	}
	if n := len(route.Destinations); n == 0 || n > bridge.MaxDestinations {
		return route, bridge.Errorf(bridge.CodeInvalid, "route: %q has %d destinations (allowed: 1 to %d)", name, n, bridge.MaxDestinations)
	}
	return route, nil
}

// address sets the destinations, the responders and the requirements of an
// interaction from its routes.
func (m routes) address(i *bridge.Interaction, agent bridge.Agent, onTimeout bridge.OnTimeout, names []string) error {
	i.Route, i.DenyCounts = names[0], true
	steps := map[string][]bridge.Step{}
	self, timeout := true, i.Deadline.Sub(i.Created)
	for _, name := range names {
		route, err := m.find(name)
		if err != nil {
			return err
		}
		q := required(i, name, route)
		if i.Kind != bridge.KindNotice {
			steps[name], err = m.steps(route, timeout)
		}
		if err != nil {
			return err
		}
		self = self && route.AllowSelf
		i.Private = i.Private || m.leadsToPrivate(route)
		i.Require(q, route)
	}
	if n := len(i.Destinations); n > bridge.MaxDestinations {
		return bridge.Errorf(bridge.CodeInvalid, "route: the routes %s have %d destinations in total (at most %d)",
			strings.Join(names, ", "), n, bridge.MaxDestinations)
	}
	if len(names) == 1 {
		only := i.Requirements[0]
		i.Requirements, i.Must = nil, only.Must
	}
	if onTimeout == bridge.OnTimeoutEscalate {
		if err := escalateBy(timeout, names, steps); err != nil {
			return err
		}
		i.Deadline = i.Deadline.Add(timeout)
	}
	i.Steps = m.chain(names, steps)
	places := i.Destinations
	for _, s := range i.Steps {
		places = append(slices.Clip(places), bridge.Missing(places, s.Destinations)...)
	}
	if n := len(places); n > bridge.MaxDestinations {
		return bridge.Errorf(bridge.CodeInvalid, "route: %q has %d destinations, including those of its steps (at most %d)",
			i.Route, n, bridge.MaxDestinations)
	}
	if !self {
		i.Requesters = slices.Clone(agent.Owners)
		if i.Requester != "" && !slices.Contains(i.Requesters, i.Requester) {
			i.Requesters = append(i.Requesters, i.Requester)
		}
	}
	return nil
}

// leadsToPrivate reports whether a route escalates to a private route.
func (m routes) leadsToPrivate(route bridge.Route) bool {
	return slices.ContainsFunc(route.Steps, func(s bridge.Step) bool { return m[s.Route].Attention.Private })
}

// required returns the requirement of a route, and applies the settings of the
// route to an interaction.
func required(i *bridge.Interaction, name string, route bridge.Route) bridge.Requirement {
	q := bridge.Requirement{
		Route: name, Responders: slices.Clone(route.Responders), Groups: slices.Clone(route.Groups),
	}
	if i.Kind == bridge.KindApproval {
		q.Quorum, q.Must = route.Quorum, slices.Clone(route.Must)
		i.StepUp = cmp.Or(i.StepUp, route.StepUp)
	}
	i.DenyCounts = i.DenyCounts && route.DenyCounts && i.Kind == bridge.KindApproval
	if len(i.Requirements) == 0 {
		i.Attention = route.Attention
	}
	i.Attention = i.Attention.Attend(route.Attention)
	if i.Kind != bridge.KindNotice {
		q.HandOver = slices.Clone(route.HandOver)
		if i.Quiet == nil {
			i.Quiet = route.Quiet
		}
		i.Snooze = max(i.Snooze, bridge.Duration(route.Snooze))
	}
	return q
}

// steps returns the steps of a route with its reminder, and with the current
// settings of the routes in them. Later changes of the config do not affect
// these steps.
func (m routes) steps(route bridge.Route, timeout time.Duration) ([]bridge.Step, error) {
	out := slices.Clone(route.Steps)
	for n := range out {
		if out[n].Route == "" {
			continue
		}
		next, ok := m[out[n].Route]
		if !ok {
			return nil, bridge.Errorf(bridge.CodeInvalid, "route: step %d cannot escalate to route %q", n+1, out[n].Route)
		}
		out[n].Destinations, out[n].Responders, out[n].Groups = next.Destinations, next.Responders, next.Groups
	}
	return route.Remind.Steps(out, timeout), nil
}

// escalateBy moves the steps that ask more people so that they are due at the
// timeout at the latest. It returns CodeInvalid if no route has such a step.
func escalateBy(timeout time.Duration, names []string, steps map[string][]bridge.Step) error {
	found := false
	for name, s := range steps {
		moved, ok := bridge.AskMoreBy(s, timeout)
		steps[name], found = moved, found || ok
	}
	if !found {
		return bridge.Errorf(bridge.CodeInvalid, "on_timeout: no escalation step of the route %s asks more people", strings.Join(names, ", ")).
			WithHint("add a step with ask or route under escalation of the route in the config")
	}
	return nil
}

// chain combines the steps of several routes, ordered by due time.
func (m routes) chain(names []string, steps map[string][]bridge.Step) []bridge.Step {
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
			s.For, s.Quiet = name, m[name].Quiet
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

// routesOf returns the routes of a request. An empty name in the ruling, or a
// ruling without routes, stands for the request's own route.
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

// routeNames returns the names of the routes that have requirements.
func routeNames(i bridge.Interaction) []string {
	var names []string
	for _, q := range i.RouteRequirements() {
		names = append(names, q.Route)
	}
	return names
}

// addAgain adds the people who were added to the earlier interaction while it
// was pending.
func (m routes) addAgain(now *bridge.Interaction, was bridge.Interaction) {
	for _, a := range was.Added {
		if a.For != "" && !slices.Contains(routeNames(*now), a.For) || a.For == "" && now.Route != was.Route {
			continue // the route of these responders is no longer required
		}
		if a.Route != "" {
			route := m[a.Route] // current settings; empty if the route no longer exists
			a.Responders, a.Groups = route.Responders, route.Groups
		}
		if a.For == "" && len(now.Requirements) > 0 {
			a.For = now.Route
		}
		now.Add(a)
	}
	now.Called = was.Called
}

// Impossible returns the reason that approvals on some routes are impossible
// for an agent's requests with the quorum of a rule. It is empty if they are
// possible.
func Impossible(o Options, agent bridge.Agent, names []string, quorum int) string {
	var i bridge.Interaction
	i.Kind, i.Approval = bridge.KindApproval, &bridge.Approval{}
	i.Created = time.Now()
	i.Deadline = i.Created.Add(time.Hour)
	if err := routes(o.Routes).address(&i, agent, bridge.OnTimeoutExpire, names); err != nil {
		return "" // another check reports this
	}
	i.Quorum = max(i.Quorum, quorum)
	return people.New(nil, o.Directory, nil).Impossible(i)
}
