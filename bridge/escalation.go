package bridge

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge/clock"
)

// Step is a step of an escalation policy. nod takes it if no one has responded
// before it is due.
type Step struct {
	// After is the time since the previous step, or since the request was
	// opened.
	After Duration `json:"after"`
	// Remind mentions the responders again.
	Remind bool `json:"remind,omitempty"`
	// Ask lists the people, and the groups with GroupMark, who become
	// responders. A message next to the existing cards mentions them.
	Ask []string `json:"ask,omitempty"`
	// Route names another route that is asked. The fields after it hold the
	// settings of that route at the time when the request was opened.
	Route        string        `json:"route,omitempty"`
	Destinations []Destination `json:"destinations,omitempty"`
	Responders   []Responder   `json:"responders,omitempty"`
	Groups       []string      `json:"groups,omitempty"`
	// GiveUp closes the request in this state, StateExpired or StateDenied. If
	// it is empty, the request stays open.
	GiveUp State `json:"give_up,omitempty"`
	// For is the route of the step if the request has several, and Quiet are the
	// hours in which that route waits.
	For   string `json:"for,omitempty"`
	Quiet *Quiet `json:"quiet,omitempty"`
	// Again is set for a step that repeats an earlier step, because a group of
	// that step had no known member. It is the time since the earlier step.
	Again Duration `json:"again,omitempty"`
}

// firstAgain is the time after which nod repeats a step that did not find all
// of its people. The time doubles with each repetition.
const firstAgain = 30 * time.Second

// LookAgain returns the steps of a policy with an additional step, at the index
// n or later. The additional step asks the groups for which an earlier step
// found no one. The times of the other steps do not change.
func LookAgain(steps []Step, n int, of Step, groups []string) []Step {
	s := Step{Ask: groups, For: of.For, Quiet: of.Quiet, Again: max(Duration(firstAgain), 2*of.Again)}
	return insert(steps, n, s, s.Again)
}

// Postpone returns the steps of a policy after a delay. The step with the index
// n, which is due now, and the later steps of its route are delayed. Steps of
// other routes are not.
func Postpone(steps []Step, n int, wait time.Duration) []Step {
	type due struct {
		at time.Duration
		Step
	}
	var all []due
	at, route := time.Duration(0), steps[n].For
	for k, s := range steps[n:] {
		if k > 0 {
			at += time.Duration(s.After)
		}
		d := due{at, s}
		if s.For == route {
			d.at += wait
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b due) int { return cmp.Compare(a.at, b.at) })
	out, last := slices.Clone(steps[:n]), time.Duration(0)
	for _, d := range all {
		d.After, last = Duration(d.at-last), d.at
		out = append(out, d.Step)
	}
	return out
}

// insert returns the steps with one additional step, which is due at a time
// after the step before the index n. Nothing is inserted after a step that
// gives up.
func insert(steps []Step, n int, s Step, after Duration) []Step {
	for ; n < len(steps); n++ {
		if after < steps[n].After {
			steps = slices.Clone(steps)
			steps[n].After -= after
			break
		}
		after -= steps[n].After
		if steps[n].GiveUp != "" {
			return steps
		}
	}
	s.After = after
	return slices.Insert(slices.Clip(steps), n, s)
}

// Quiet defines hours in which steps wait.
type Quiet struct {
	From string `json:"from"` // such as 22:00
	To   string `json:"to"`
	Zone string `json:"zone,omitempty"` // IANA name; empty means UTC
	// Risks lists the risk levels that do not wait.
	Risks []string `json:"risks,omitempty"`
}

// Until returns the end of the quiet hours that contain t, or t itself if there
// are none. It ignores quiet hours with an invalid zone or time.
func (q *Quiet) Until(t time.Time, risk string) time.Time {
	if q == nil || risk != "" && slices.Contains(q.Risks, risk) {
		return t
	}
	zone, err := time.LoadLocation(q.Zone)
	from, err1 := sinceMidnight(q.From)
	to, err2 := sinceMidnight(q.To)
	if err != nil || err1 != nil || err2 != nil {
		return t
	}
	return clock.Daily{From: from, To: to, Zone: zone}.Until(t)
}

// sinceMidnight returns the time since midnight of a text such as 22:00.
func sinceMidnight(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", s)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err
}

// Reminder is a message next to a card that mentions people.
type Reminder struct {
	Destination int      `json:"destination"`
	Users       []string `json:"users,omitempty"`  // user IDs on the platform of the destination
	Names       []string `json:"names,omitempty"`  // names of Users, for platforms that do not know them
	Groups      []string `json:"groups,omitempty"` // groups in the platform's own format
	// Text follows the mentions. If it is empty, the text is the remaining time
	// to respond when the reminder is sent.
	Text string `json:"text,omitempty"`
	// Tells means that these people learn only from the reminder that they were
	// asked.
	Tells bool `json:"tells,omitempty"`
	// Again means that the reminder repeats an earlier notification. Several
	// such reminders in one channel at about the same time become one.
	Again bool `json:"again,omitempty"`
	// Snoozer is the person who asked for the reminder, in the form of
	// Actor.Voter, and Due is the time of the reminder. Both are empty in other
	// reminders.
	Snoozer string    `json:"snoozer,omitempty"`
	Due     time.Time `json:"due,omitzero"`
}

// ReminderPoster is a Platform that can mention people next to a card.
type ReminderPoster interface {
	Remind(ctx context.Context, d Destination, card MessageRef, r Reminder) error
}

// Brief formats a duration for people, to the second: 1 h 30 min.
func Brief(d time.Duration) string {
	d = d.Round(time.Second)
	if day := 24 * time.Hour; d >= 2*day && d%day == 0 {
		return strconv.Itoa(int(d/day)) + " days"
	}
	var parts []string
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := int(d / unit.of); n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+unit.name)
		}
		d %= unit.of
	}
	if parts == nil {
		return "0 s"
	}
	return strings.Join(parts, " ")
}

// HandOver is the Data of AuditHandOver.
type HandOver struct {
	By Actor  `json:"by"`
	To string `json:"to"`
}

// minReminded is the minimum timeout for a reminder at a percentage. With a
// shorter timeout, people would read the reminder together with the card.
const minReminded = 2 * time.Minute

// RemindAfter is the time after which a pending request mentions the people
// whose response is missing: a percentage of its timeout, or a duration. The
// zero value means never.
type RemindAfter struct {
	Percent  int
	Duration time.Duration
}

// Steps returns the steps of a request including the reminder. It leaves out a
// reminder that would be due after the deadline.
func (a RemindAfter) Steps(steps []Step, timeout time.Duration) []Step {
	at := a.Duration
	if a.Percent > 0 && timeout >= minReminded {
		at = timeout * time.Duration(a.Percent) / 100
	}
	if at <= 0 || at >= timeout {
		return steps
	}
	return insert(steps, 0, Step{Remind: true}, Duration(at))
}

// AsksMore reports whether a step asks more people.
func (s Step) AsksMore() bool { return len(s.Ask) > 0 || s.Route != "" }

// AskMoreBy moves the first step that asks more people, and all steps before
// it, so that they are due within a time. It reports whether such a step
// exists.
func AskMoreBy(steps []Step, after time.Duration) ([]Step, bool) {
	n := slices.IndexFunc(steps, Step.AsksMore)
	if n < 0 {
		return steps, false
	}
	steps = slices.Clone(steps)
	left := Duration(after)
	for k := range n + 1 {
		steps[k].After = min(steps[k].After, left)
		left -= steps[k].After
	}
	return steps, true
}
