package engine

import (
	"context"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// suggest implements Engine.Suggest.
func (cm *commands) suggest(ctx context.Context, c bridge.Command, n int) ([]bridge.Suggestion, error) {
	word, typed, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch strings.ToLower(word) {
	case "show", "cancel":
		return cm.suggestRequests(ctx, c.Actor, typed, n)
	case "revoke":
		return cm.suggestGrants(ctx, c, typed, n)
	}
	return nil, nil
}

// suggestRequests suggests the pending requests that a person may read, the next
// deadline first.
func (cm *commands) suggestRequests(ctx context.Context, who bridge.Actor, typed string, n int) ([]bridge.Suggestion, error) {
	of := func(r bridge.Record) bridge.Suggestion {
		i := r.Interaction
		return bridge.Suggestion{Value: string(i.ID), Label: render.Title(r), Note: render.Line(i.Agent) + ", " + i.Left(time.Now()) + " left"}
	}
	found, _, err := cm.reader.pending(ctx, n, func(r bridge.Record) (bool, error) {
		if !of(cm.redactor.record(r)).Matches(typed) {
			return false, nil
		}
		return cm.people.MayRead(ctx, r.Interaction, who)
	})
	if err != nil {
		return nil, err
	}
	var out []bridge.Suggestion
	for _, r := range found {
		out = append(out, of(r))
	}
	return out, nil
}

// suggestGrants suggests the grants that a person may revoke.
func (cm *commands) suggestGrants(ctx context.Context, c bridge.Command, typed string, n int) ([]bridge.Suggestion, error) {
	if _, ok, err := cm.channels.mayMute(ctx, c.Actor, c.Actor.Platform, c.Channels); err != nil || !ok {
		return nil, err
	}
	all, err := cm.grants.ListFor(ctx, c.Actor)
	if err != nil {
		return nil, err
	}
	var out []bridge.Suggestion
	for _, g := range all {
		s := bridge.Suggestion{Value: g.ID(), Label: g.Words(), Note: render.Line(g.Agent)}
		if len(out) < n && s.Matches(typed) {
			out = append(out, s)
		}
	}
	return out, nil
}
