package engine

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/people"
)

// clickMentions is the time limit for looking up whom the card of a click
// mentions. Mentions that are not found in time return with the next edit.
const clickMentions = 200 * time.Millisecond

// mentioner determines whom a card mentions.
type mentioner struct {
	directory bridge.Directory
	platforms platforms
	people    *people.People
	log       *slog.Logger
}

// of returns the mentions of the card of a record at a destination. Direct
// messages and notices have none.
func (m *mentioner) of(ctx context.Context, r bridge.Record, destination int) []bridge.Mention {
	i, d := r.Interaction, r.Interaction.Destinations[destination]
	p, ok := m.platforms[d.Platform].(bridge.Mentioner)
	if !ok || i.Mention == bridge.MentionNone || i.Kind == bridge.KindNotice || p.Direct(d) {
		return nil
	}
	responders, groups := askedAt(r, d)
	people, out := m.resolve(ctx, i, d, responders, groups)
	if i.Mention == bridge.MentionGroup {
		return out
	}
	return append(people[:min(len(people), bridge.MaxMentions)], out...)
}

// needed returns the mentions of a reminder at a destination: the responders whose
// approval is still needed, and who do not want to be reminded later. It also reports
// whether others could be mentioned there.
func (m *mentioner) needed(ctx context.Context, r bridge.Record, destination int) (out []bridge.Mention, others bool) {
	i := r.Interaction
	want := m.people.Wanted(r)
	var must []bridge.Responder
	for _, name := range want.Must() {
		if !strings.HasPrefix(name, bridge.GroupMark) && m.directory != nil {
			accounts, err := m.directory.Accounts(ctx, name)
			if err != nil {
				m.log.Warn("accounts of a person not found, not mentioned", "id", i.ID, "person", name, "error", err)
			}
			must = append(must, accounts...)
		}
	}
	people, groups := m.resolve(ctx, i, i.Destinations[destination], append(must, i.Responders...), i.Groups)
	others = len(people)+len(groups) > 0
	people = slices.DeleteFunc(people, func(who bridge.Mention) bool {
		_, later := snoozed(r, who.Person)
		return later || decided(r, who.Person) || !want.Person(ctx, who.Person)
	})
	groups = slices.DeleteFunc(groups, func(who bridge.Mention) bool { return !want.Group(who.Name) })
	return append(people[:min(len(people), maxMentions)], groups...), others
}

// resolve returns the mentions of people and of groups. The members of a group
// that cannot be mentioned are among the people.
func (m *mentioner) resolve(
	ctx context.Context, i bridge.Interaction, d bridge.Destination, responders []bridge.Responder, groups []string,
) (people, out []bridge.Mention) {
	p, can := m.platforms[d.Platform].(bridge.Mentioner)
	for _, g := range groups {
		if m.directory == nil {
			break
		}
		if native := m.directory.Native(g, d.Platform); can && native != "" && !p.Direct(d) && p.Pings(ctx, native) {
			out = append(out, bridge.Mention{Name: g, Group: native})
			continue
		}
		responders = append(responders, m.members(ctx, i, g)...)
	}
	for _, a := range responders {
		named := slices.ContainsFunc(people, func(p bridge.Mention) bool { return p.User == a.User })
		if m.platforms.reaches(d, a) && !named && !slices.Contains(i.Requesters, a.Person) {
			people = append(people, bridge.Mention{Person: a.Person, Name: m.name(i, a.Person), User: a.User})
		}
	}
	return people, out
}

// name returns the name of a person that everyone reads. The person may be a member of
// a group, whom the request does not name.
func (m *mentioner) name(i bridge.Interaction, person string) string {
	if name := i.NameOf(person); name != person || m.directory == nil {
		return name
	}
	return cmp.Or(m.directory.Display(person), person)
}

// members returns the accounts of the known members of a group.
func (m *mentioner) members(ctx context.Context, i bridge.Interaction, group string) []bridge.Responder {
	crew := m.directory.Crew(ctx, group, time.Now())
	var out []bridge.Responder
	for _, name := range crew.People {
		accounts, err := m.directory.Accounts(ctx, name)
		if err != nil {
			m.log.Warn("accounts of a person not found, not mentioned", "id", i.ID, "person", name, "error", err)
		}
		out = append(out, accounts...)
	}
	if crew.Unread != "" {
		m.log.Warn("members of a group not found, not mentioned", "id", i.ID, "group", group, "reason", crew.Unread)
	}
	return out
}

// askedAt returns the people who are asked at a destination: those of the last
// escalation that added it, or all responders.
func askedAt(r bridge.Record, d bridge.Destination) ([]bridge.Responder, []string) {
	i := r.Interaction
	for _, s := range slices.Backward(i.Steps[:min(r.Step, len(i.Steps))]) {
		if slices.Contains(s.Destinations, d) {
			return slices.Clone(s.Responders), s.Groups
		}
	}
	return slices.Clone(i.Responders), i.Groups
}
