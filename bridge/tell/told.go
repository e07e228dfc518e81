package tell

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
)

// Opened gives the responders of a new request a separate card if none of its
// cards reaches them. It records the people whom no message reaches, and the
// groups whose members it does not find. It reports whether anyone is told.
func (e *Notifier) Opened(ctx context.Context, i *bridge.Interaction) (unfound []bridge.Unfound, anyone bool) {
	if e.directory == nil || i.Kind == bridge.KindNotice {
		return nil, true
	}
	t, called := e.Telling(ctx, bridge.Record{Interaction: *i}, i), i.Called
	cards := make([]int, len(i.Destinations))
	for n := range cards {
		cards[n] = n
	}
	at := t.apart(cards, i.Responders, i.Groups)
	if i.Called = called; len(at) > 0 && len(i.Steps) > 0 {
		t.told("", at, "")
	}
	i.Names = e.people.Names(*i)
	return t.Unfound, t.Reached || len(at) > 0
}

// LookAgain returns a new request with steps that look again for the groups
// that were not found, each for its route.
func (e *Notifier) LookAgain(i bridge.Interaction, unfound []bridge.Unfound) bridge.Interaction {
	for _, q := range i.RouteRequirements() {
		of := bridge.Step{}
		if len(i.Requirements) > 0 {
			of.For, of.Quiet = q.Route, e.routes[q.Route].Quiet
		}
		i = Look(i, 0, of, slices.DeleteFunc(slices.Clone(unfound), func(u bridge.Unfound) bool {
			return slices.Contains(i.Unfound, u) || !slices.Contains(q.Groups, strings.TrimPrefix(u.Name, bridge.GroupMark))
		}))
	}
	return i
}

// apart tells the people that none of the new cards reaches, and returns the
// cards that reach any of the others. It does not tell people who may not
// approve.
func (t *Telling) apart(cards []int, responders []bridge.Responder, groups []string) (at []int) {
	names := Names(responders, nil)
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
	t.People(apart)
	return at
}

// reaching returns the cards that reach one of the given accounts.
func (t *Telling) reaching(cards []int, accounts []bridge.Responder) (on []int) {
	for _, n := range cards {
		if slices.ContainsFunc(accounts, func(a bridge.Responder) bool { return t.reaches(t.next.Destinations[n], a) }) {
			on = append(on, n)
		}
	}
	return on
}

// Widened tells the people who may answer an amended request, but could not
// answer it before.
func (t *Telling) Widened(was bridge.Interaction) {
	if t.directory == nil {
		return
	}
	had := Names(was.Responders, nil)
	responders := slices.DeleteFunc(slices.Clone(t.next.Responders), func(r bridge.Responder) bool { return slices.Contains(had, r.Person) })
	var cards []int
	for n := len(was.Destinations); n < len(t.next.Destinations); n++ {
		cards = append(cards, n)
	}
	t.apart(cards, responders, bridge.Missing(was.Groups, t.next.Groups))
}

// Tells reports whether the last step that asked people still tells any of
// them.
func Tells(told []bridge.Told, failures map[int]string) bool {
	last := 0
	for _, t := range told {
		last = max(last, t.Step)
	}
	return slices.ContainsFunc(told, func(t bridge.Told) bool {
		return t.Step == last && slices.ContainsFunc(t.At, func(n int) bool { return failures[n] == "" })
	})
}

// Hurry makes the next step due at once if nod has told no one yet who can
// answer, unless the next step gives up.
func Hurry(a *life.Amendment, r bridge.Record) {
	steps := a.Interaction.Steps
	if !Tells(a.Interaction.Told, r.Failures) && r.Step < len(steps) && steps[r.Step].GiveUp == "" {
		a.Then = &life.NextStep{Index: r.Step}
	}
}

// WithoutMessage returns the records of told people without a message that was
// given up.
func (e *Notifier) WithoutMessage(i bridge.Interaction, m bridge.Reminder, why string) []bridge.Told {
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

// Look returns a request with the groups that a step did not find. A later
// step, with the index n at the earliest, looks for them again.
func Look(i bridge.Interaction, n int, of bridge.Step, unfound []bridge.Unfound) bridge.Interaction {
	var groups []string
	for _, u := range unfound {
		groups = append(groups, u.Name)
	}
	i.Unfound = append(slices.Clip(i.Unfound), unfound...)
	if len(groups) > 0 {
		i.Steps = bridge.LookAgain(i.Steps, n, of, groups)
	}
	return i
}
