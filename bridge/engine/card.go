package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	seenPatience = 2 * time.Second
	seenPoll     = 100 * time.Millisecond
	clickReserve = 700 * time.Millisecond // of the click's own time, for its answer
)

// platforms are the configured platforms by name.
type platforms map[string]bridge.Platform

func platformsOf(all []bridge.Platform) platforms {
	m := platforms{}
	for _, p := range all {
		m[p.Name()] = p
	}
	return m
}

func (m platforms) of(r bridge.Record, destination int) (bridge.Platform, error) {
	if destination >= len(r.Interaction.Destinations) {
		return nil, bridge.Errorf(bridge.CodeInternal, "job for destination %d of %d", destination, len(r.Interaction.Destinations))
	}
	name := r.Interaction.Destinations[destination].Platform
	p, ok := m[name]
	if !ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "platform %s is not configured", name)
	}
	return p, nil
}

// cards draws what messages show.
type cards struct {
	records  bridge.Records
	redactor *redactor
	channels *Channels
	keys     bridge.Keyring
	log      *slog.Logger
}

// view is how a destination sees a record, and those that share its message.
func (c *cards) view(ctx context.Context, r bridge.Record, batch []bridge.Record, destination int) (bridge.View, error) {
	v := bridge.NewView(c.redactor.record(r), destination, nil, c.keys.Sign)
	for _, member := range batch {
		v.Batch = append(v.Batch, c.redactor.record(member))
	}
	if r.State.Final() && !pendingOf(batch) {
		return v, nil
	}
	var err error
	v.ReadOnly, err = c.channels.muted(ctx, r.Interaction.Destinations[destination])
	return v, err
}

// drafted is the view of the card that was pressed.
func (c *cards) drafted(a admitted, d *bridge.Draft) bridge.View {
	v := bridge.NewView(c.redactor.record(a.record), a.control.Destination, d, c.keys.Sign)
	if d != nil { // what it says of the draft may make the text too long for the card
		v.Parts = c.parts(v)
	}
	return v
}

// shown is what the pressed message has to show now; nil where that cannot be
// read right now: its edit follows.
func (c *cards) shown(ctx context.Context, a admitted, d *bridge.Draft) *bridge.View {
	v := c.drafted(a, d)
	if a.record.Batch == "" && len(a.record.Members) == 0 {
		return &v
	}
	batch, err := c.members(ctx, a.record)
	if err != nil {
		c.log.Warn("batch not read, its message is drawn by its edit", "id", a.record.Interaction.ID, "error", err)
		return nil
	}
	for n := range batch {
		batch[n] = c.redactor.record(batch[n])
	}
	v.Record, v.Batch = batch[0], batch
	return &v
}

// members loads what the messages of a record show: nil for one that is alone.
func (c *cards) members(ctx context.Context, r bridge.Record) ([]bridge.Record, error) {
	if r.Batch != "" {
		first, err := c.records.Load(ctx, r.Batch)
		if err != nil {
			return nil, err
		}
		return c.members(ctx, first)
	}
	if len(r.Members) == 0 {
		return nil, nil
	}
	out := make([]bridge.Record, len(r.Members))
	for n, id := range r.Members {
		if id == r.Interaction.ID {
			out[n] = r
			continue
		}
		var err error
		if out[n], err = c.records.Load(ctx, id); err != nil {
			return nil, err
		}
		out[n] = r.MemberOf(out[n])
	}
	return out, nil
}

// head is the last interaction that took over the messages of r.
func (c *cards) head(ctx context.Context, r bridge.Record) (bridge.Record, error) {
	root := r
	if id := r.Interaction.Root; id != "" {
		var err error
		if root, err = c.records.Load(ctx, id); err != nil {
			return bridge.Record{}, err
		}
	}
	if root.Head == "" {
		return r, nil
	}
	return c.records.Load(ctx, root.Head)
}

// mark notes where the card is. The card is out there, so this is tried for
// as long as the job lasts.
func (c *cards) mark(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef) error {
	for {
		_, err := c.records.Mark(ctx, r.Interaction.ID, bridge.Mark{Posted: &bridge.Posted{Destination: destination, Ref: ref, Revision: r.Revision, Content: bridge.ContentOf(r.Interaction)}})
		if bridge.ErrorCode(err) != bridge.CodeUnavailable || !bridge.Pause(ctx, firstBackoff) {
			return err
		}
	}
}

// parts are those of a view that were sent, and record further ones. A part is
// out once it was sent, so recording it is tried for as long as the job lasts.
func (c *cards) parts(v bridge.View) *bridge.Parts {
	d, content, id := v.Destination, v.Content(), v.Record.Interaction.ID
	var sent []bridge.MessageRef
	if s := v.Record.Sending[d]; s.Content == content {
		sent = slices.Clone(s.Parts)
	}
	return bridge.NewParts(sent, func(ctx context.Context, all []bridge.MessageRef) error {
		p := bridge.Part{Destination: d, Content: content, N: len(all) - 1, Ref: all[len(all)-1]}
		for {
			_, err := c.records.Mark(ctx, id, bridge.Mark{Part: &p})
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
func (c *cards) markShown(ctx context.Context, v bridge.View) error {
	for _, r := range v.Pending() {
		content := bridge.ContentOf(r.Interaction)
		if r.Shown[v.Destination] == content {
			continue
		}
		s := bridge.Shown{Destination: v.Destination, Content: content}
		if _, err := c.records.Mark(ctx, r.Interaction.ID, bridge.Mark{Shown: &s}); err != nil && bridge.ErrorCode(err) != bridge.CodeNotFound {
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
func (c *cards) unseen(ctx context.Context, a *admitted) (*bridge.Verdict, error) {
	if a.control.Declines(a.record.Interaction) {
		return nil, nil
	}
	until := time.Now().Add(seenPatience)
	if end, ok := ctx.Deadline(); ok && end.Add(-clickReserve).Before(until) {
		until = end.Add(-clickReserve)
	}
	for polls := 0; !seen(a.record, a.control.Destination); polls++ {
		if _, posted := a.posted[a.control.Destination]; posted && polls == 2 {
			if err := c.drawAgain(ctx, a.record, a.control.Destination); err != nil {
				return nil, err
			}
		}
		if time.Now().After(until) || !bridge.Pause(ctx, seenPoll) {
			c.log.Warn("click before everything was shown", "id", a.record.Interaction.ID, "platform", a.actor.Platform, "user", a.actor.User)
			return &bridge.Verdict{Kind: bridge.VerdictInvalid, Note: noteUnseen}, nil
		}
		var err error
		if a.record, err = c.records.Load(ctx, a.record.Interaction.ID); err != nil {
			return nil, err
		}
		if a.record.State.Final() {
			return nil, nil
		}
	}
	return nil, nil
}

// drawAgain asks for the message that shows a record to be drawn again.
func (c *cards) drawAgain(ctx context.Context, r bridge.Record, destination int) error {
	id := r.Interaction.ID
	if r.Batch != "" {
		id = r.Batch
	}
	_, err := c.records.Mark(ctx, id, bridge.Mark{Redraw: &destination})
	return err
}
