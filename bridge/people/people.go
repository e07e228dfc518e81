// Package people decides who may answer a request, read it, or be asked, based
// on the directory, the routes and the request. It stores nothing, and notifies
// no one. Start with [People.Eligible], and known.answer in rights.go.
package people

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// People determines who may respond to a request, and who may read it.
type People struct {
	routes    map[string]bridge.Route
	directory bridge.Directory
	agents    map[string]bridge.Agent
}

// New returns the people of a config. Without a directory, responders are accounts.
func New(routes map[string]bridge.Route, directory bridge.Directory, agents map[string]bridge.Agent) *People {
	return &People{routes: routes, directory: directory, agents: agents}
}

// Identify returns an account with its person. If nod cannot identify the
// person, it returns the reason.
func (p *People) Identify(ctx context.Context, actor bridge.Actor) (who bridge.Actor, unidentified string) {
	k := p.identify(ctx, bridge.Interaction{}, actor)
	return k.who, k.unidentified
}

// identify returns the facts about an account, without its groups. API callers
// have authenticated with the token of the person.
func (p *People) identify(ctx context.Context, i bridge.Interaction, actor bridge.Actor) known {
	k := known{who: actor, loose: p.directory == nil}
	switch {
	case actor.Platform == bridge.PlatformAPI:
	case k.loose:
		if n := slices.IndexFunc(i.Responders, func(r bridge.Responder) bool { return r.Platform == actor.Platform && r.User == actor.User }); n >= 0 {
			k.who.Person = i.Responders[n].Person
		}
	default:
		var err error
		if k.who.Person, err = p.directory.Identify(ctx, actor); err != nil {
			k.who.Person, k.unidentified = "", "the person of your account ("+bridge.Cause(err)+")"
		}
	}
	k.who.Known = p.display(k.who.Person)
	return k
}

// read adds the facts about groups at a time.
func (p *People) read(ctx context.Context, k *known, groups []string, at time.Time) {
	if p.directory == nil {
		return
	}
	for _, g := range groups {
		if _, done := k.in[g]; done {
			continue
		}
		if k.in == nil {
			k.in, k.unread = map[string]bool{}, map[string]string{}
		}
		in, err := p.directory.Member(ctx, g, k.who, at)
		if k.in[g] = in; err != nil {
			k.unread[g] = bridge.Cause(err)
		}
	}
}

// Eligible identifies an actor. It returns the reason that the actor may not
// answer now, or the zero value.
func (p *People) Eligible(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bridge.Actor, Refusal) {
	return p.EligibleAt(ctx, i, actor, time.Now())
}

// EligibleAt is like Eligible, at a given time.
func (p *People) EligibleAt(ctx context.Context, i bridge.Interaction, actor bridge.Actor, at time.Time) (bridge.Actor, Refusal) {
	k := p.identify(ctx, i, actor)
	if !slices.ContainsFunc(i.Responders, k.is) {
		p.read(ctx, &k, i.Groups, at)
	}
	return k.who, k.answer(i)
}

// display returns the display name of a person, or "" if the person has none.
func (p *People) display(person string) string {
	if person == "" || p.directory == nil {
		return ""
	}
	return p.directory.Display(person)
}

// Names returns the display names of the people in a request who have one.
func (p *People) Names(i bridge.Interaction) map[string]string {
	all := slices.Concat(i.Must, i.HandOver, i.Requesters, []string{i.Requester})
	add := func(responders []bridge.Responder) {
		for _, r := range responders {
			all = append(all, r.Person)
		}
	}
	add(i.Responders)
	for _, q := range i.Requirements {
		all = append(all, q.Must...)
	}
	for _, t := range i.Told {
		all = append(all, t.Name)
	}
	for _, s := range i.Steps {
		all = append(all, s.Ask...)
		add(s.Responders)
	}
	var out map[string]string
	for _, who := range all {
		if name := p.display(who); name != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[who] = name
		}
	}
	return out
}

// SetRequester sets the requester of a request to the person whom the agent
// names. If no one matches the name, it marks the requester as a stranger,
// because nod could not prevent that person from approving under their own
// name.
func (p *People) SetRequester(ctx context.Context, i *bridge.Interaction) error {
	if i.Requester == "" || p.directory == nil {
		return nil
	}
	who, err := p.directory.Find(ctx, i.Requester)
	if err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "requester")
	}
	i.Requester, i.Stranger = cmp.Or(who, i.Requester), who == ""
	return nil
}

// Standing returns the text about the standing of an account that belongs to no
// person. It is empty if the standing needs no explanation.
func (p *People) Standing(ctx context.Context, actor bridge.Actor) string {
	if actor.Person != "" || p.directory == nil {
		return ""
	}
	s, err := p.directory.Standing(ctx, actor)
	if err != nil {
		return ""
	}
	return bridge.Rights[s].Why
}

// MayAnswer reports whether the actor may answer the interaction.
func (p *People) MayAnswer(ctx context.Context, i bridge.Interaction, actor bridge.Actor) bool {
	_, no := p.Eligible(ctx, i, actor)
	return no.Why == ""
}

// MayDeny reports whether the actor may deny the interaction, or decline to
// answer it.
func (p *People) MayDeny(ctx context.Context, i bridge.Interaction, actor bridge.Actor) bool {
	_, no := p.Eligible(ctx, i, actor)
	return no.Why == "" || no.Denies
}

// MayRead reports whether a person may read a request: as one of its
// responders, as its requester, or as an owner of its agent.
func (p *People) MayRead(ctx context.Context, i bridge.Interaction, actor bridge.Actor) bool {
	actor, no := p.Eligible(ctx, i, actor)
	if no.Why != WhyNobody && no.Why != WhyUnread {
		return true
	}
	behind := slices.Contains(i.Requesters, actor.Person) || i.Requester == actor.Person || p.Owns(i, actor)
	return actor.Person != "" && behind
}

// Owns reports whether an actor is an owner of the agent of a request.
func (p *People) Owns(i bridge.Interaction, actor bridge.Actor) bool {
	return actor.Person != "" && slices.Contains(p.AgentOf(i).Owners, actor.Person)
}

// AgentOf returns the agent of an interaction with its current configuration.
func (p *People) AgentOf(i bridge.Interaction) bridge.Agent {
	if a, ok := p.agents[i.Agent]; ok {
		return a
	}
	owners := slices.DeleteFunc(slices.Clone(i.Requesters), func(who string) bool { return who == i.Requester })
	return bridge.Agent{Name: i.Agent, Owners: owners}
}

// Among reports whether an identified actor is one of the responders or in one
// of the groups now. If not, it also returns the groups that nod cannot read.
func (p *People) Among(ctx context.Context, responders []bridge.Responder, groups []string, actor bridge.Actor) (bool, []string) {
	k := known{who: actor, loose: p.directory == nil}
	if !slices.ContainsFunc(responders, k.is) {
		p.read(ctx, &k, groups, time.Now())
	}
	return k.responds(responders, groups)
}

// Responds reports whether a person may answer on any route.
func (p *People) Responds(person string) bool {
	actor := bridge.Actor{Platform: bridge.PlatformAPI, User: person, Person: person}
	for _, route := range p.routes {
		if in, _ := p.Among(context.Background(), route.Responders, route.Groups, actor); in {
			return true
		}
	}
	return false
}

// Covers returns the indexes of the slots that an approval of an identified
// actor at a time counts toward, and of the slots for which this is unknown.
func (p *People) Covers(ctx context.Context, i bridge.Interaction, actor bridge.Actor, at time.Time) (yes, maybe []int) {
	k := known{who: actor, loose: p.directory == nil}
	p.read(ctx, &k, groupsOf(i), at)
	return k.covers(i)
}

// Uncounted returns the groups that nod cannot read, if an approval by an
// identified actor might count for one of them.
func (p *People) Uncounted(ctx context.Context, i bridge.Interaction, actor bridge.Actor) []string {
	k := known{who: actor, loose: p.directory == nil}
	p.read(ctx, &k, groupsOf(i), time.Now())
	if _, maybe := k.covers(i); len(maybe) == 0 {
		return nil
	}
	_, unread := k.responds(nil, groupsOf(i))
	return unread
}

// NamedIn reports whether one of the names is that of an identified actor, or of
// a group that now includes the actor. If not, it also returns the groups that
// nod cannot read.
func (p *People) NamedIn(ctx context.Context, names []string, actor bridge.Actor) (in bool, unread []string) {
	k := known{who: actor, loose: p.directory == nil}
	for _, name := range names {
		if g, ok := strings.CutPrefix(name, bridge.GroupMark); ok {
			p.read(ctx, &k, []string{g}, time.Now())
		}
		in, more := k.named(name)
		if in {
			return true, nil
		}
		unread = append(unread, more...)
	}
	return false, unread
}
