package life

import (
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Amendment changes a pending interaction, such as its responders. The verdict of
// a repeated amendment is Kept.
type Amendment struct {
	// Expect is the value of Record.Amended that the caller read. If the stored
	// value has changed, the amendment fails with CodeConflict.
	Expect int
	// Nonce identifies repeats of this amendment, as after a lost reply of the store.
	// If it is empty, a repeat fails like any other amendment.
	Nonce       string
	Interaction bridge.Interaction
	Wider       bool // the amendment adds responders
	// Then is the step that comes next. Nil does not change the next step.
	Then *NextStep
	// Reminders are sent after Delay.
	Reminders []bridge.Reminder
	Delay     time.Duration
	// Void lists the voters, in the form of Actor.Voter, whose approvals no
	// longer count.
	Void []string
	// HandOver is the delegation that the amendment stores. The audit log gets it in
	// the same change. It is nil for other amendments.
	HandOver *bridge.HandOver
}

// NextStep is the step of an escalation policy that comes next.
type NextStep struct {
	Index int // index into Steps; the length of Steps means that there is no step
	In    time.Duration
}

// StepAt returns the step of an interaction with an index as the next step, which is due after
// its own delay.
func StepAt(i bridge.Interaction, index int) *NextStep {
	next := &NextStep{Index: index}
	if index < len(i.Steps) {
		next.In = time.Duration(i.Steps[index].After)
	}
	return next
}

func (a Amendment) mark(t *Turn) Verdict {
	l := &t.Life
	if a.Nonce != "" && a.Expect < len(l.Amendments) && l.Amendments[a.Expect] == a.Nonce {
		return Kept
	}
	if !t.applyDeadline() {
		return Final
	}
	if a.Expect != len(l.Amendments) {
		return Changed
	}
	l.Amendments = append(l.Amendments, a.Nonce)
	before := len(t.Body.Destinations)
	times := t.Body
	t.Body = a.Interaction
	t.Body.Stated, t.Body.Created, t.Body.Deadline, t.changedBody = times.Stated, times.Created, times.Deadline, true
	if a.Then != nil {
		l.Step = a.Then.Index
	}
	l.Votes = slices.DeleteFunc(l.Votes, func(v bridge.Vote) bool { // an approval counts only for what its voter saw
		return v.State == bridge.StateApproved && (v.Content != t.Body.Content || slices.Contains(a.Void, v.Actor.Voter()))
	})
	if a.Wider {
		t.event(bridge.EventWidened, bridge.StatePending, "")
	}
	if a.HandOver != nil {
		t.journal("", "", data(a.HandOver), bridge.AuditHandOver)
	}
	for n := before; n < len(t.Body.Destinations); n++ {
		if l.Failures[n] == "" {
			t.change.Request = append(t.change.Request, post(t.Body, n, t.now))
		}
	}
	for _, m := range a.Reminders {
		l.Reminders = append(l.Reminders, m)
		t.request(JobRemind, len(l.Reminders)-1, t.now.Add(a.Delay))
	}
	if len(a.Reminders) > 0 {
		t.event(bridge.EventReminded, bridge.StatePending, "")
	}
	if a.Then != nil && a.Then.Index < len(t.Body.Steps) {
		t.request(JobStep, a.Then.Index, t.now.Add(a.Then.In))
	}
	t.bump()
	t.editAll(0)
	return Done
}
