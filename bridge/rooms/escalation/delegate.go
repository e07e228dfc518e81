package escalation

import (
	"context"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/words"
)

// delegate returns the person that a control delegates to. A non-nil verdict is
// the reply to the click.
func (e *Room) delegate(ctx context.Context, a *engine.Click) (bridge.Actor, *bridge.Verdict) {
	names, n := a.Record.Interaction.HandOver, a.Control.Option
	switch {
	case e.directory == nil:
	case n == bridge.OptionAnyone && a.Picked != "":
		to := bridge.Actor{Platform: a.Who.Platform, User: a.Picked}
		who, unread := e.engine.People.Identify(ctx, to)
		if who.Person != "" {
			return who, nil
		}
		if unread != "" {
			return to, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "nod cannot read " + unread + " now. Nothing was changed. Try again in a moment."}
		}
		return to, &bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "nod does not know this account. Nothing was changed. Ask your nod administrator to add it under people in the config."}
	case n < len(names) && !strings.HasPrefix(names[n], bridge.GroupMark):
		who, _ := e.engine.People.Identify(ctx, bridge.Actor{Platform: bridge.PlatformAPI, User: names[n], Person: names[n]})
		return who, nil
	}
	return bridge.Actor{}, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}
}

// handOver delegates a request to another person: it adds the person as a
// responder, and mentions them.
func (e *Room) handOver(ctx context.Context, a *engine.Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	who, refusal := e.delegate(ctx, a)
	if refusal != nil {
		return *refusal, nil
	}
	to, name := who.Person, bridge.OneLine(who.Display())
	routes, unread := e.handsOver(ctx, i, a.Who, who)
	if len(routes) == 0 && len(unread) > 0 {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "nod cannot read " + strings.Join(unread, ", ") + " now. Nothing was changed. Try again in a moment."}, nil
	}
	if len(routes) == 0 {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "You are not a responder on a route that can delegate to " + name + ". Nothing was changed."}, nil
	}
	if slices.Contains(i.Requesters, to) {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: name + " requested this or owns the agent, and cannot answer it. Nothing was changed."}, nil
	}
	text := bridge.OneLine(a.Who.Display()) + " delegates to " + name + ": " + words.About(a.Record)
	already := bridge.Verdict{Kind: bridge.VerdictNoted, Note: name + " was already asked and can answer. Nothing was changed."}
	if handedOver(i, routes, to) {
		return already, nil
	}
	told, changed, done := "", false, false
	err := engine.AmendNow(ctx, e.records, i.ID, func(r bridge.Record) life.Amendment {
		next := r.Interaction
		changed, done = next.Terms != i.Terms, handedOver(next, routes, to)
		if changed || done { // another concurrent click has already delegated, or new terms may not allow it
			return life.Amendment{Expect: r.Amended, Interaction: next}
		}
		t := e.engine.Notifier.Telling(ctx, r, &next)
		accounts := t.People([]string{to})
		for _, route := range routes {
			next.Add(bridge.Addition{For: route, Responders: accounts})
		}
		next.Names, told = e.engine.People.Names(next), t.Said(to, name)
		return life.Amendment{
			Expect: r.Amended, Interaction: next, Wider: true, Reminders: t.Reminders(text), HandOver: &bridge.HandOver{By: a.Who, To: to},
		}
	})
	if err != nil {
		return bridge.Verdict{}, err
	}
	if changed {
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: words.Changed}, nil
	}
	if done {
		return already, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictNoted, Note: "Delegated: " + name + " can answer now. " + told + "You can still answer."}, nil
}

// handedOver reports whether a person was asked by name for a request on each
// of the routes. If so, further clicks mention no one again.
func handedOver(i bridge.Interaction, routes []string, to string) bool {
	return !slices.ContainsFunc(routes, func(route string) bool {
		return !slices.ContainsFunc(i.Added, func(a bridge.Addition) bool {
			return a.For == route && a.Route == "" && slices.ContainsFunc(a.Responders, func(r bridge.Responder) bool { return r.Person == to })
		})
	})
}

// handsOver returns the routes on which an actor may delegate to a person, and
// the groups that nod cannot read. If the request has only one route, the name
// of that route is empty.
func (e *Room) handsOver(ctx context.Context, i bridge.Interaction, actor, to bridge.Actor) (routes, unread []string) {
	if len(i.Requirements) == 0 {
		in, unread := e.engine.People.NamedIn(ctx, i.HandOver, to)
		if !in {
			return nil, unread
		}
		return []string{""}, nil
	}
	for _, q := range i.Requirements {
		in, more := e.engine.People.NamedIn(ctx, q.HandOver, to)
		if in {
			in, more = e.engine.People.Among(ctx, q.Responders, q.Groups, actor)
		}
		if in {
			routes = append(routes, q.Route)
		}
		unread = append(unread, bridge.Missing(unread, more)...)
	}
	return routes, unread
}
