// Path of a request: deliver.go → this file → post.go of an adapter → its card, such as
// message.go of render/slackmsg.

package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
)

// post posts the card of a pending request. It does not post a card again that
// an interrupted attempt has recorded.
func (w *dispatcher) post(ctx context.Context, j core.Job) error {
	r, err := w.records.Load(ctx, j.Interaction)
	if err != nil || r.State.Final() {
		return err
	}
	p, err := PlatformFor(w.platforms, j, r, j.Destination)
	if err != nil {
		return err
	}
	if ref, posted := r.Messages[j.Destination]; posted { // an earlier attempt was interrupted
		if err := w.posted(ctx, r, j.Destination, ref); err != nil {
			return err
		}
		return w.cards.drawAgain(ctx, r, j.Destination)
	}
	if err := bridge.Usable(p); err != nil {
		return err
	}
	d, err := w.threads.place(ctx, r, j.Destination, p)
	if err != nil {
		return err
	}
	view, err := w.cards.shown(ctx, r, j.Destination)
	if err != nil {
		return err
	}
	var ref bridge.MessageRef
	shown := r.Interaction.Content
	withheld, err := w.draw(j, r, p, view, func(v bridge.View, parts *bridge.Parts) (err error) {
		ref, err = p.Post(ctx, d, v, parts)
		return err
	})
	if withheld {
		w.log.Warn("card shown without its request", "id", j.Interaction, "destination", j.Destination, "error", err)
		shown = ""
	} else if err != nil {
		return err
	}
	ctx, cancel := forResult(ctx)
	defer cancel()
	// First, because people can reply to a recorded card.
	if err := w.threads.takesReplies(ctx, r, j.Destination, ref); err != nil {
		return err
	}
	if err := w.cards.mark(ctx, r, j.Destination, ref, shown); err != nil {
		return err
	}
	if err := w.posted(ctx, r, j.Destination, ref); err != nil {
		return err
	}
	if shown != r.Interaction.Content {
		return w.cards.drawAgain(ctx, r, j.Destination)
	}
	return w.cards.redrawn(ctx, view)
}

// posted records the thread of a recorded card's session, and updates other
// cards that mention the card. It can be repeated.
func (w *dispatcher) posted(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	if err := w.threads.start(ctx, r, destination, ref); err != nil {
		return err
	}
	if err := w.cards.linkBack(ctx, r); err != nil {
		return err
	}
	w.seams.shown(ctx, r.Interaction)
	if r.Interaction.Kind == bridge.KindNotice {
		return w.noticed(ctx, r.Interaction.ID)
	}
	return nil
}
