package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// maxMentions is the maximum number of people that one reminder mentions.
const maxMentions = 10

// escalator takes the steps of escalation policies, and sends reminders.
type escalator struct {
	records   bridge.Records
	outbox    bridge.Outbox
	outcomes  bridge.Outcomes
	platforms platforms
	cards     *cards
	journal   *journal
	people    *People
	directory bridge.Directory
	watcher   watcher
	log       *slog.Logger
}

// step takes the next step of an escalation policy exactly once: the store
// accepts it only if it is still the next one.
func (e *escalator) step(ctx context.Context, j bridge.Job) error {
	r, err := e.records.Load(ctx, j.Interaction)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return e.outbox.Finish(ctx, j)
	}
	if err != nil {
		return err
	}
	i := r.Interaction
	if r.State.Final() || r.Step != j.Destination || j.Destination >= len(i.Steps) || !r.Queued.IsZero() {
		return e.outbox.Finish(ctx, j)
	}
	now, s := time.Now(), i.Steps[j.Destination]
	quiet := i.Quiet
	if s.For != "" {
		quiet = s.Quiet
	}
	if wait := quiet.Until(now, i.Risk).Sub(now); wait > 0 {
		return e.wait(ctx, j, r, wait)
	}
	if s.GiveUp != "" {
		_, _, err = e.outcomes.Settle(ctx, bridge.Settlement{ID: i.ID, Nonce: "give up", Response: bridge.Response{
			State: s.GiveUp, Reason: "no one answered, and the escalation policy ended", Annotations: map[string]bridge.Annotation{}, At: now.UTC().Truncate(time.Millisecond), Digest: i.Digest,
		}})
	} else {
		err = e.doStep(ctx, r, s)
	}
	if bridge.ErrorCode(err) == bridge.CodeConflict { // the retry loads it again
		return e.outbox.Retry(ctx, j, firstBackoff, "")
	}
	if err != nil {
		return err
	}
	e.log.Info("escalated", "id", i.ID, "step", j.Destination)
	return e.outbox.Finish(ctx, j)
}

// wait postpones a step. In a request for several routes, the steps of the others
// are not postponed.
func (e *escalator) wait(ctx context.Context, j bridge.Job, r bridge.Record, wait time.Duration) error {
	i := r.Interaction
	if len(i.Requirements) > 1 {
		i.Steps = bridge.Postpone(i.Steps, j.Destination, wait)
		wait = time.Duration(i.Steps[j.Destination].After)
		err := amend(ctx, e.records, r, bridge.Amendment{Expect: r.Amended, Interaction: i})
		if bridge.ErrorCode(err) == bridge.CodeConflict {
			wait, err = firstBackoff, nil
		}
		if err != nil {
			return err
		}
	}
	return e.outbox.Retry(ctx, j, wait, "")
}

func (e *escalator) doStep(ctx context.Context, r bridge.Record, s bridge.Step) error {
	i := r.Interaction
	mention, called, unfound := e.called(ctx, i, s)
	i = lookAgain(i, r.Step, unfound)
	asked := bridge.Addition{For: s.For, Responders: mention}
	for _, name := range s.Ask {
		if g, ok := strings.CutPrefix(name, bridge.GroupMark); ok {
			asked.Groups = append(asked.Groups, g)
		}
	}
	if len(s.Ask) > 0 {
		i.Add(asked)
	}
	if s.Route != "" {
		i.Destinations = append(slices.Clone(i.Destinations), bridge.Missing(i.Destinations, s.Destinations)...)
		i.Add(bridge.Addition{For: s.For, Route: s.Route, Responders: s.Responders, Groups: s.Groups})
		called = append(called, s.Route)
	}
	i.Called = append(slices.Clone(i.Called), bridge.Missing(i.Called, called)...)
	i.Names = e.people.names(i)
	a := bridge.Amendment{Expect: r.Amended, Interaction: i, Then: i.StepAt(r.Step + 1), Wider: len(called) > 0}
	switch {
	case s.Remind:
		a.Reminders = e.needed(ctx, r)
	case len(mention) > 0:
		a.Reminders = reminders(r, mention, stillWaiting(r))
	}
	return amend(ctx, e.records, r, a)
}

// needed returns reminders that mention the responders who have not decided
// yet.
func (e *escalator) needed(ctx context.Context, r bridge.Record) []bridge.Reminder {
	var out []bridge.Reminder
	for n := range r.Interaction.Destinations {
		if _, posted := r.Messages[n]; !posted {
			continue
		}
		m := bridge.Reminder{Destination: n, Text: stillWaiting(r)}
		for _, who := range e.cards.mentions.needed(ctx, r, n) {
			if who.Group != "" {
				m.Groups = append(m.Groups, who.Group)
			} else {
				m.Users, m.Names = append(m.Users, who.User), append(m.Names, r.Interaction.NameOf(who.Name))
			}
		}
		out = append(out, m)
	}
	return out
}

// amend stores an amendment.
func amend(ctx context.Context, records bridge.Records, r bridge.Record, a bridge.Amendment) error {
	_, err := records.Mark(ctx, r.Interaction.ID, bridge.Mark{Amended: &a})
	return err
}

// lookAgain returns a request with what its step with the index n did not find. If
// that is anyone, a later step looks for them again.
func lookAgain(i bridge.Interaction, n int, unfound []bridge.Unfound) bridge.Interaction {
	asked := i.Steps[n].Ask
	i.Unfound = slices.DeleteFunc(slices.Clone(i.Unfound), func(u bridge.Unfound) bool { return slices.Contains(asked, u.Name) })
	i.Unfound = append(i.Unfound, unfound...)
	var groups []string
	for _, u := range unfound {
		groups = append(groups, u.Name)
	}
	if len(groups) > 0 {
		i.Steps = bridge.LookAgain(i.Steps, n, groups)
	}
	return i
}

// called returns the accounts of the people that a step asks, and their names. It
// also returns the groups of which it found no one, or not everyone.
func (e *escalator) called(ctx context.Context, i bridge.Interaction, s bridge.Step) (out []bridge.Responder, names []string, unfound []bridge.Unfound) {
	if e.directory == nil {
		return nil, nil, nil
	}
	for _, name := range s.Ask {
		people := []string{name}
		if g, ok := strings.CutPrefix(name, bridge.GroupMark); ok {
			crew := e.directory.Crew(ctx, g, time.Now())
			people = crew.People
			if why := e.absent(i, g, crew); why != "" {
				e.log.Warn("people to ask not found", "id", i.ID, "group", g, "reason", why)
				unfound = append(unfound, bridge.Unfound{Name: name, Why: why})
			}
		}
		for _, person := range people {
			if slices.Contains(i.Requesters, person) {
				continue
			}
			out = append(out, e.accounts(ctx, person)...)
			names = append(names, person)
		}
	}
	return out, names, unfound
}

// absent returns why a step finds no one, or not everyone, in a group. Those whom
// only a platform knows are found by the platform.
func (e *escalator) absent(i bridge.Interaction, group string, crew bridge.Crew) string {
	native := slices.ContainsFunc(i.Destinations, func(d bridge.Destination) bool { return e.directory.Native(group, d.Platform) != "" })
	switch {
	case crew.Unread != "":
		return crew.Unread
	case len(crew.Strangers) > 0:
		return "on call, but not in the config: " + strings.Join(crew.Strangers, ", ")
	case len(crew.People) == 0 && !native:
		return "no one is on call"
	}
	return ""
}

// accounts returns the accounts of a person. One without any answers by the API.
func (e *escalator) accounts(ctx context.Context, person string) []bridge.Responder {
	all, err := e.directory.Accounts(ctx, person)
	if err != nil {
		e.log.Warn("accounts of a person not found", "person", person, "error", err)
	}
	if len(all) == 0 {
		all = []bridge.Responder{{Person: person, Platform: bridge.PlatformAPI, User: person}}
	}
	return all
}

// reminders returns reminders that mention accounts wherever the card is shown.
func reminders(r bridge.Record, who []bridge.Responder, text string) []bridge.Reminder {
	var out []bridge.Reminder
	for n, d := range r.Interaction.Destinations {
		if _, posted := r.Messages[n]; !posted {
			continue
		}
		m := bridge.Reminder{Destination: n, Text: text}
		for _, a := range who {
			if a.Platform == d.Platform && len(m.Users) < maxMentions && !slices.Contains(m.Users, a.User) {
				m.Users, m.Names = append(m.Users, a.User), append(m.Names, r.Interaction.NameOf(a.Person))
			}
		}
		out = append(out, m)
	}
	return out
}

// remind sends a reminder, unless the request was closed in the meantime.
func (e *escalator) remind(ctx context.Context, j bridge.Job) error {
	r, err := e.records.Load(ctx, j.Interaction)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	if err != nil || r.State.Final() {
		return err
	}
	if j.Destination >= len(r.Reminders) {
		return bridge.Errorf(bridge.CodeInternal, "reminder %d of %d does not exist", j.Destination, len(r.Reminders))
	}
	m := r.Reminders[j.Destination]
	p, err := e.platforms.of(r, m.Destination)
	if err != nil {
		return err
	}
	ref, posted := r.Messages[m.Destination]
	if s, ok := p.(bridge.ReminderPoster); ok && posted {
		began := time.Now()
		err = s.Remind(ctx, r.Interaction.Destinations[m.Destination], ref, m)
		e.watcher.did(j, p.Name(), r, began, err)
		return err
	}
	return nil
}

// snooze schedules a reminder for one person, who has at most one for a request.
func (e *escalator) snooze(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i := a.record.Interaction
	if i.Snooze == 0 {
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}, nil
	}
	m := bridge.Reminder{
		Destination: a.control.Destination, Users: []string{a.Actor.User}, Names: []string{a.actor.Display()}, Text: "you asked to be reminded: " + about(a.record),
		Snoozer: a.actor.Voter(), Due: time.Now().Add(time.Duration(i.Snooze)).UTC().Truncate(time.Millisecond),
	}
	due, waits := snoozed(a.record, m.Snoozer)
	if !waits {
		err := e.amendNow(ctx, i.ID, func(r bridge.Record) bridge.Amendment {
			next := bridge.Amendment{Expect: r.Amended, Interaction: r.Interaction}
			if due, waits = snoozed(r, m.Snoozer); !waits { // not by another click at the same time
				due, next.Reminders, next.Delay = m.Due, []bridge.Reminder{m}, time.Duration(i.Snooze)
			}
			return next
		})
		if err != nil {
			return bridge.Verdict{}, err
		}
	}
	return bridge.Verdict{Kind: bridge.VerdictNoted, Note: fmt.Sprintf("nod will remind you at %s. The request stays open until %s.", render.When(due), render.When(i.Deadline))}, nil
}

// snoozed returns when a person will be reminded of a request, and false if no
// reminder for them is pending.
func snoozed(r bridge.Record, who string) (time.Time, bool) {
	for _, m := range r.Reminders {
		if m.Snoozer == who && m.Due.After(time.Now()) {
			return m.Due, true
		}
	}
	return time.Time{}, false
}

// delegate returns the person that a control delegates to. A non-nil verdict is
// the reply to the click.
func (e *escalator) delegate(ctx context.Context, a admitted) (bridge.Actor, *bridge.Verdict) {
	names, n := a.record.Interaction.HandOver, a.control.Option
	switch {
	case e.directory == nil:
	case n == bridge.OptionAnyone && a.Picked != "":
		to := bridge.Actor{Platform: a.actor.Platform, User: a.Picked}
		k := e.people.identify(ctx, bridge.Interaction{}, to)
		if k.who.Person != "" {
			return k.who, nil
		}
		if k.unidentified != "" {
			return to, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "nod cannot read " + k.unidentified + " now. Nothing was changed. Try again in a moment."}
		}
		return to, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "nod does not know this account. Nothing was changed. Ask your nod administrator to add it under people in the config."}
	case n < len(names) && !strings.HasPrefix(names[n], bridge.GroupMark):
		return bridge.Actor{Platform: bridge.PlatformAPI, User: names[n], Person: names[n]}, nil
	}
	return bridge.Actor{}, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: noteForged}
}

// handOver delegates to another person: it adds the person as a responder and
// mentions them.
func (e *escalator) handOver(ctx context.Context, a admitted) (bridge.Verdict, error) {
	i := a.record.Interaction
	who, refusal := e.delegate(ctx, a)
	if refusal != nil {
		return *refusal, nil
	}
	to := who.Person
	routes, unread := e.handsOver(ctx, i, a.actor, who)
	if len(routes) == 0 && len(unread) > 0 {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "nod cannot read " + strings.Join(unread, ", ") + " now. Nothing was changed. Try again in a moment."}, nil
	}
	if len(routes) == 0 {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "You are not a responder on a route that can hand over to " + to + ". Nothing was changed."}, nil
	}
	if slices.Contains(i.Requesters, to) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: to + " requested this or owns the agent, and cannot answer it. Nothing was changed."}, nil
	}
	accounts := e.accounts(ctx, to)
	text := bridge.OneLine(a.actor.Display()) + " hands over to " + to + ": " + about(a.record)
	if handedOver(i, routes, to) {
		return bridge.Verdict{Kind: bridge.VerdictNoted, Note: to + " was already asked and can answer. Nothing was changed."}, nil
	}
	err := e.amendNow(ctx, i.ID, func(r bridge.Record) bridge.Amendment {
		next := r.Interaction
		if handedOver(next, routes, to) { // by another click at the same time
			return bridge.Amendment{Expect: r.Amended, Interaction: next}
		}
		for _, route := range routes {
			next.Add(bridge.Addition{For: route, Responders: accounts})
		}
		next.Called = append(slices.Clone(next.Called), bridge.Missing(next.Called, []string{to})...)
		return bridge.Amendment{Expect: r.Amended, Interaction: next, Wider: true, Reminders: reminders(r, accounts, text)}
	})
	if err != nil {
		return bridge.Verdict{}, err
	}
	if err := e.journal.write(ctx, bridge.AuditHandOver, i, bridge.HandOver{By: a.actor, To: to}); err != nil {
		e.log.Error("delegation not written to the audit log", "id", i.ID, "error", err)
	}
	return bridge.Verdict{Kind: bridge.VerdictNoted, Note: "Handed over: " + to + " can answer now and was notified. You can still answer."}, nil
}

// handedOver reports whether a person was asked by name for a request on each of
// the routes. Further clicks then mention no one again.
func handedOver(i bridge.Interaction, routes []string, to string) bool {
	return !slices.ContainsFunc(routes, func(route string) bool {
		return !slices.ContainsFunc(i.Added, func(a bridge.Addition) bool {
			return a.For == route && a.Route == "" && slices.ContainsFunc(a.Responders, func(r bridge.Responder) bool { return r.Person == to })
		})
	})
}

// handsOver returns the routes on which an actor may delegate to a person, and what
// nod cannot read to find out. The only name is empty if the request has one route.
func (e *escalator) handsOver(ctx context.Context, i bridge.Interaction, actor, to bridge.Actor) (routes, unread []string) {
	if len(i.Requirements) == 0 {
		in, unread := e.people.namedIn(ctx, i.HandOver, to)
		if !in {
			return nil, unread
		}
		return []string{""}, nil
	}
	for _, q := range i.Requirements {
		in, more := e.people.namedIn(ctx, q.HandOver, to)
		if in {
			in, more = e.people.responds(ctx, q.Responders, q.Groups, actor)
		}
		if in {
			routes = append(routes, q.Route)
		}
		unread = append(unread, bridge.Missing(unread, more)...)
	}
	return routes, unread
}

// amendTries is the maximum number of attempts to amend, because another
// amendment can come first.
const amendTries = 5

func (e *escalator) amendNow(ctx context.Context, id bridge.ID, make func(bridge.Record) bridge.Amendment) error {
	var err error
	for range amendTries {
		var r bridge.Record
		if r, err = e.records.Load(ctx, id); err != nil {
			return err
		}
		if err = amend(ctx, e.records, r, make(r)); bridge.ErrorCode(err) != bridge.CodeConflict {
			return err
		}
	}
	return err
}
