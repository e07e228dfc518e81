package bridge

import (
	"context"
	"slices"
	"strings"
)

// Directory knows people, their accounts and their groups, as they are now. An
// error means that this is not known just now, and nobody is let in. It is
// safe for concurrent use.
type Directory interface {
	// Identify returns the person that an account belongs to; empty: nobody
	// that is known.
	Identify(context.Context, Actor) (string, error)
	// Member reports whether somebody is in a group.
	Member(ctx context.Context, group string, who Actor) (bool, error)
	// Now are the people whom a group names at this moment, as far as they are
	// known: its own, and who is on call.
	Now(ctx context.Context, group string) ([]string, error)
	// Accounts are those of a person; none for one who is not known.
	Accounts(ctx context.Context, person string) ([]Responder, error)
}

// Grouper is a Platform that knows who is in a group of its service.
type Grouper interface {
	// Belongs reports whether a user is in a group, which is named in the
	// service's own form.
	Belongs(ctx context.Context, group, user string) (bool, error)
}

// Mailer is a Platform that vouches for people's e-mail addresses.
type Mailer interface {
	// Email is a user's address; empty: none that may be seen.
	Email(ctx context.Context, user string) (string, error)
}

// GroupMark begins the name of a group where people and groups stand side by
// side.
const GroupMark = "@"

// Why somebody may not answer.
const (
	whyNobody    = "not a responder"
	whyRequester = "own request"
	whyUnlinked  = "account not linked to a person"
)

// identify is the actor with the person that the account belongs to.
func (e *Engine) identify(ctx context.Context, i Interaction, actor Actor) (Actor, error) {
	if e.directory == nil {
		if n := slices.IndexFunc(i.Responders, func(r Responder) bool { return r.Platform == actor.Platform && r.User == actor.User }); n >= 0 {
			actor.Person = i.Responders[n].Person
		}
		return actor, nil
	}
	person, err := e.directory.Identify(ctx, actor)
	actor.Person = person
	return actor, err
}

// eligible says who an actor is, and why that one may not answer; empty: may.
func (e *Engine) eligible(ctx context.Context, i Interaction, actor Actor) (Actor, string, error) {
	if actor.Platform != PlatformAPI { // whoever calls has shown a person's own token
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
	case actor.Person == "" && (i.counted() || len(i.Requesters) > 0):
		return actor, whyUnlinked, nil // who counts once has to be known
	case slices.Contains(i.Requesters, actor.Person):
		return actor, whyRequester, nil
	}
	return actor, "", nil
}

// mayDeny reports whether somebody who may not answer for a reason may still
// deny: what an agent says about its requester takes an approval away, never a
// denial.
func mayDeny(i Interaction, why string) bool {
	return why == whyRequester || why == whyUnlinked && !i.DenyCounts
}

// MayDeny reports whether the actor may deny the interaction, or decline to
// answer it.
func (e *Engine) MayDeny(ctx context.Context, i Interaction, actor Actor) (bool, error) {
	_, why, err := e.eligible(ctx, i, actor)
	return err == nil && (why == "" || mayDeny(i, why)), err
}

// responds reports whether an actor is one of the responders, or in one of the
// groups.
func (e *Engine) responds(ctx context.Context, responders []Responder, groups []string, actor Actor) (bool, error) {
	if slices.ContainsFunc(responders, func(r Responder) bool {
		if actor.Person != "" {
			return r.Person == actor.Person
		}
		return e.directory == nil && r.Platform == actor.Platform && r.User == actor.User
	}) {
		return true, nil
	}
	return e.memberOfAny(ctx, groups, actor)
}

func (e *Engine) memberOfAny(ctx context.Context, groups []string, actor Actor) (bool, error) {
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

// PlatformAPI is the platform of people who answer with a token of their own.
const PlatformAPI = "api"

// noteWhy tells somebody why they may not answer.
func noteWhy(i Interaction, why string) string {
	switch why {
	case whyRequester:
		return "This is your own request, so somebody else has to answer it; you can deny it. Nothing was recorded. Asked: " + responderNames(i) + "."
	case whyUnlinked:
		return "Your account is not linked to a person of the config, and this needs to know who you are. Nothing was recorded."
	}
	return noteForbidden(i)
}

// responderNames are who is asked: people, and groups with their mark.
func responderNames(i Interaction) string {
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
		add(GroupMark + g)
	}
	return strings.Join(names, ", ")
}
