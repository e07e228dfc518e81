package people

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// openSlots holds the approvals that a request still lacks.
type openSlots struct {
	anyone bool     // an approval of any responder helps
	slots  []int    // indexes of the slots that lack approvals
	must   []string // required approvers of these slots
}

// open returns the approvals that a request still lacks.
func (p *People) open(r bridge.Record) openSlots {
	i := r.Interaction
	if i.Kind != bridge.KindApproval || !i.Counted() {
		return openSlots{anyone: true}
	}
	var out openSlots
	for n, left := range r.Open() {
		if left <= 0 {
			continue
		}
		out.slots = append(out.slots, n)
		if must := i.ApprovalSlots()[n].Must; must != "" {
			out.must = append(out.must, must)
		}
	}
	lacks := r.Lacks()
	out.anyone = i.DenyCounts || i.Needs()-r.Approvals() > lacks || lacks == 0
	return out
}

// Wanted finds the people who can give the missing approvals.
type Wanted struct {
	people *People
	r      bridge.Record
	open   openSlots
}

// Wanted returns the people who can give the missing approvals.
func (p *People) Wanted(r bridge.Record) Wanted { return Wanted{p, r, p.open(r)} }

// Must returns the required approvers who have not approved yet.
func (w Wanted) Must() []string { return w.open.must }

// Person reports whether an approval of a person helps.
func (w Wanted) Person(ctx context.Context, name string) bool {
	if w.open.anyone {
		return true
	}
	who := bridge.Actor{Platform: bridge.PlatformAPI, User: name, Person: name}
	yes, maybe := w.people.Covers(ctx, w.r.Interaction, who, time.Now())
	return slices.ContainsFunc(append(yes, maybe...), func(n int) bool { return slices.Contains(w.open.slots, n) })
}

// Group reports whether an approval of a member of a group helps.
func (w Wanted) Group(name string) bool {
	slots := w.r.Interaction.ApprovalSlots()
	return w.open.anyone || slices.ContainsFunc(w.open.slots, func(n int) bool {
		s := slots[n]
		return s.Must == bridge.GroupMark+name ||
			s.Must == "" && s.Requirement >= 0 && slices.Contains(w.r.Interaction.Requirements[s.Requirement].Groups, name)
	})
}
