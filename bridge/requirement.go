package bridge

import (
	"slices"
	"strconv"
	"strings"
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

// Add adds people to the responders, and to the requirement that they count
// for.
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

// RouteRequirements are those of each route, also where there is only one.
func (i Interaction) RouteRequirements() []Requirement {
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
	Requirement int // index into Requirements; -1 for Interaction.Must
	Must        string
	needed      int
}

// ApprovalSlots are in an order that votes refer to: those of Must, then for each
// requirement its quorum and its required approvers.
func (p Placement) ApprovalSlots() []slot {
	var out []slot
	for _, who := range p.Must {
		out = append(out, slot{-1, who, 1})
	}
	for n, q := range p.Requirements {
		out = append(out, slot{n, "", max(q.Quorum, 1)})
		for _, who := range q.Must {
			out = append(out, slot{n, who, 1})
		}
	}
	return out
}

// Slots are the numbers of approvals that are needed of different people, in
// addition to the quorum of the whole request. Vote.Covers are indexes of them.
func (p Placement) Slots() []int {
	var out []int
	for _, s := range p.ApprovalSlots() {
		out = append(out, s.needed)
	}
	return out
}

// missingOf says who still has to approve on the route of a requirement.
func (r Record) missingOf(n int) string {
	var s []string
	for at, slot := range r.Interaction.ApprovalSlots() {
		if slot.Requirement != n {
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
		case slot.Must != "":
			s = append(s, slot.Must)
		case len(r.Interaction.Requirements[n].Must) == 0 || left > 1:
			s = append(s, strconv.Itoa(left)+" more")
		}
	}
	return strings.Join(s, " and ")
}

// Require adds what one more route requires.
func (p *Placement) Require(q Requirement, route Route) {
	p.Requirements = append(p.Requirements, q)
	p.Destinations = append(p.Destinations, Missing(p.Destinations, route.Destinations)...)
	p.Responders = append(p.Responders, Missing(p.Responders, q.Responders)...)
	p.Groups = append(p.Groups, Missing(p.Groups, q.Groups)...)
	p.HandOver = append(p.HandOver, Missing(p.HandOver, q.HandOver)...)
	p.Quorum = max(p.Quorum, q.Quorum)
}

// Escalated is the interaction once its deadline has passed under
// OnTimeoutEscalate.
func (i Interaction) Escalated() Interaction {
	next := i
	next.Deadline = i.Deadline.Add(i.Deadline.Sub(i.Created))
	for _, q := range i.RouteRequirements() {
		if q.Escalation == nil {
			continue
		}
		next.Destinations = append(slices.Clone(next.Destinations), Missing(next.Destinations, q.Escalation.Destinations)...)
		a := Addition{Route: q.Escalation.Route, Responders: q.Escalation.Responders, Groups: q.Escalation.Groups}
		if len(i.Requirements) > 0 {
			a.For = q.Route
		}
		next.Add(a)
	}
	return next
}

// Missing are the elements of b that a lacks.
func Missing[T comparable](a, b []T) []T {
	return slices.DeleteFunc(slices.Clone(b), func(v T) bool { return slices.Contains(a, v) })
}
