package engine

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
	routes    routes
	directory bridge.Directory
	agents    map[string]bridge.Agent
	strangers bool // requesters need not be in the config
}

// identify returns what is known of an account, without its groups. API callers
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

// read adds what is known of groups at a time.
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

// eligible identifies an actor, and returns the reason why the actor may not answer
// now.
func (p *People) eligible(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bridge.Actor, refusal) {
	return p.eligibleAt(ctx, i, actor, time.Now())
}

// eligibleAt is eligible at a time.
func (p *People) eligibleAt(ctx context.Context, i bridge.Interaction, actor bridge.Actor, at time.Time) (bridge.Actor, refusal) {
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

// names returns the display names of the people in a request, of those who have one.
func (p *People) names(i bridge.Interaction) map[string]string {
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

// setRequester sets the requester of a request to the person whom the agent names,
// by whatever name. If that is no one, it marks the requester as a stranger, whom nod
// could not keep from approving under their own name.
func (p *People) setRequester(ctx context.Context, i *bridge.Interaction) error {
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

// standing returns what an account that belongs to no person reads about the
// reason. It is empty if there is nothing to say.
func (p *People) standing(ctx context.Context, actor bridge.Actor) string {
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
	_, no := p.eligible(ctx, i, actor)
	return no.why == ""
}

// MayDeny reports whether the actor may deny the interaction, or decline to
// answer it.
func (p *People) MayDeny(ctx context.Context, i bridge.Interaction, actor bridge.Actor) bool {
	_, no := p.eligible(ctx, i, actor)
	return no.why == "" || no.denies
}

// MayRead reports whether a person may read a request: as one of its
// responders, as its requester, or as an owner of its agent.
func (p *People) MayRead(ctx context.Context, i bridge.Interaction, actor bridge.Actor) bool {
	actor, no := p.eligible(ctx, i, actor)
	if no.why != whyNobody && no.why != whyUnread {
		return true
	}
	behind := slices.Contains(i.Requesters, actor.Person) || i.Requester == actor.Person || p.owns(i, actor)
	return actor.Person != "" && behind
}

// owns reports whether an actor is an owner of the agent of a request.
func (p *People) owns(i bridge.Interaction, actor bridge.Actor) bool {
	return actor.Person != "" && slices.Contains(p.agentOf(i).Owners, actor.Person)
}

// agentOf returns the agent of an interaction with its current configuration.
func (p *People) agentOf(i bridge.Interaction) bridge.Agent {
	if a, ok := p.agents[i.Agent]; ok {
		return a
	}
	owners := slices.DeleteFunc(slices.Clone(i.Requesters), func(who string) bool { return who == i.Requester })
	return bridge.Agent{Name: i.Agent, Owners: owners}
}

// responds reports whether an identified actor is one of the responders or in one
// of the groups now. If not, it also returns what nod cannot read.
func (p *People) responds(ctx context.Context, responders []bridge.Responder, groups []string, actor bridge.Actor) (bool, []string) {
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
		if in, _ := p.responds(context.Background(), route.Responders, route.Groups, actor); in {
			return true
		}
	}
	return false
}

// covers returns the indexes of the slots that an approval of an identified actor
// at a time counts toward, and of those of which nod cannot tell.
func (p *People) covers(ctx context.Context, i bridge.Interaction, actor bridge.Actor, at time.Time) (yes, maybe []int) {
	k := known{who: actor, loose: p.directory == nil}
	p.read(ctx, &k, groupsOf(i), at)
	return k.covers(i)
}

// uncounted returns what nod cannot read and an approval of an identified actor
// would therefore not count for.
func (p *People) uncounted(ctx context.Context, i bridge.Interaction, actor bridge.Actor) []string {
	k := known{who: actor, loose: p.directory == nil}
	p.read(ctx, &k, groupsOf(i), time.Now())
	if _, maybe := k.covers(i); len(maybe) == 0 {
		return nil
	}
	_, unread := k.responds(nil, groupsOf(i))
	return unread
}

// namedIn reports whether one of the names includes an identified actor now. If
// not, it also returns what nod cannot read.
func (p *People) namedIn(ctx context.Context, names []string, actor bridge.Actor) (in bool, unread []string) {
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
