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

// identify is the actor with the person that the account belongs to.
func (e *Engine) identify(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bridge.Actor, error) {
	if e.directory == nil {
		if n := slices.IndexFunc(i.Responders, func(r bridge.Responder) bool { return r.Platform == actor.Platform && r.User == actor.User }); n >= 0 {
			actor.Person = i.Responders[n].Person
		}
		return actor, nil
	}
	person, err := e.directory.Identify(ctx, actor)
	actor.Person = person
	return actor, err
}

// eligible says who an actor is, and why that one may not answer; empty: may.
func (e *Engine) eligible(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bridge.Actor, string, error) {
	if actor.Platform != bridge.PlatformAPI { // whoever calls has shown a person's own token
		var err error
		if actor, err = e.identify(ctx, i, actor); err != nil {
			return actor, "", err
		}
	}
	in, err := e.responds(ctx, i.Responders, i.Groups, actor)
	switch {
	case err != nil:
		return actor, "", err
	case !in:
		return actor, whyNobody, nil
	case actor.Person == "" && (i.Counted() || len(i.Requesters) > 0):
		return actor, whyUnlinked, nil // who counts once has to be known
	case slices.Contains(i.Requesters, actor.Person):
		return actor, whyRequester, nil
	}
	return actor, "", nil
}

// mayDeny reports whether somebody who may not answer for a reason may still
// deny: what an agent says about its requester takes an approval away, never a
// denial.
func mayDeny(i bridge.Interaction, why string) bool {
	return why == whyRequester || why == whyUnlinked && !i.DenyCounts
}

// MayDeny reports whether the actor may deny the interaction, or decline to
// answer it.
func (e *Engine) MayDeny(ctx context.Context, i bridge.Interaction, actor bridge.Actor) (bool, error) {
	_, why, err := e.eligible(ctx, i, actor)
	return err == nil && (why == "" || mayDeny(i, why)), err
}

// responds reports whether an actor is one of the responders, or in one of the
// groups.
func (e *Engine) responds(ctx context.Context, responders []bridge.Responder, groups []string, actor bridge.Actor) (bool, error) {
	if slices.ContainsFunc(responders, func(r bridge.Responder) bool {
		if actor.Person != "" {
			return r.Person == actor.Person
		}
		return e.directory == nil && r.Platform == actor.Platform && r.User == actor.User
	}) {
		return true, nil
	}
	return e.memberOfAny(ctx, groups, actor)
}

func (e *Engine) memberOfAny(ctx context.Context, groups []string, actor bridge.Actor) (bool, error) {
	if e.directory == nil {
		return false, nil
	}
	for _, g := range groups {
		if in, err := e.directory.Member(ctx, g, actor); err != nil || in {
			return in, err
		}
	}
	return false, nil
}

// noteWhy tells somebody why they may not answer.
func noteWhy(i bridge.Interaction, why string) string {
	switch why {
	case whyRequester:
		return "This is your own request, so somebody else has to answer it; you can deny it. Nothing was recorded. Asked: " + responderNames(i) + "."
	case whyUnlinked:
		return "Your account is not linked to a person of the config, and this needs to know who you are. Nothing was recorded."
	}
	return noteForbidden(i)
}

// responderNames are who is asked: people, and groups with their mark.
func responderNames(i bridge.Interaction) string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, r := range i.Responders {
		if r.Person != "" {
			add(r.Person)
		} else {
			add(r.User)
		}
	}
	for _, g := range i.Groups {
		add(bridge.GroupMark + g)
	}
	return strings.Join(names, ", ")
}
