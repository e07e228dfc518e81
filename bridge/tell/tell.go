// Package tell finds the people that a card mentions, and tells other people
// about a request by a mention next to a card, or by a separate card. It
// decides who is told, not who may answer, and posts nothing. Start with
// [Notifier.Telling].
package tell

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
	"github.com/nodbridge/nod/render"
)

// Limits of the messages that tell people of a request.
const (
	maxMentions = 10 // people in one reminder
	maxTold     = 50 // people in one channel
	maxDirect   = 10 // direct messages of a step
)

// Notifier finds people, and the messages that tell them of a request. It is safe for
// concurrent use.
type Notifier struct {
	platforms map[string]bridge.Platform
	people    *people.People
	directory bridge.Directory
	routes    map[string]bridge.Route
	log       *slog.Logger
}

// New returns a notifier. Without a directory, only cards tell people.
func New(
	platforms map[string]bridge.Platform, p *people.People, directory bridge.Directory, routes map[string]bridge.Route, log *slog.Logger,
) *Notifier {
	return &Notifier{platforms: platforms, people: p, directory: directory, routes: routes, log: log}
}

// Telling finds the messages that tell added people about a request: a mention
// next to a card, or a separate card as a direct message. It also records which
// people get which of these messages. nod uses only this record to state that
// someone was told.
type Telling struct {
	*Notifier
	ctx     context.Context
	r       bridge.Record       // as stored
	next    *bridge.Interaction // the changed request, which gets the direct messages and the record of the told people
	Step    int                 // see bridge.Told
	at      []int               // indexes of the destinations that can mention people
	users   map[int][]bridge.Responder
	groups  map[int][]string // native groups by destination, in the format of the platform
	direct  int
	names   []string // told so far
	Unfound []bridge.Unfound
	Reached bool
}

func (e *Notifier) Telling(ctx context.Context, r bridge.Record, next *bridge.Interaction) *Telling {
	t := &Telling{Notifier: e, ctx: ctx, r: r, next: next, Step: r.Step, users: map[int][]bridge.Responder{}, groups: map[int][]string{}}
	for n := range r.Interaction.Destinations {
		if _, posted := r.Messages[n]; posted {
			t.at = append(t.at, n)
		}
	}
	next.Destinations, next.Told, next.Called = slices.Clone(next.Destinations), slices.Clone(next.Told), slices.Clone(next.Called)
	return t
}

// told records the destinations where a person or a group is told. A platform
// that is down reaches no one yet.
func (t *Telling) told(name string, at []int, why string) {
	t.Reached = t.Reached || slices.ContainsFunc(at, func(n int) bool {
		return bridge.Usable(t.platforms[t.next.Destinations[n].Platform]) == nil
	})
	t.next.Told = append(slices.DeleteFunc(t.next.Told, func(o bridge.Told) bool { return o.Name == name }), bridge.Told{Name: name, At: at, Why: why, Step: t.Step})
}

// Ask tells people, and groups with GroupMark, and returns those who can answer now.
func (t *Telling) Ask(names []string) bridge.Addition {
	var out bridge.Addition
	for _, name := range names {
		g, isGroup := strings.CutPrefix(name, bridge.GroupMark)
		people := []string{name}
		if isGroup && t.directory != nil {
			people = t.crew(g)
			out.Groups = append(out.Groups, g)
			t.group(g)
		}
		out.Responders = append(out.Responders, t.People(people)...)
	}
	return out
}

// crew returns the known members of a group. It records whether some or all of
// them were not found.
func (t *Telling) crew(group string) []string {
	crew := t.directory.Crew(t.ctx, group, time.Now())
	if why := t.absent(*t.next, group, crew); why != "" {
		t.log.Warn("people to ask not found", "id", t.next.ID, "group", group, "reason", why)
		t.Unfound = append(t.Unfound, bridge.Unfound{Name: bridge.GroupMark + group, Why: why})
	}
	return crew.People
}

// absent returns the reason why some or all members of a group are not found.
// It ignores members that only a platform knows, because the platform finds
// them.
func (e *Notifier) absent(i bridge.Interaction, group string, crew bridge.Crew) string {
	switch {
	case crew.Unread != "":
		return crew.Unread
	case len(crew.Strangers) > 0:
		return "on call, but not in the config: " + render.Few(crew.Strangers)
	case len(crew.People) == 0 && !e.elsewhere(group):
		return "no one is on call"
	}
	return ""
}

// accounts returns the accounts of a person. A person without an account
// answers through the API.
func (e *Notifier) accounts(ctx context.Context, person string) []bridge.Responder {
	all, err := e.directory.Accounts(ctx, person)
	if err != nil {
		e.log.Warn("accounts of a person not found", "person", person, "error", err)
	}
	if len(all) == 0 {
		all = []bridge.Responder{{Person: person, Platform: bridge.PlatformAPI, User: person}}
	}
	return all
}

// directChannel returns the channel of direct messages to an account, or "" if its
// platform has none.
func (t *Telling) directChannel(a bridge.Responder) string {
	p, ok := t.platforms[a.Platform].(bridge.Mentioner)
	if !ok {
		return ""
	}
	return p.DirectChannel(a.User)
}

// People tells people about the request, and returns their accounts. It does
// not ask the requester and the owners of the agent.
func (t *Telling) People(names []string) []bridge.Responder {
	var out []bridge.Responder
	names = bridge.Missing(t.names, names)
	t.names = append(t.names, names...)
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
func (t *Telling) person(accounts []bridge.Responder) (at []int, why string) {
	for _, n := range t.at {
		d := t.next.Destinations[n]
		for _, a := range accounts {
			if !t.reaches(d, a) {
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

// directly adds a card as a direct message to a person that no card can
// mention.
func (t *Telling) directly(accounts []bridge.Responder) (at []int, why string) {
	why = "no known chat account"
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
		case t.direct == maxDirect || t.full():
			why = "too many direct messages"
		default:
			t.direct++
			t.next.Destinations = append(t.next.Destinations, d)
			return []int{len(t.next.Destinations) - 1}, ""
		}
	}
	return nil, why
}

// full reports whether there is no room for another card. Cards of later steps
// have reserved places.
func (t *Telling) full() bool {
	all := slices.Clone(t.next.Destinations)
	for _, s := range t.next.Steps[min(t.r.Step, len(t.next.Steps)):] {
		all = append(all, bridge.Missing(all, s.Destinations)...)
	}
	return len(all) >= bridge.MaxDestinations
}

// group tells a group at each destination where a mention of the group notifies
// its members.
func (t *Telling) group(name string) {
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

// elsewhere reports whether a group includes a native group of a platform.
func (e *Notifier) elsewhere(group string) bool {
	for name := range e.platforms {
		if e.directory.Native(group, name) != "" {
			return true
		}
	}
	return false
}

// Route tells the responders of another route. A new card itself mentions them
// unless there are too many.
func (t *Telling) Route(s bridge.Step) {
	var at []int
	had, called, before := t.at, t.next.Called, t.names
	for _, d := range s.Destinations {
		n := slices.Index(t.next.Destinations, d)
		if n < 0 {
			n = len(t.next.Destinations)
			t.next.Destinations = append(t.next.Destinations, d)
		}
		at = append(at, n)
	}
	t.at, t.names, t.next.Called = at, nil, slices.Clone(called)
	names := Names(s.Responders, s.Groups)
	t.Ask(names)
	told := append(names, t.names...)
	t.next.Called = append(called, bridge.Missing(called, []string{s.Route})...)
	t.next.Told = slices.DeleteFunc(t.next.Told, func(o bridge.Told) bool { // the name of the route is enough
		return slices.Contains(told, o.Name) && len(o.At) > 0 && len(bridge.Missing(at, o.At)) == 0
	})
	var reaching []int
	for _, n := range at {
		if len(t.users[n])+len(t.groups[n]) > 0 {
			reaching = append(reaching, n)
		}
		if !slices.Contains(had, n) && len(t.users[n]) <= bridge.MaxMentions {
			delete(t.users, n)
			delete(t.groups, n)
		}
	}
	if why := "its cards mention no one"; len(reaching) > 0 {
		t.told(s.Route, reaching, "")
	} else {
		t.told(s.Route, nil, why)
	}
	t.at, t.names = had, append(before, t.names...)
}

// Names returns the names of responders and groups, groups with GroupMark.
func Names(responders []bridge.Responder, groups []string) []string {
	var names []string
	for _, r := range responders {
		names = append(names, bridge.Missing(names, []string{r.Person})...)
	}
	for _, g := range groups {
		names = append(names, bridge.GroupMark+g)
	}
	return names
}

// Reminders returns the messages that mention people next to cards.
func (t *Telling) Reminders(text string) []bridge.Reminder {
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

// Said returns the text about how the other person is notified, for the person
// who delegates.
func (t *Telling) Said(person, name string) string {
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
