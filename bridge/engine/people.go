package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

const (
	whyNobody    = "not a responder"
	whyRequester = "own request"
	whyUnlinked  = "account not linked to a person"
)

// People determines who may respond to a request, and who may read it.
type People struct {
	routes    routes
	directory bridge.Directory
	agents    map[string]bridge.Agent
}

// identify returns the actor with the person that the account belongs to.
func (p *People) identify(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bridge.Actor, error) {
	if p.directory == nil {
		if n := slices.IndexFunc(i.Responders, func(r bridge.Responder) bool { return r.Platform == actor.Platform && r.User == actor.User }); n >= 0 {
			actor.Person = i.Responders[n].Person
		}
		return actor, nil
	}
	person, err := p.directory.Identify(ctx, actor)
	actor.Person = person
	return actor, err
}

// eligible identifies an actor, and returns the reason why the actor may not
// answer. The reason is empty if the actor may.
func (p *People) eligible(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bridge.Actor, string, error) {
	if actor.Platform != bridge.PlatformAPI { // API callers have authenticated with the person's token
		var err error
		if actor, err = p.identify(ctx, i, actor); err != nil {
			return actor, "", err
		}
	}
	in, err := p.responds(ctx, i.Responders, i.Groups, actor)
	switch {
	case err != nil:
		return actor, "", err
	case !in:
		return actor, whyNobody, nil
	case actor.Person == "" && (i.Counted() || i.StepUp != "" || len(i.Requesters) > 0):
		return actor, whyUnlinked, nil // a vote requires a known person
	case slices.Contains(i.Requesters, actor.Person):
		return actor, whyRequester, nil
	}
	return actor, "", nil
}

// standing returns what an account that belongs to no person reads about the
// reason. It is empty if there is nothing to say.
func (p *People) standing(ctx context.Context, actor bridge.Actor) (string, error) {
	if actor.Person != "" || p.directory == nil {
		return "", nil
	}
	s, err := p.directory.Standing(ctx, actor)
	return bridge.Rights[s].Why, err
}

// MayAnswer reports whether the actor may answer the interaction.
func (p *People) MayAnswer(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bool, error) {
	_, why, err := p.eligible(ctx, i, actor)
	return why == "", err
}

// MayDeny reports whether the actor may deny the interaction, or decline to
// answer it.
func (p *People) MayDeny(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bool, error) {
	_, why, err := p.eligible(ctx, i, actor)
	return err == nil && (why == "" || mayDeny(i, why)), err
}

// mayDeny reports whether someone who may not answer, for the reason why, may
// still deny. An agent's statement about its requester can prevent an approval,
// but never a denial.
func mayDeny(i bridge.Interaction, why string) bool {
	return why == whyRequester || why == whyUnlinked && !i.DenyCounts
}

// MayRead reports whether a person may read a request: as one of its
// responders, as its requester, or as an owner of its agent.
func (p *People) MayRead(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bool, error) {
	actor, why, err := p.eligible(ctx, i, actor)
	if err != nil || why != whyNobody {
		return err == nil, err
	}
	behind := slices.Contains(i.Requesters, actor.Person) || i.Requester == actor.Person || p.owns(i, actor)
	return actor.Person != "" && behind, nil
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

// responds reports whether an actor is one of the responders or in one of the
// groups.
func (p *People) responds(ctx context.Context, responders []bridge.Responder, groups []string, actor bridge.Actor) (bool, error) {
	if slices.ContainsFunc(responders, func(r bridge.Responder) bool {
		if actor.Person != "" {
			return r.Person == actor.Person
		}
		return p.directory == nil && r.Platform == actor.Platform && r.User == actor.User
	}) {
		return true, nil
	}
	return p.memberOfAny(ctx, groups, actor)
}

func (p *People) memberOfAny(ctx context.Context, groups []string, actor bridge.Actor) (bool, error) {
	if p.directory == nil {
		return false, nil
	}
	for _, g := range groups {
		if in, err := p.directory.Member(ctx, g, actor); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

// Responds reports whether a person may answer on any route.
func (p *People) Responds(person string) bool {
	for _, route := range p.routes {
		if slices.ContainsFunc(route.Responders, func(r bridge.Responder) bool { return r.Person == person }) {
			return true
		}
		if in, err := p.memberOfAny(context.Background(), route.Groups, bridge.Actor{Platform: bridge.PlatformAPI, User: person, Person: person}); err == nil && in {
			return true
		}
	}
	return false
}

// covers returns the indexes of the slots that an approver counts toward.
func (p *People) covers(ctx context.Context, i bridge.Interaction, actor bridge.Actor) ([]int, error) {
	var out []int
	on := make([]bool, len(i.Requirements))
	for n, q := range i.Requirements {
		var err error
		if on[n], err = p.responds(ctx, q.Responders, q.Groups, actor); err != nil {
			return nil, err
		}
	}
	for n, s := range i.ApprovalSlots() {
		in := s.Requirement < 0 || on[s.Requirement]
		if in && s.Must != "" {
			var err error
			if in, err = p.named(ctx, s.Must, actor); err != nil {
				return nil, err
			}
		}
		if in {
			out = append(out, n)
		}
	}
	return out, nil
}

// namedIn reports whether one of the names includes an actor.
func (p *People) namedIn(ctx context.Context, names []string, actor bridge.Actor) (bool, error) {
	for _, name := range names {
		if in, err := p.named(ctx, name, actor); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

// named reports whether a name includes an actor. The name is that of a person
// or, with GroupMark, of a group.
func (p *People) named(ctx context.Context, name string, actor bridge.Actor) (bool, error) {
	group, isGroup := strings.CutPrefix(name, bridge.GroupMark)
	if !isGroup || p.directory == nil {
		return name == actor.Person, nil
	}
	return p.directory.Member(ctx, group, actor)
}
