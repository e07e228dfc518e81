package bridge

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Step is one thing that is done while nobody answers.
type Step struct {
	// After is how long after the step before it, or after the request was
	// opened.
	After Duration `json:"after"`
	// Remind mentions those who are asked, again.
	Remind bool `json:"remind,omitempty"`
	// Ask names people, and groups with GroupMark, who are asked as well, and
	// mentioned where it is shown already.
	Ask []string `json:"ask,omitempty"`
	// Route names the route that is asked as well, and the rest is what it
	// was when the request was opened.
	Route        string        `json:"route,omitempty"`
	Destinations []Destination `json:"destinations,omitempty"`
	Responders   []Responder   `json:"responders,omitempty"`
	Groups       []string      `json:"groups,omitempty"`
	// GiveUp ends it: StateExpired or StateDenied; empty: it goes on.
	GiveUp State `json:"give_up,omitempty"`
	// For is the route that the step belongs to if the request has several.
	For string `json:"for,omitempty"`
}

// Quiet are hours in which steps wait.
type Quiet struct {
	From string `json:"from"` // as in 22:00
	To   string `json:"to"`
	Zone string `json:"zone,omitempty"` // IANA name; empty: UTC
	// Risks are the levels that do not wait.
	Risks []string `json:"risks,omitempty"`
}

// Until is when the quiet hours that t is in end; t itself outside of them.
// A zone or an hour that cannot be read is no quiet hour.
func (q *Quiet) Until(t time.Time, risk string) time.Time {
	if q == nil || risk != "" && slices.Contains(q.Risks, risk) {
		return t
	}
	zone, err := time.LoadLocation(q.Zone)
	from, err1 := time.Parse("15:04", q.From)
	to, err2 := time.Parse("15:04", q.To)
	if err != nil || err1 != nil || err2 != nil || q.From == q.To {
		return t
	}
	local := t.In(zone)
	for _, back := range []int{-1, 0} { // hours that began yesterday may still last
		day := local.AddDate(0, 0, back)
		begin := time.Date(day.Year(), day.Month(), day.Day(), from.Hour(), from.Minute(), 0, 0, zone)
		end := time.Date(day.Year(), day.Month(), day.Day(), to.Hour(), to.Minute(), 0, 0, zone)
		if !end.After(begin) {
			end = time.Date(day.Year(), day.Month(), day.Day()+1, to.Hour(), to.Minute(), 0, 0, zone)
		}
		if !t.Before(begin) && t.Before(end) {
			return end
		}
	}
	return t
}

// Reminder is a message beside a card that mentions people.
type Reminder struct {
	Destination int      `json:"destination"`
	Users       []string `json:"users,omitempty"` // ids on the destination's platform
	Text        string   `json:"text"`
}

// Amendment changes who is asked while nobody has answered.
type Amendment struct {
	// Expect is Record.Amended as it was read; another is CodeConflict.
	Expect int
	// Interaction as it is from now on, and with Escalated as it is once its
	// deadline has passed under OnTimeoutEscalate.
	Interaction Interaction
	Escalated   *Interaction
	Wider       bool // more people are asked
	// Step is the next one to do, and Next how long until then; below 0: none.
	Step int
	Next time.Duration
	// Reminders are sent, after Delay.
	Reminders []Reminder
	Delay     time.Duration
	// Void are the voters, as Vote.Voter names them, whose approvals no longer
	// count.
	Void []string
}

// Reminding is a Platform that can mention people beside a card.
type Reminding interface {
	Remind(ctx context.Context, d Destination, card MessageRef, r Reminder) error
}

// Brief is a duration without the parts that are zero.
func Brief(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// HandOver is the Data of AuditHandOver.
type HandOver struct {
	By Actor  `json:"by"`
	To string `json:"to"`
}
