// Path of a click: deliver.go → this file → post.go of an adapter → its card, such as
// message.go of render/slackmsg.

package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

// update brings a message up to date. A message that a follow-up took over
// shows the last follow-up.
func (w *dispatcher) update(ctx context.Context, j core.Job) error {
	r, err := w.recordOf(ctx, j)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil // the record has expired
	}
	if err != nil {
		return err
	}
	p, err := PlatformFor(w.platforms, j, r, j.Destination)
	if err != nil {
		return err
	}
	ref, posted := r.Messages[j.Destination]
	if !posted || r.Interaction.Kind == bridge.KindNotice && !r.Interaction.IsSession() {
		return nil // the post shows the newest state, and a notice has only one state
	}
	view, err := w.cards.shown(ctx, r, j.Destination)
	if err != nil {
		return err
	}
	withheld, err := w.draw(j, r, p, view, func(v bridge.View, parts *bridge.Parts) error { return p.Update(ctx, ref, v, parts) })
	if withheld && r.State.Final() {
		w.log.Error("outcome shown without its request", "id", j.Interaction, "destination", j.Destination, "error", err)
	} else if err != nil && !gone(r, err) {
		return err
	}
	ctx, cancel := forResult(ctx)
	defer cancel()
	if gone(r, err) {
		return w.lost.found(ctx, r, j.Destination)
	}
	if r.State.Final() {
		w.seams.shown(ctx, r.Interaction)
	}
	if err := w.cards.markShown(ctx, view); err != nil {
		return err
	}
	return w.cards.redrawn(ctx, view)
}
