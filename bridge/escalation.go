package bridge

import (
	"context"
	"fmt"
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
// A zone or an hour that can not be read is no quiet hour.
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

// maxMentions bounds how many people one reminder mentions.
const maxMentions = 10

// step does the next step of an escalation, exactly once: the store takes it
// only if it is the next one still.
func (e *Engine) step(ctx context.Context, j Job) error {
	r, err := e.store.Load(ctx, j.Interaction)
	if ErrorCode(err) == CodeNotFound {
		return e.store.Finish(ctx, j)
	}
	if err != nil {
		return err
	}
	i := r.Interaction
	if r.State.Final() || r.Step != j.Destination || j.Destination >= len(i.Steps) || !r.Queued.IsZero() {
		return e.store.Finish(ctx, j)
	}
	now := time.Now()
	if wait := i.Quiet.Until(now, i.Risk).Sub(now); wait > 0 {
		return e.store.Retry(ctx, j, wait, "")
	}
	s := i.Steps[j.Destination]
	if s.GiveUp != "" {
		_, _, err = e.store.Settle(ctx, Settlement{ID: i.ID, Nonce: "give up", Response: Response{
			State: s.GiveUp, Reason: "nobody answered, and the route gave up", Annotations: map[string]Annotation{}, At: now.UTC().Truncate(time.Millisecond), Digest: i.Digest,
		}})
	} else {
		err = e.doStep(ctx, r, s)
	}
	if ErrorCode(err) == CodeConflict { // it is looked at again
		return e.store.Retry(ctx, j, firstBackoff, "")
	}
	if err != nil {
		return err
	}
	e.log.Info("escalated", "id", i.ID, "step", j.Destination)
	return e.store.Finish(ctx, j)
}

func (e *Engine) doStep(ctx context.Context, r Record, s Step) error {
	i := r.Interaction
	a := Amendment{Expect: r.Amended, Step: r.Step + 1, Next: -1}
	if a.Step < len(i.Steps) {
		a.Next = time.Duration(i.Steps[a.Step].After)
	}
	mention, called, err := e.called(ctx, i, s)
	if err != nil {
		return err
	}
	asked := Addition{For: s.For, Responders: mention}
	for _, name := range s.Ask {
		if g, ok := strings.CutPrefix(name, GroupMark); ok {
			asked.Groups = append(asked.Groups, g)
		}
	}
	if len(s.Ask) > 0 {
		i.add(asked)
	}
	if s.Route != "" {
		i.Destinations = append(slices.Clone(i.Destinations), missing(i.Destinations, s.Destinations)...)
		i.add(Addition{For: s.For, Route: s.Route, Responders: s.Responders, Groups: s.Groups})
		called = append(called, s.Route)
	}
	if s.Remind {
		mention = i.Responders
	}
	i.Called = append(slices.Clone(i.Called), missing(i.Called, called)...)
	a.Wider = len(called) > 0
	a.Interaction = i
	if len(mention) > 0 || s.Remind {
		a.Reminders = reminders(r, mention, e.stillWaiting(i))
	}
	return e.amend(ctx, r, a)
}

// amend stores an amendment, with what follows from it at the deadline.
func (e *Engine) amend(ctx context.Context, r Record, a Amendment) error {
	// Also without an escalation, as a former one may be stored for the deadline.
	if r.Interaction.OnTimeout == OnTimeoutEscalate && r.Escalated.IsZero() {
		next := a.Interaction.escalated()
		a.Escalated = &next
	}
	_, err := e.store.Mark(ctx, r.Interaction.ID, Mark{Amended: &a})
	return err
}

// called are the accounts of those whom a step asks, and their names.
func (e *Engine) called(ctx context.Context, i Interaction, s Step) ([]Responder, []string, error) {
	var out []Responder
	var names []string
	if e.directory == nil {
		return nil, nil, nil
	}
	for _, name := range s.Ask {
		people := []string{name}
		if g, ok := strings.CutPrefix(name, GroupMark); ok {
			var err error
			if people, err = e.directory.Now(ctx, g); err != nil {
				e.log.Error("who is to be asked next is not known just now", "id", i.ID, "group", g, "error", err)
				return nil, nil, err
			}
		}
		for _, person := range people {
			if slices.Contains(i.Requesters, person) {
				continue
			}
			accounts, err := e.directory.Accounts(ctx, person)
			if err != nil {
				return nil, nil, err
			}
			if len(accounts) == 0 {
				accounts = []Responder{{Person: person, Platform: PlatformAPI, User: person}}
			}
			out = append(out, accounts...)
			names = append(names, person)
		}
	}
	return out, names, nil
}

// stillWaiting is the text of a reminder.
func (e *Engine) stillWaiting(i Interaction) string {
	left := i.Remaining(time.Now()).Round(time.Minute)
	s := "⏰ Still waiting for an answer: " + shortened(oneLine(i.Prompt))
	if left >= time.Minute {
		s += " · " + brief(left) + " left"
	}
	return s
}

// reminders mention accounts wherever the card is shown.
func reminders(r Record, who []Responder, text string) []Reminder {
	var out []Reminder
	for n, d := range r.Interaction.Destinations {
		if _, posted := r.Messages[n]; !posted {
			continue
		}
		m := Reminder{Destination: n, Text: text}
		for _, a := range who {
			if a.Platform == d.Platform && len(m.Users) < maxMentions && !slices.Contains(m.Users, a.User) {
				m.Users = append(m.Users, a.User)
			}
		}
		out = append(out, m)
	}
	return out
}

// remind sends a reminder, unless it was answered meanwhile.
func (e *Engine) remind(ctx context.Context, j Job) error {
	r, err := e.store.Load(ctx, j.Interaction)
	if ErrorCode(err) == CodeNotFound {
		return nil
	}
	if err != nil || r.State.Final() {
		return err
	}
	if j.Destination >= len(r.Reminders) {
		return Errorf(CodeInternal, "reminder %d of %d", j.Destination, len(r.Reminders))
	}
	m := r.Reminders[j.Destination]
	p, err := e.platformOf(r, m.Destination)
	if err != nil {
		return err
	}
	ref, posted := r.Messages[m.Destination]
	if s, ok := p.(Reminding); ok && posted {
		began := time.Now()
		err = s.Remind(ctx, r.Interaction.Destinations[m.Destination], ref, m)
		e.did(j, p.Name(), r, began, err)
		return err
	}
	return nil
}

// SnoozeLabel is the label of the control that reminds later.
func (i Interaction) SnoozeLabel() string {
	return "⏰ Remind me in " + brief(time.Duration(i.Snooze))
}

// brief is a duration without the parts that are zero.
func brief(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// HandOverLabel is the label of the control that hands over to person n.
func (i Interaction) HandOverLabel(n int) string { return "➡️ Hand over to " + i.HandOver[n] }

// snooze reminds one person later.
func (e *Engine) snooze(ctx context.Context, a admitted) (Verdict, error) {
	i := a.record.Interaction
	if i.Snooze == 0 {
		return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	m := Reminder{Destination: a.control.Destination, Users: []string{a.Actor.User}, Text: "⏰ You asked to be reminded: " + shortened(oneLine(i.Prompt))}
	err := e.amendNow(ctx, i.ID, func(r Record) Amendment {
		return Amendment{Expect: r.Amended, Interaction: r.Interaction, Step: r.Step, Next: -1, Reminders: []Reminder{m}, Delay: time.Duration(i.Snooze)}
	})
	if err != nil {
		return Verdict{}, err
	}
	return Verdict{Kind: VerdictNoted, Note: fmt.Sprintf("You are reminded at %s. It can still be answered until %s.", time.Now().Add(time.Duration(i.Snooze)).UTC().Format("15:04 UTC"), i.Deadline.UTC().Format("15:04 UTC"))}, nil
}

// handOver asks another person as well, and mentions that one.
func (e *Engine) handOver(ctx context.Context, a admitted) (Verdict, error) {
	i, n := a.record.Interaction, a.control.Option
	if n >= len(i.HandOver) || e.directory == nil {
		return Verdict{Kind: VerdictUnknown, Note: noteForged}, nil
	}
	to := i.HandOver[n]
	routes, err := e.handsOver(ctx, i, a.actor, to)
	if err != nil {
		return Verdict{}, err
	}
	if len(routes) == 0 {
		return Verdict{Kind: VerdictForbidden, Note: "You are not a responder of the route that can hand over to " + to + ". Nothing was changed."}, nil
	}
	if slices.Contains(i.Requesters, to) {
		return Verdict{Kind: VerdictForbidden, Note: to + " is behind this request, and may not answer it."}, nil
	}
	accounts, err := e.directory.Accounts(ctx, to)
	if err != nil {
		return Verdict{}, err
	}
	if len(accounts) == 0 {
		accounts = []Responder{{Person: to, Platform: PlatformAPI, User: to}}
	}
	text := "➡️ " + oneLine(a.actor.Display()) + " hands over to " + to + ": " + shortened(oneLine(i.Prompt))
	err = e.amendNow(ctx, i.ID, func(r Record) Amendment {
		next := r.Interaction
		for _, route := range routes {
			next.add(Addition{For: route, Responders: accounts})
		}
		next.Called = append(slices.Clone(next.Called), missing(next.Called, []string{to})...)
		return Amendment{Expect: r.Amended, Interaction: next, Wider: true, Step: r.Step, Next: -1, Reminders: reminders(r, accounts, text)}
	})
	if err != nil {
		return Verdict{}, err
	}
	if err := e.audit(ctx, AuditHandOver, i, HandOver{By: a.actor, To: to}); err != nil {
		e.log.Error("hand-over not in the audit log", "id", i.ID, "error", err)
	}
	return Verdict{Kind: VerdictNoted, Note: "Handed over: " + to + " is asked and told. You may still answer."}, nil
}

// handsOver returns the routes on which an actor may hand over to a person. The
// name is empty where the request has one route.
func (e *Engine) handsOver(ctx context.Context, i Interaction, actor Actor, to string) ([]string, error) {
	if len(i.Requirements) == 0 {
		return []string{""}, nil
	}
	var out []string
	for _, q := range i.Requirements {
		if !slices.Contains(q.HandOver, to) {
			continue
		}
		in, err := e.responds(ctx, q.Responders, q.Groups, actor)
		if err != nil {
			return nil, err
		}
		if in {
			out = append(out, q.Route)
		}
	}
	return out, nil
}

// HandOver is the Data of AuditHandOver.
type HandOver struct {
	By Actor  `json:"by"`
	To string `json:"to"`
}

// amendTries bounds how often an amendment is made anew because another came
// first.
const amendTries = 5

func (e *Engine) amendNow(ctx context.Context, id ID, make func(Record) Amendment) error {
	var err error
	for range amendTries {
		var r Record
		if r, err = e.store.Load(ctx, id); err != nil {
			return err
		}
		if err = e.amend(ctx, r, make(r)); ErrorCode(err) != CodeConflict {
			return err
		}
	}
	return err
}
