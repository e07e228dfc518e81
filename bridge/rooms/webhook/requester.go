package webhook

import (
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// tell sends a direct message to the requester of a closed request. If no
// platform accepts the message, it is not repeated.
func (h *Room) tell(ctx context.Context, r bridge.Record) error {
	i := r.Interaction
	if h.directory == nil || !news(r) {
		return nil
	}
	accounts, err := h.directory.Accounts(ctx, i.Requester)
	if err != nil && len(accounts) == 0 {
		return err
	}
	slices.SortStableFunc(accounts, func(a, b bridge.Responder) int { return askedOn(i, a) - askedOn(i, b) })
	view, err := h.engine.View(ctx, r, 0)
	if err != nil {
		return err
	}
	text := render.NewCard(view, func(bridge.Question) bool { return false }).Notice
	for _, a := range accounts {
		p, ok := h.platforms[a.Platform].(bridge.DirectMessenger)
		if !ok {
			continue
		}
		err := p.Tell(ctx, a.User, text)
		switch bridge.ErrorCode(err) {
		case bridge.CodeUnavailable:
			return err
		case bridge.CodeRateLimited:
			return bridge.Wrap(bridge.CodeUnavailable, err, "direct message")
		}
		if err == nil {
			return nil
		}
		h.log.Warn("requester not told", "id", i.ID, "platform", a.Platform, "error", err)
	}
	return nil
}

// news reports whether the outcome is new to the requester: people were asked,
// and someone else closed the request.
func news(r bridge.Record) bool {
	asked := len(r.Messages)+len(r.Failures) > 0
	if !asked || r.State == bridge.StateSuperseded || r.Response == nil {
		return false
	}
	for _, a := range []*bridge.Actor{r.Response.Actor, r.Response.WithdrawnBy} {
		if a != nil && a.Person == r.Interaction.Requester {
			return false
		}
	}
	return true
}

// askedOn orders accounts. Accounts on a platform that shows the request come
// first.
func askedOn(i bridge.Interaction, a bridge.Responder) int {
	n := slices.IndexFunc(i.Destinations, func(d bridge.Destination) bool { return d.Platform == a.Platform })
	if n < 0 {
		return len(i.Destinations)
	}
	return n
}
