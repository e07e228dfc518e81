package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	seenPatience = 2 * time.Second
	seenPoll     = 100 * time.Millisecond
	clickReserve = 700 * time.Millisecond // of the click's own time, for its answer
)

// parts are those of a view that were sent, and record further ones. A part is
// out once it was sent, so recording it is tried for as long as the job lasts.
func (e *Engine) parts(v bridge.View) *bridge.Parts {
	d, content, id := v.Destination, v.Content(), v.Record.Interaction.ID
	var sent []bridge.MessageRef
	if s := v.Record.Sending[d]; s.Content == content {
		sent = slices.Clone(s.Parts)
	}
	return bridge.NewParts(sent, func(ctx context.Context, all []bridge.MessageRef) error {
		p := bridge.Part{Destination: d, Content: content, N: len(all) - 1, Ref: all[len(all)-1]}
		for {
			_, err := e.store.Mark(ctx, id, bridge.Mark{Part: &p})
			if bridge.ErrorCode(err) == bridge.CodeConflict {
				return bridge.Wrap(bridge.CodeUnavailable, err, "another daemon sends the full text")
			}
			if bridge.ErrorCode(err) != bridge.CodeUnavailable || !bridge.Pause(ctx, firstBackoff) {
				return err
			}
		}
	})
}

// markShown records that a destination shows the view's content, for each of
// those that wait for a decision.
func (e *Engine) markShown(ctx context.Context, v bridge.View) error {
	for _, r := range v.Pending() {
		content := bridge.ContentOf(r.Interaction)
		if r.Shown[v.Destination] == content {
			continue
		}
		s := bridge.Shown{Destination: v.Destination, Content: content}
		if _, err := e.store.Mark(ctx, r.Interaction.ID, bridge.Mark{Shown: &s}); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
			return err
		}
	}
	return nil
}

// seen reports whether a destination shows all that a decision would cover.
func seen(r bridge.Record, destination int) bool {
	return r.Shown[destination] == bridge.ContentOf(r.Interaction)
}

// unseen refuses a control that may approve or answer while its card does not
// show everything that this decides. A click may overtake the note that the
// card shows it, so it waits a moment. A card that an earlier version of nod
// posted has no such note: it is drawn again.
func (e *Engine) unseen(ctx context.Context, a *admitted) (*bridge.Verdict, error) {
	if a.control.Declines(a.record.Interaction) {
		return nil, nil
	}
	until := time.Now().Add(seenPatience)
	if end, ok := ctx.Deadline(); ok && end.Add(-clickReserve).Before(until) {
		until = end.Add(-clickReserve)
	}
	for polls := 0; !seen(a.record, a.control.Destination); polls++ {
		if _, posted := a.posted[a.control.Destination]; posted && polls == 2 {
			if err := e.drawAgain(ctx, a.record, a.control.Destination); err != nil {
				return nil, err
			}
		}
		if time.Now().After(until) || !bridge.Pause(ctx, seenPoll) {
			e.log.Warn("click before everything was shown", "id", a.record.Interaction.ID, "platform", a.actor.Platform, "user", a.actor.User)
			return &bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnseen}, nil
		}
		var err error
		if a.record, err = e.store.Load(ctx, a.record.Interaction.ID); err != nil {
			return nil, err
		}
		if a.record.State.Final() {
			return nil, nil
		}
	}
	return nil, nil
}

// drawAgain asks for the message that shows a record to be drawn again.
func (e *Engine) drawAgain(ctx context.Context, r bridge.Record, destination int) error {
	id := r.Interaction.ID
	if r.Batch != "" {
		id = r.Batch
	}
	_, err := e.store.Mark(ctx, id, bridge.Mark{Redraw: &destination})
	return err
}
