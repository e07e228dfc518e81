package bridge

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Requirement holds the requirements of one route of a request that has
// several.
type Requirement struct {
	Route      string      `json:"route"`
	Responders []Responder `json:"responders"`
	Groups     []string    `json:"groups,omitempty"`
	// Quorum is the number of its own responders who have to approve. Zero means
	// one.
	Quorum int `json:"quorum,omitempty"`
	// Must are the required approvers, see Interaction.Must. They count only if
	// they are responders of this route.
	Must     []string `json:"must,omitempty"`
	HandOver []string `json:"hand_over,omitempty"`
	// Escalation names the people of this route who are asked next under
	// OnTimeoutEscalate.
	Escalation *Escalation `json:"escalation,omitempty"`
}

// Addition is a group of people who were added to a request while it was
// pending.
type Addition struct {
	// For is the route of the requirement that they count for. It is empty if
	// the request has one route.
	For string `json:"for,omitempty"`
	// Route is the route they belong to. If it is empty, they were added by
	// name.
	Route      string      `json:"route,omitempty"`
	Responders []Responder `json:"responders,omitempty"`
	Groups     []string    `json:"groups,omitempty"`
}

// add adds people to the responders, and to the requirement that they count
// for.
func (i *Interaction) add(a Addition) {
	i.Responders = append(slices.Clone(i.Responders), missing(i.Responders, a.Responders)...)
	i.Groups = append(slices.Clone(i.Groups), missing(i.Groups, a.Groups)...)
	i.Added = append(slices.Clone(i.Added), a)
	i.Requirements = slices.Clone(i.Requirements)
	for n := range i.Requirements {
		if q := &i.Requirements[n]; q.Route == a.For {
			q.Responders = append(slices.Clone(q.Responders), missing(q.Responders, a.Responders)...)
			q.Groups = append(slices.Clone(q.Groups), missing(q.Groups, a.Groups)...)
		}
	}
}

// requirements are those of each route, also where there is only one.
func (i Interaction) requirements() []Requirement {
	if len(i.Requirements) > 0 {
		return i.Requirements
	}
	return []Requirement{{
		Route: i.Route, Responders: i.Responders, Groups: i.Groups, Quorum: i.Quorum, Must: i.Must,
		HandOver: i.HandOver, Escalation: i.Escalation,
	}}
}

// slot is one thing that approvals are counted for, in addition to the quorum
// of the whole request.
type slot struct {
	requirement int // index into Requirements; -1 for Interaction.Must
	must        string
	needed      int
}

// slots are in an order that votes refer to: those of Must, then for each
// requirement its quorum and its required approvers.
func (i Interaction) slots() []slot {
	var out []slot
	for _, who := range i.Must {
		out = append(out, slot{-1, who, 1})
	}
	for n, q := range i.Requirements {
		out = append(out, slot{n, "", max(q.Quorum, 1)})
		for _, who := range q.Must {
			out = append(out, slot{n, who, 1})
		}
	}
	return out
}

// Slots are the numbers of approvals that are needed of different people, in
// addition to the quorum of the whole request. Vote.Covers are indexes of them.
func (i Interaction) Slots() []int {
	var out []int
	for _, s := range i.slots() {
		out = append(out, s.needed)
	}
	return out
}

// covers returns the indexes of the slots that an approver counts for.
func (e *Engine) covers(ctx context.Context, i Interaction, actor Actor) ([]int, error) {
	var out []int
	on := make([]bool, len(i.Requirements))
	for n, q := range i.Requirements {
		var err error
		if on[n], err = e.responds(ctx, q.Responders, q.Groups, actor); err != nil {
			return nil, err
		}
	}
	for n, s := range i.slots() {
		in := s.requirement < 0 || on[s.requirement]
		if in && s.must != "" {
			var err error
			if in, err = e.named(ctx, s.must, actor); err != nil {
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
func (e *Engine) named(ctx context.Context, name string, actor Actor) (bool, error) {
	group, isGroup := strings.CutPrefix(name, GroupMark)
	if !isGroup || e.directory == nil {
		return name == actor.Person, nil
	}
	return e.directory.Member(ctx, group, actor)
}

// missingOf says who still has to approve on the route of a requirement.
func (r Record) missingOf(n int) string {
	var s []string
	for at, slot := range r.Interaction.slots() {
		if slot.requirement != n {
			continue
		}
		left := slot.needed
		for _, v := range r.Votes {
			if v.State == StateApproved && slices.Contains(v.Covers, at) {
				left--
			}
		}
		switch {
		case left <= 0:
		case slot.must != "":
			s = append(s, slot.must)
		case len(r.Interaction.Requirements[n].Must) == 0 || left > 1:
			s = append(s, strconv.Itoa(left)+" more")
		}
	}
	return strings.Join(s, " and ")
}

// routesOf are the routes of a request whose ruling names some: its own where
// the ruling says so or names none.
func routesOf(own string, named []string) []string {
	if own == "" {
		own = DefaultRoute
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
func (e *Engine) route(name string) (Route, error) {
	route, ok := e.routes[name]
	switch {
	case !ok:
		known := strings.Join(slices.Sorted(maps.Keys(e.routes)), ", ")
		return route, Errorf(CodeInvalid, "route: there is no %q", name).WithHint("known routes: %s", known)
	case len(route.Responders)+len(route.Groups) == 0:
		return route, Errorf(CodeForbidden, "route: nobody may answer on %q", name).
			WithHint("name responders for the route in the config")
	}
	if n := len(route.Destinations); n == 0 || n > MaxDestinations {
		return route, Errorf(CodeInvalid, "route: %q has %d destinations, want 1 to %d", name, n, MaxDestinations)
	}
	return route, nil
}

// addressed fills in where a request is shown, who may respond, and what their
// routes require.
func (e *Engine) addressed(i *Interaction, agent Agent, onTimeout OnTimeout, names []string) error {
	i.Route, i.DenyCounts = names[0], true
	steps := map[string][]Step{}
	self := true
	for _, name := range names {
		route, err := e.route(name)
		if err != nil {
			return err
		}
		q := Requirement{Route: name, Responders: slices.Clone(route.Responders), Groups: slices.Clone(route.Groups)}
		if i.Kind == KindApproval {
			q.Quorum, q.Must = route.Quorum, slices.Clone(route.Must)
		}
		i.DenyCounts = i.DenyCounts && route.DenyCounts && i.Kind == KindApproval
		if i.Kind != KindNotice {
			q.HandOver = slices.Clone(route.HandOver)
			if steps[name], err = e.steps(route); err != nil {
				return err
			}
			if i.Quiet == nil {
				i.Quiet = route.Quiet
			}
			i.Snooze = max(i.Snooze, Duration(route.Snooze))
		}
		if onTimeout == OnTimeoutEscalate && (route.EscalateTo != "" || len(names) == 1) {
			if q.Escalation, err = e.escalation(name, route); err != nil {
				return err
			}
		}
		self = self && route.AllowSelf
		i.require(q, route)
	}
	if n := len(i.Destinations); n > MaxDestinations {
		return Errorf(CodeInvalid, "route: the routes %s have %d destinations together, more than %d",
			strings.Join(names, ", "), n, MaxDestinations)
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

// require adds what one more route requires.
func (i *Interaction) require(q Requirement, route Route) {
	i.Requirements = append(i.Requirements, q)
	i.Destinations = append(i.Destinations, missing(i.Destinations, route.Destinations)...)
	i.Responders = append(i.Responders, missing(i.Responders, q.Responders)...)
	i.Groups = append(i.Groups, missing(i.Groups, q.Groups)...)
	i.HandOver = append(i.HandOver, missing(i.HandOver, q.HandOver)...)
	i.Quorum = max(i.Quorum, q.Quorum)
}

// escalates joins the escalations of several routes.
func (e *Engine) escalates(i *Interaction, onTimeout OnTimeout) error {
	if onTimeout != OnTimeoutEscalate || len(i.Requirements) == 0 {
		return nil
	}
	all := &Escalation{}
	for _, q := range i.Requirements {
		if next := q.Escalation; next != nil {
			all.Route = strings.TrimPrefix(all.Route+", "+next.Route, ", ")
			all.Destinations = append(all.Destinations, missing(all.Destinations, next.Destinations)...)
			all.Responders = append(all.Responders, missing(all.Responders, next.Responders)...)
			all.Groups = append(all.Groups, missing(all.Groups, next.Groups)...)
		}
	}
	if all.Route == "" {
		return Errorf(CodeInvalid, "on_timeout: none of the routes escalates").
			WithHint("set escalate_to of one of the routes in the config")
	}
	if n := len(i.Destinations) + len(missing(i.Destinations, all.Destinations)); n > MaxDestinations {
		return Errorf(CodeInvalid, "route: %q with its escalation has %d destinations, more than %d",
			i.Route, n, MaxDestinations)
	}
	i.Escalation = all
	return nil
}

// chain joins the steps of several routes by the time when each is due.
func chain(names []string, steps map[string][]Step) []Step {
	if len(names) == 1 {
		return steps[names[0]]
	}
	type due struct {
		at time.Duration
		Step
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
	var out []Step
	last := time.Duration(0)
	for _, d := range all {
		d.After = Duration(d.at - last)
		last = d.at
		out = append(out, d.Step)
	}
	return out
}

// escalated is the interaction once its deadline has passed under
// OnTimeoutEscalate.
func (i Interaction) escalated() Interaction {
	next := i
	next.Deadline = i.Deadline.Add(i.Deadline.Sub(i.Created))
	for _, q := range i.requirements() {
		if q.Escalation == nil {
			continue
		}
		next.Destinations = append(slices.Clone(next.Destinations), missing(next.Destinations, q.Escalation.Destinations)...)
		a := Addition{Route: q.Escalation.Route, Responders: q.Escalation.Responders, Groups: q.Escalation.Groups}
		if len(i.Requirements) > 0 {
			a.For = q.Route
		}
		next.add(a)
	}
	return next
}
