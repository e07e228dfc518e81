package bridge

import (
	"slices"
	"strconv"
	"strings"
)

// Requirement holds the requirements of one route of a request with several
// routes.
type Requirement struct {
	Route      string      `json:"route"`
	Responders []Responder `json:"responders"`
	Groups     []string    `json:"groups,omitempty"`
	// Quorum is the number of required approvals by its own responders.
	// Zero means one.
	Quorum int `json:"quorum,omitempty"`
	// Must lists the required approvers; see Placement.Must. They count
	// only if they are responders of this route.
	Must     []string `json:"must,omitempty"`
	HandOver []string `json:"hand_over,omitempty"`
}

// Addition holds people who were added to a request while it was pending.
type Addition struct {
	// For is the route of the requirement that these responders count toward.
	// It is empty if the request has one route.
	For string `json:"for,omitempty"`
	// Route is the route of these responders. It is empty if they were added by
	// name.
	Route      string      `json:"route,omitempty"`
	Responders []Responder `json:"responders,omitempty"`
	Groups     []string    `json:"groups,omitempty"`
}

// Add adds people to the responders, and to the requirement that they count
// toward.
func (p *Placement) Add(a Addition) {
	p.Responders = append(slices.Clone(p.Responders), Missing(p.Responders, a.Responders)...)
	p.Groups = append(slices.Clone(p.Groups), Missing(p.Groups, a.Groups)...)
	p.Added = append(slices.Clone(p.Added), a)
	p.Requirements = slices.Clone(p.Requirements)
	for n := range p.Requirements {
		if q := &p.Requirements[n]; q.Route == a.For {
			q.Responders = append(slices.Clone(q.Responders), Missing(q.Responders, a.Responders)...)
			q.Groups = append(slices.Clone(q.Groups), Missing(q.Groups, a.Groups)...)
		}
	}
}

// RouteRequirements returns the requirements of each route, even if there is
// only one route.
func (i Interaction) RouteRequirements() []Requirement {
	if len(i.Requirements) > 0 {
		return i.Requirements
	}
	return []Requirement{{
		Route: i.Route, Responders: i.Responders, Groups: i.Groups, Quorum: i.Quorum, Must: i.Must,
		HandOver: i.HandOver,
	}}
}

// slot is a requirement that approvals are counted toward, in addition to the
// quorum of the request.
type slot struct {
	Requirement int // index into Requirements; -1 for the whole request
	Must        string
	needed      int
}

// ApprovalSlots returns the slots in the order that votes refer to: first the
// slots of Must, and then, for each requirement, its quorum and its required
// approvers.
func (p Placement) ApprovalSlots() []slot {
	var out []slot
	for _, who := range p.Must {
		out = append(out, slot{Requirement: -1, Must: who, needed: 1})
	}
	for n, q := range p.Requirements {
		out = append(out, slot{Requirement: n, needed: max(q.Quorum, 1)})
		for _, who := range q.Must {
			out = append(out, slot{Requirement: n, Must: who, needed: 1})
		}
	}
	return out
}

// Slots returns the number of approvals that each slot requires. Vote.Covers
// holds indexes into this list.
func (p Placement) Slots() []int {
	var out []int
	for _, s := range p.ApprovalSlots() {
		out = append(out, s.needed)
	}
	return out
}

// missingOf describes the approvals that a requirement still lacks. Those who are
// named are among those who are counted.
func (r Record) missingOf(n int) string {
	more, open := 0, r.Open()
	var names []string
	for at, slot := range r.Interaction.ApprovalSlots() {
		switch {
		case slot.Requirement != n || open[at] == 0:
		case slot.Must != "":
			names = append(names, r.Interaction.NameOf(slot.Must))
		default:
			more = open[at]
		}
	}
	if more -= len(names); more > 0 {
		names = slices.Insert(names, 0, strconv.Itoa(more)+" more")
	}
	return strings.Join(names, " and ")
}

// Require adds the requirement and the destinations of a route.
func (p *Placement) Require(q Requirement, route Route) {
	p.Requirements = append(p.Requirements, q)
	p.Destinations = append(p.Destinations, Missing(p.Destinations, route.Destinations)...)
	p.Responders = append(p.Responders, Missing(p.Responders, q.Responders)...)
	p.Groups = append(p.Groups, Missing(p.Groups, q.Groups)...)
	p.HandOver = append(p.HandOver, Missing(p.HandOver, q.HandOver)...)
	p.Quorum = max(p.Quorum, q.Quorum)
}

// Missing returns the elements of b that are not in a.
func Missing[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(b), func(v T) bool { return slices.Contains(a, v) })
}
