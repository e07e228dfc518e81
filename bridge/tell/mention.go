package tell

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/words"
)

// Mentions returns the mentions of the card of a record at a destination. Direct
// messages and notices have none.
func (e *Notifier) Mentions(ctx context.Context, r bridge.Record, destination int) []bridge.Mention {
	i, d := r.Interaction, r.Interaction.Destinations[destination]
	p, ok := e.platforms[d.Platform].(bridge.Mentioner)
	if !ok || i.Mention == bridge.MentionNone || i.Kind == bridge.KindNotice || p.Direct(d) {
		return nil
	}
	responders, groups := askedAt(r, d)
	people, out := e.resolve(ctx, i, d, responders, groups)
	if i.Mention == bridge.MentionGroup {
		return out
	}
	return append(people[:min(len(people), bridge.MaxMentions)], out...)
}

// Needed returns the mentions of a reminder at a destination: the responders
// whose approval is still needed, and who have not postponed the reminder. It
// also reports whether others could be mentioned there.
func (e *Notifier) Needed(ctx context.Context, r bridge.Record, destination int) (out []bridge.Mention, others bool) {
	i := r.Interaction
	want := e.people.Wanted(r)
	var must []bridge.Responder
	for _, name := range want.Must() {
		if !strings.HasPrefix(name, bridge.GroupMark) && e.directory != nil {
			accounts, err := e.directory.Accounts(ctx, name)
			if err != nil {
				e.log.Warn("accounts of a person not found; not mentioned", "id", i.ID, "person", name, "error", err)
			}
			must = append(must, accounts...)
		}
	}
	people, groups := e.resolve(ctx, i, i.Destinations[destination], append(must, i.Responders...), i.Groups)
	others = len(people)+len(groups) > 0
	people = slices.DeleteFunc(people, func(who bridge.Mention) bool {
		_, later := Snoozed(r, who.Person)
		return later || Decided(r, who.Person) || !want.Person(ctx, who.Person)
	})
	groups = slices.DeleteFunc(groups, func(who bridge.Mention) bool { return !want.Group(who.Name) })
	return append(people[:min(len(people), maxMentions)], groups...), others
}

// resolve returns the mentions of people and of groups. The members of a group
// that cannot be mentioned are among the people.
func (e *Notifier) resolve(
	ctx context.Context, i bridge.Interaction, d bridge.Destination, responders []bridge.Responder, groups []string,
) (people, out []bridge.Mention) {
	p, can := e.platforms[d.Platform].(bridge.Mentioner)
	for _, g := range groups {
		if e.directory == nil {
			break
		}
		if native := e.directory.Native(g, d.Platform); can && native != "" && !p.Direct(d) && p.Pings(ctx, native) {
			out = append(out, bridge.Mention{Name: g, Group: native})
			continue
		}
		responders = append(responders, e.members(ctx, i, g)...)
	}
	for _, a := range responders {
		named := slices.ContainsFunc(people, func(p bridge.Mention) bool { return p.User == a.User })
		if e.reaches(d, a) && !named && !slices.Contains(i.Requesters, a.Person) {
			people = append(people, bridge.Mention{Person: a.Person, Name: e.name(i, a.Person), User: a.User})
		}
	}
	return people, out
}

// name returns the display name of a person. The person may be a member of a
// group, so that the request does not contain the name.
func (e *Notifier) name(i bridge.Interaction, person string) string {
	if name := i.NameOf(person); name != person || e.directory == nil {
		return name
	}
	return cmp.Or(e.directory.Display(person), person)
}

// members returns the accounts of the known members of a group.
func (e *Notifier) members(ctx context.Context, i bridge.Interaction, group string) []bridge.Responder {
	crew := e.directory.Crew(ctx, group, time.Now())
	var out []bridge.Responder
	for _, name := range crew.People {
		accounts, err := e.directory.Accounts(ctx, name)
		if err != nil {
			e.log.Warn("accounts of a person not found; not mentioned", "id", i.ID, "person", name, "error", err)
		}
		out = append(out, accounts...)
	}
	if crew.Unread != "" {
		e.log.Warn("members of a group not found; not mentioned", "id", i.ID, "group", group, "reason", crew.Unread)
	}
	return out
}

// askedAt returns the people who are asked at a destination: the people of the
// last escalation that added it, or all responders.
func askedAt(r bridge.Record, d bridge.Destination) ([]bridge.Responder, []string) {
	i := r.Interaction
	for _, s := range slices.Backward(i.Steps[:min(r.Step, len(i.Steps))]) {
		if slices.Contains(s.Destinations, d) {
			return slices.Clone(s.Responders), s.Groups
		}
	}
	return slices.Clone(i.Responders), i.Groups
}

// Void withdraws approvals in an amendment. It tells the approvers if a mention
// reaches them.
func (e *Notifier) Void(ctx context.Context, a *life.Amendment, r bridge.Record, votes []bridge.Vote, why string) {
	for _, v := range votes {
		a.Void = append(a.Void, v.Actor.Voter())
		accounts := []bridge.Responder{{Person: v.Actor.Person, Platform: v.Actor.Platform, User: v.Actor.User}}
		if v.Actor.Person != "" && e.directory != nil {
			more, err := e.directory.Accounts(ctx, v.Actor.Person)
			if err != nil {
				e.log.Warn("accounts of a person not found", "id", r.Interaction.ID, "person", v.Actor.Person, "error", err)
			}
			accounts = append(accounts, more...)
		}
		n, account, found := e.reach(r, accounts)
		if !found {
			e.log.Warn("no card to tell a person about an approval that no longer counts", "id", r.Interaction.ID, "who", v.Actor.Voter())
			continue
		}
		a.Reminders = append(a.Reminders, bridge.Reminder{
			Destination: n, Users: []string{account.User}, Names: []string{v.Actor.Display()},
			Text: "your approval no longer counts, because " + why + ": " + words.About(r),
		})
	}
}

// reach returns the first posted card next to which a mention reaches one of
// the accounts of a person. It also returns that account.
func (e *Notifier) reach(r bridge.Record, accounts []bridge.Responder) (int, bridge.Responder, bool) {
	for _, a := range accounts {
		for n, d := range r.Interaction.Destinations {
			if _, posted := r.Messages[n]; posted && e.reaches(d, a) {
				return n, a, true
			}
		}
	}
	return 0, bridge.Responder{}, false
}

// reaches reports whether a mention at a destination reaches an account. A
// mention in a direct message to someone else does not.
func (e *Notifier) reaches(d bridge.Destination, a bridge.Responder) bool {
	p, ok := e.platforms[d.Platform].(bridge.Mentioner)
	return d.Platform == a.Platform && (!ok || !p.Direct(d) || d.Channel == p.DirectChannel(a.User))
}

// Decided reports whether a person has voted on a pending request.
func Decided(r bridge.Record, voter string) bool {
	return slices.ContainsFunc(r.Votes, func(v bridge.Vote) bool { return v.Actor.Voter() == voter })
}

// Snoozed returns when a person will be reminded of a request, and false if no
// reminder for them is pending.
func Snoozed(r bridge.Record, who string) (time.Time, bool) {
	for _, m := range r.Reminders {
		if m.Snoozer == who && m.Due.After(time.Now()) {
			return m.Due, true
		}
	}
	return time.Time{}, false
}
