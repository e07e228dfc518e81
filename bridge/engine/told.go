package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// opened gives the responders of a request that opens a card of their own if none of
// its cards reaches them, and notes whom nothing tells and which groups it does not
// find. It reports whether anyone is told.
func (e *notifier) opened(ctx context.Context, i *bridge.Interaction) (unfound []bridge.Unfound, anyone bool) {
	if e.directory == nil || i.Kind == bridge.KindNotice {
		return nil, true
	}
	t, called := e.telling(ctx, bridge.Record{Interaction: *i}, i), i.Called
	cards := make([]int, len(i.Destinations))
	for n := range cards {
		cards[n] = n
	}
	at := t.apart(cards, i.Responders, i.Groups)
	if i.Called = called; len(at) > 0 && len(i.Steps) > 0 {
		t.told("", at, "")
	}
	i.Names = e.people.Names(*i)
	return t.unfound, t.reached || len(at) > 0
}

// lookAgain returns a request that opens with steps that look again for the groups that
// it does not find, each for its route.
func (e *notifier) lookAgain(i bridge.Interaction, unfound []bridge.Unfound) bridge.Interaction {
	for _, q := range i.RouteRequirements() {
		of := bridge.Step{}
		if len(i.Requirements) > 0 {
			of.For, of.Quiet = q.Route, e.routes[q.Route].Quiet
		}
		i = lookAgain(i, 0, of, slices.DeleteFunc(slices.Clone(unfound), func(u bridge.Unfound) bool {
			return slices.Contains(i.Unfound, u) || !slices.Contains(q.Groups, strings.TrimPrefix(u.Name, bridge.GroupMark))
		}))
	}
	return i
}

// apart tells the people whom none of some new cards reaches, and returns the cards
// that reach any of the others. Those who may not approve are not told.
func (t *telling) apart(cards []int, responders []bridge.Responder, groups []string) (at []int) {
	names := namesOf(responders, nil)
	for _, g := range groups {
		names = append(names, bridge.Missing(names, t.crew(g))...)
	}
	var apart []string
	for _, name := range bridge.Missing(t.next.Requesters, names) {
		on := t.reaching(cards, slices.DeleteFunc(slices.Clone(responders), func(r bridge.Responder) bool { return r.Person != name }))
		if len(on) == 0 {
			on = t.reaching(cards, t.accounts(t.ctx, name))
		}
		if at = append(at, bridge.Missing(at, on)...); len(on) == 0 {
			apart = append(apart, name)
		}
	}
	for _, g := range groups {
		var on []int
		for _, n := range cards {
			if t.directory.Native(g, t.next.Destinations[n].Platform) != "" {
				on = append(on, n)
			}
		}
		if at = append(at, bridge.Missing(at, on)...); len(on) == 0 {
			t.group(g)
		}
	}
	t.people(apart)
	return at
}

// reaching returns the cards that reach one of some accounts.
func (t *telling) reaching(cards []int, accounts []bridge.Responder) (on []int) {
	for _, n := range cards {
		if slices.ContainsFunc(accounts, func(a bridge.Responder) bool { return t.platforms.reaches(t.next.Destinations[n], a) }) {
			on = append(on, n)
		}
	}
	return on
}

// widened tells the people who may answer an amended request, and could not answer it
// before.
func (t *telling) widened(was bridge.Interaction) {
	if t.directory == nil {
		return
	}
	had := namesOf(was.Responders, nil)
	responders := slices.DeleteFunc(slices.Clone(t.next.Responders), func(r bridge.Responder) bool { return slices.Contains(had, r.Person) })
	var cards []int
	for n := len(was.Destinations); n < len(t.next.Destinations); n++ {
		cards = append(cards, n)
	}
	t.apart(cards, responders, bridge.Missing(was.Groups, t.next.Groups))
}

// tells reports whether the last act that asked people still tells any of them.
func tells(told []bridge.Told, failures map[int]string) bool {
	last := 0
	for _, t := range told {
		last = max(last, t.Step)
	}
	return slices.ContainsFunc(told, func(t bridge.Told) bool {
		return t.Step == last && slices.ContainsFunc(t.At, func(n int) bool { return failures[n] == "" })
	})
}

// hurry makes the next step due at once if no one is told who could answer before it.
func hurry(a *bridge.Amendment, r bridge.Record) {
	steps := a.Interaction.Steps
	if !tells(a.Interaction.Told, r.Failures) && r.Step < len(steps) && steps[r.Step].GiveUp == "" {
		a.Then = &bridge.NextStep{Index: r.Step}
	}
}

// Untold records that a message which tells people of a request was given up.
func (e *Escalator) Untold(ctx context.Context, j bridge.Job, why string) error {
	r, err := e.records.Load(ctx, j.Interaction)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return nil
	case err != nil:
		return err
	case r.State.Final() || j.Destination >= len(r.Reminders) || !r.Reminders[j.Destination].Tells:
		return nil
	}
	err = e.amendNow(ctx, j.Interaction, func(r bridge.Record) bridge.Amendment {
		a := bridge.Amendment{Expect: r.Amended, Interaction: r.Interaction}
		a.Interaction.Told = e.withoutMessage(r.Interaction, r.Reminders[j.Destination], why)
		hurry(&a, r)
		return a
	})
	if bridge.ErrorCode(err) == bridge.CodeConflict {
		return nil
	}
	return err
}

// cardFailed follows the failure of a card that should have told people: the other
// cards say so.
func (e *Escalator) cardFailed(ctx context.Context, id bridge.ID, destination int) error {
	r, err := e.records.Load(ctx, id)
	if err == nil && !r.State.Final() && slices.ContainsFunc(r.Interaction.Told, func(t bridge.Told) bool { return slices.Contains(t.At, destination) }) {
		err = e.amendNow(ctx, id, func(r bridge.Record) bridge.Amendment {
			a := bridge.Amendment{Expect: r.Amended, Interaction: r.Interaction}
			hurry(&a, r)
			return a
		})
	}
	if code := bridge.ErrorCode(err); code == bridge.CodeNotFound || code == bridge.CodeConflict {
		return nil
	}
	return err
}

// withoutMessage returns who was told where, without a message that was given up.
func (e *Escalator) withoutMessage(i bridge.Interaction, m bridge.Reminder, why string) []bridge.Told {
	told := slices.Clone(i.Told)
	for n, t := range told {
		group, isGroup := strings.CutPrefix(t.Name, bridge.GroupMark)
		in := slices.Contains(m.Names, i.NameOf(t.Name))
		if isGroup && e.directory != nil {
			in = slices.Contains(m.Groups, e.directory.Native(group, i.Destinations[m.Destination].Platform))
		}
		if !in || !slices.Contains(t.At, m.Destination) {
			continue
		}
		told[n].At = slices.DeleteFunc(slices.Clone(t.At), func(at int) bool { return at == m.Destination })
		if len(told[n].At) == 0 {
			told[n].Why = why
		}
	}
	return told
}
