package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Limits of the messages that tell people of a request.
const (
	maxMentions = 10 // people in one reminder
	maxTold     = 50 // people in one channel
	maxDirect   = 10 // direct messages of a step
)

// telling finds the messages that tell people of a request that they were added to:
// a mention next to a card, or a card of their own as a direct message. It
// also records which people get which of these messages; nothing else claims that
// someone was told.
type telling struct {
	*escalator
	ctx     context.Context
	r       bridge.Record       // as stored
	next    *bridge.Interaction // gets the direct messages, and the record
	at      []int               // the destinations that can mention people
	users   map[int][]bridge.Responder
	groups  map[int][]string // in the platform's own format
	direct  int
	reached bool
}

func (e *escalator) telling(ctx context.Context, r bridge.Record, next *bridge.Interaction) *telling {
	t := &telling{escalator: e, ctx: ctx, r: r, next: next, users: map[int][]bridge.Responder{}, groups: map[int][]string{}}
	for n := range r.Interaction.Destinations {
		if _, posted := r.Messages[n]; posted {
			t.at = append(t.at, n)
		}
	}
	next.Destinations, next.Told, next.Called = slices.Clone(next.Destinations), slices.Clone(next.Told), slices.Clone(next.Called)
	return t
}

// told records who is told where. A platform that is down reaches no one yet.
func (t *telling) told(name string, at []int, why string) {
	t.reached = t.reached || slices.ContainsFunc(at, func(n int) bool {
		return usable(t.platforms[t.next.Destinations[n].Platform]) == nil
	})
	t.next.Told = append(slices.DeleteFunc(t.next.Told, func(o bridge.Told) bool { return o.Name == name }), bridge.Told{Name: name, At: at, Why: why})
}

// directChannel returns the channel of direct messages to an account, or "" if its
// platform has none.
func (t *telling) directChannel(a bridge.Responder) string {
	p, ok := t.platforms[a.Platform].(bridge.Mentioner)
	if !ok {
		return ""
	}
	return p.DirectChannel(a.User)
}

// people tells people, and returns their accounts. Those who requested it, or own the
// agent, are not asked.
func (t *telling) people(names []string) []bridge.Responder {
	var out []bridge.Responder
	for n, name := range names {
		if n == maxTold {
			t.told(fmt.Sprintf("%d more people", len(names)-n), nil, fmt.Sprintf("only %d are mentioned", maxTold))
		}
		if n >= maxTold {
			out = append(out, t.accounts(t.ctx, name)...)
			continue
		}
		if slices.Contains(t.next.Requesters, name) {
			t.told(name, nil, "requested this or owns the agent")
			continue
		}
		accounts := t.accounts(t.ctx, name)
		out = append(out, accounts...)
		t.next.Called = append(t.next.Called, bridge.Missing(t.next.Called, []string{name})...)
		at, why := t.person(accounts)
		t.told(name, at, why)
	}
	return out
}

// person returns the destinations at which a person is told.
func (t *telling) person(accounts []bridge.Responder) (at []int, why string) {
	for _, n := range t.at {
		d := t.next.Destinations[n]
		for _, a := range accounts {
			if !t.platforms.reaches(d, a) {
				continue
			}
			if len(t.users[n]) == maxTold {
				why = fmt.Sprintf("only %d people are mentioned", maxTold)
				continue
			}
			t.users[n], at = append(t.users[n], a), append(at, n)
		}
	}
	if len(at) > 0 || why != "" {
		return at, why
	}
	return t.directly(accounts)
}

// directly adds a card as a direct message to a person whom no card can mention.
func (t *telling) directly(accounts []bridge.Responder) (at []int, why string) {
	why = "no account in a chat"
	for _, a := range accounts {
		d := bridge.Destination{Platform: a.Platform, Channel: t.directChannel(a)}
		if d.Channel == "" {
			continue
		}
		n := slices.Index(t.next.Destinations, d)
		switch {
		case n >= 0 && t.r.Failures[n] != "":
			why = t.r.Failures[n]
		case n >= 0:
			return []int{n}, ""
		case t.direct == maxDirect || len(t.next.Destinations) == bridge.MaxDestinations:
			why = "too many direct messages"
		default:
			t.direct++
			t.next.Destinations = append(t.next.Destinations, d)
			return []int{len(t.next.Destinations) - 1}, ""
		}
	}
	return nil, why
}

// group tells a group wherever a mention of its own notifies its members.
func (t *telling) group(name string) {
	var at []int
	why := ""
	for _, n := range t.at {
		d := t.next.Destinations[n]
		native := t.directory.Native(name, d.Platform)
		if native == "" {
			continue
		}
		p, ok := t.platforms[d.Platform].(bridge.Mentioner)
		if !ok || p.Direct(d) || !p.Pings(t.ctx, native) {
			why = "nod cannot mention it on " + d.Platform
			continue
		}
		t.groups[n], at = append(t.groups[n], native), append(at, n)
	}
	if crew := t.directory.Crew(t.ctx, name, time.Now()); why == "" && len(at) == 0 && len(crew.People) == 0 && crew.Unread == "" && t.elsewhere(name) {
		why = "no card of this request is on its platform"
	}
	if len(at) > 0 || why != "" {
		t.next.Called = append(t.next.Called, bridge.Missing(t.next.Called, []string{bridge.GroupMark + name})...)
		t.told(bridge.GroupMark+name, at, why)
	}
}

// elsewhere reports whether a group is one of a platform.
func (t *telling) elsewhere(group string) bool {
	for name := range t.platforms {
		if t.directory.Native(group, name) != "" {
			return true
		}
	}
	return false
}

// route tells the responders of another route. A new card mentions them itself, if
// they are not too many.
func (t *telling) route(s bridge.Step) {
	var at []int
	had := t.at
	t.at = nil
	for _, d := range s.Destinations {
		n := slices.Index(t.next.Destinations, d)
		if n < 0 {
			n = len(t.next.Destinations)
			t.next.Destinations = append(t.next.Destinations, d)
		}
		at = append(at, n)
	}
	t.at = at
	var names []string
	for _, r := range s.Responders {
		names = append(names, bridge.Missing(names, []string{r.Person})...)
	}
	if t.directory != nil {
		for _, g := range s.Groups {
			names = append(names, bridge.Missing(names, t.directory.Crew(t.ctx, g, time.Now()).People)...)
		}
	}
	before := slices.Clone(t.next.Called)
	t.people(names)
	for _, g := range s.Groups {
		if t.directory != nil {
			t.group(g)
		}
	}
	t.next.Called = append(before, bridge.Missing(before, []string{s.Route})...)
	t.next.Told = slices.DeleteFunc(t.next.Told, func(o bridge.Told) bool { // its name is enough
		return slices.Contains(names, o.Name) && len(o.At) > 0 && len(bridge.Missing(at, o.At)) == 0
	})
	for _, n := range at {
		if !slices.Contains(had, n) && len(t.users[n]) <= bridge.MaxMentions {
			delete(t.users, n)
			delete(t.groups, n)
		}
	}
	t.told(s.Route, at, "")
	t.at = had
}

// reminders returns the messages that mention people next to cards.
func (t *telling) reminders(text string) []bridge.Reminder {
	var out []bridge.Reminder
	for n := range t.next.Destinations {
		users, groups := t.users[n], t.groups[n]
		for len(users)+len(groups) > 0 {
			m := bridge.Reminder{Destination: n, Text: text, Groups: groups, Tells: true}
			for _, a := range users[:min(len(users), maxMentions)] {
				m.Users, m.Names = append(m.Users, a.User), append(m.Names, t.next.NameOf(a.Person))
			}
			users, groups = users[len(m.Users):], nil
			out = append(out, m)
		}
	}
	return out
}

// said returns what a person who hands over reads of how the other one is told.
func (t *telling) said(person, name string) string {
	n := slices.IndexFunc(t.next.Told, func(o bridge.Told) bool { return o.Name == person })
	if n < 0 || len(t.next.Told[n].At) == 0 {
		why := ""
		if n >= 0 {
			why = " (" + t.next.Told[n].Why + ")"
		}
		return "nod cannot tell " + name + why + ", so tell them yourself. "
	}
	at := t.next.Told[n].At[0]
	platform := render.Platform(t.next.Destinations[at].Platform)
	if at >= len(t.r.Interaction.Destinations) {
		return "nod sends " + name + " a card on " + platform + ". "
	}
	return "nod mentions " + name + " on " + platform + ". "
}

// untold records that a message which tells people of a request was given up. If no
// one who was asked since the request opened was told, the next step runs at once.
func (e *escalator) untold(ctx context.Context, j bridge.Job, why string) error {
	r, err := e.records.Load(ctx, j.Interaction)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return nil
	case err != nil:
		return err
	case r.State.Final() || j.Destination >= len(r.Reminders) || !r.Reminders[j.Destination].Tells:
		return nil
	}
	return e.amendNow(ctx, j.Interaction, func(r bridge.Record) bridge.Amendment {
		a := bridge.Amendment{Expect: r.Amended, Interaction: r.Interaction}
		told := e.withoutMessage(r.Interaction, r.Reminders[j.Destination], why)
		a.Interaction.Told = told
		reached := slices.ContainsFunc(told, func(t bridge.Told) bool {
			return slices.ContainsFunc(t.At, func(n int) bool { return r.Failures[n] == "" })
		})
		if steps := r.Interaction.Steps; !reached && r.Step < len(steps) && steps[r.Step].GiveUp == "" {
			a.Then = &bridge.NextStep{Index: r.Step}
		}
		return a
	})
}

// withoutMessage returns who was told where, without a message that was given up.
func (e *escalator) withoutMessage(i bridge.Interaction, m bridge.Reminder, why string) []bridge.Told {
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
