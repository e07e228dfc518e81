package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/tell"
	"github.com/nodbridge/nod/bridge/words"
)

const (
	seenPatience = 2 * time.Second
	seenPoll     = 100 * time.Millisecond
	clickReserve = 700 * time.Millisecond // part of the click's time limit that is kept for the reply
)

// platforms are the configured platforms by name.
type platforms map[string]bridge.Platform

// ByName returns platforms by name.
func ByName(all []bridge.Platform) map[string]bridge.Platform {
	m := map[string]bridge.Platform{}
	for _, p := range all {
		m[p.Name()] = p
	}
	return m
}

// PlatformFor returns the platform of a job at a destination of a record.
func PlatformFor(all map[string]bridge.Platform, j core.Job, r bridge.Record, destination int) (bridge.Platform, error) {
	if destination >= len(r.Interaction.Destinations) {
		return nil, bridge.Errorf(bridge.CodeInternal, "destination %d of %d does not exist", destination, len(r.Interaction.Destinations))
	}
	name := r.Interaction.Destinations[destination].Platform
	if p, ok := all[name]; ok {
		return p, nil
	}
	return nil, NotConfigured(j, "platform "+name)
}

// rollout is the time for which a job waits for a daemon that has its platform or
// webhook. While daemons get another config one after the other, some do not have it.
const rollout = 10 * time.Minute

// NotConfigured returns the error of a job whose platform or webhook is not in the
// config of this daemon. During the rollout of a config, it is CodeUnavailable.
func NotConfigured(j core.Job, what string) error {
	code := bridge.CodeNotFound
	if time.Since(j.Began) < rollout {
		code = bridge.CodeUnavailable
	}
	return bridge.Errorf(code, "%s is not configured", what)
}

// clickMentions is the time limit for looking up the people whom the card of a
// click mentions. If a lookup takes longer, the next edit adds the mentions.
const clickMentions = 200 * time.Millisecond

// cards creates the views of messages, and records the content that messages
// show.
type cards struct {
	records   core.Interactions
	drafts    Drafts
	seams     *Seams
	redactor  *Redactor
	mentions  *tell.Notifier
	platforms platforms
	keys      bridge.Keyring
	log       *slog.Logger
}

// view returns the view of a destination for a record.
func (c *cards) view(ctx context.Context, r bridge.Record, destination int) (bridge.View, error) {
	v := bridge.NewView(c.redactor.Record(r), destination, nil, c.keys.Sign)
	err := c.seams.show(ctx, r, destination, &v)
	if err != nil {
		return v, err
	}
	if r.Interaction.IsSession() {
		return v, nil
	}
	if r.State.Final() {
		v.Newer, err = c.newer(ctx, r, destination)
		return v, err
	}
	v.Mentions = c.mentions.Mentions(ctx, r, destination)
	return v, nil
}

// shown returns the view for the message of a destination, with the draft that
// people fill in on it.
func (c *cards) shown(ctx context.Context, r bridge.Record, destination int) (bridge.View, error) {
	v, err := c.view(ctx, r, destination)
	if err == nil {
		v.Draft, err = c.draft(ctx, r, destination)
	}
	return v, err
}

// draft returns the draft that the message of a destination shows, or nil.
func (c *cards) draft(ctx context.Context, r bridge.Record, destination int) (*bridge.Draft, error) {
	if r.State.Final() || len(r.Interaction.Fields()) == 0 {
		return nil, nil
	}
	_, d, err := c.drafts.Draft(ctx, r.Interaction.ID, destination, bridge.Actor{})
	return d, err
}

// drafted returns the view of the clicked card with a draft.
func (c *cards) drafted(ctx context.Context, a Click, d *bridge.Draft) bridge.View {
	v := bridge.NewView(c.redactor.Record(a.Record), a.Control.Destination, d, c.keys.Sign)
	// the next update of the card shows the draft
	if err := c.seams.show(ctx, a.Record, a.Control.Destination, &v); err != nil {
		c.log.Warn("some details of a card were not loaded", "id", a.Record.Interaction.ID, "error", err)
	}
	if d != nil { // the draft may make the text too long for the card
		v.Parts = c.parts(v)
	}
	if a.Record.State.Final() {
		var err error
		if v.Newer, err = c.newer(ctx, a.Record, a.Control.Destination); err != nil {
			c.log.Warn("newer request not loaded; its card is not linked", "id", a.Record.Interaction.ID, "error", err)
		}
		return v
	}
	ctx, cancel := context.WithTimeout(ctx, clickMentions)
	defer cancel()
	v.Mentions = c.mentions.Mentions(ctx, a.Record, a.Control.Destination)
	return v
}

// head returns the last interaction that took over the messages of r.
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

// mark records the message of a card and the content that it shows. The card is
// already posted, so mark retries for as long as the job lasts.
func (c *cards) mark(ctx context.Context, r bridge.Record, destination int, ref bridge.MessageRef, shown string) error {
	for {
		_, err := c.records.Mark(ctx, r.Interaction.ID, life.Posted{
			Destination: destination, Ref: ref, Revision: r.Revision, Content: shown, Look: lookAfter(r.Interaction),
		})
		if bridge.ErrorCode(err) != bridge.CodeUnavailable || !bridge.Pause(ctx, firstBackoff) {
			return err
		}
	}
}

// parts returns the sent parts of a view. It also records each further part after
// it is sent. A sent part cannot be taken back, so recording it is retried for as
// long as the job lasts.
func (c *cards) parts(v bridge.View) *bridge.Parts {
	d, content, id := v.Destination, v.Content(), v.Record.Interaction.ID
	var sent []bridge.MessageRef
	if s := v.Record.SentParts[d]; s.Content == content {
		sent = slices.Clone(s.Parts)
	}
	return bridge.NewParts(sent, func(ctx context.Context, all []bridge.MessageRef) error {
		p := life.Part{Destination: d, Content: content, N: len(all) - 1, Ref: all[len(all)-1]}
		for {
			_, err := c.records.Mark(ctx, id, p)
			if bridge.ErrorCode(err) == bridge.CodeConflict {
				return bridge.Wrap(bridge.CodeUnavailable, err, "another daemon is sending the full text")
			}
			if bridge.ErrorCode(err) != bridge.CodeUnavailable || !bridge.Pause(ctx, firstBackoff) {
				return err
			}
		}
	})
}

// markShown records that the destination of a view shows the content of its
// pending record.
func (c *cards) markShown(ctx context.Context, v bridge.View) error {
	r := v.Record
	if r.State.Final() || Shows(r, v.Destination) {
		return nil
	}
	s := life.Shown{Destination: v.Destination, Content: r.Interaction.Content}
	_, err := c.records.Mark(ctx, r.Interaction.ID, s)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil
	}
	return err
}

// Shows reports whether a destination shows everything that a decision would
// cover.
func Shows(r bridge.Record, destination int) bool {
	content := r.Interaction.Content
	return content != "" && r.Shown[destination] == content
}

// unseen rejects a control that can approve or answer if its card does not show
// everything that the control decides. A click can arrive before nod has
// recorded the content of the card, so unseen waits briefly. If the recorded
// content does not verify, waiting does not help, so unseen requests an update
// of the card. If the request is amended in the meantime, unseen returns
// CodeConflict, because earlier checks read the former request.
func (c *cards) unseen(ctx context.Context, a *Click) (*bridge.Verdict, error) {
	if a.Control.Declines(a.Record.Interaction) {
		return nil, nil
	}
	until := time.Now().Add(seenPatience)
	if end, ok := ctx.Deadline(); ok && end.Add(-clickReserve).Before(until) {
		until = end.Add(-clickReserve)
	}
	for polls := 0; !Shows(a.Record, a.Control.Destination); polls++ {
		if _, posted := a.Record.Messages[a.Control.Destination]; posted && polls == 2 {
			if err := c.drawAgain(ctx, a.Record, a.Control.Destination); err != nil {
				return nil, err
			}
		}
		if time.Now().After(until) || !bridge.Pause(ctx, seenPoll) {
			c.log.Warn("click before the card showed everything", "id", a.Record.Interaction.ID, "platform", a.Who.Platform, "user", a.Who.User)
			return &bridge.Verdict{Kind: bridge.VerdictInvalid, Note: words.Unseen}, nil
		}
		now, err := c.records.Load(ctx, a.Record.Interaction.ID)
		if err != nil {
			return nil, err
		}
		if now.Amended != a.Record.Amended {
			return nil, errAmended
		}
		a.Record = now
		if a.Record.State.Final() {
			return nil, nil
		}
	}
	return nil, nil
}

// drawn handles a card that was drawn outside of a job. It requests an update
// of the card if drawing failed, or if another update may have left an older
// state on the card.
func (c *cards) drawn(ctx context.Context, v bridge.View, failed error) error {
	now, err := c.records.Load(ctx, v.Record.Interaction.ID)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return nil // this is the card of a session, or the record has expired
	}
	if err != nil {
		return err
	}
	if failed == nil && now.Revision == v.Record.Revision {
		return c.redrawn(ctx, v)
	}
	return c.drawAgain(ctx, now, v.Destination)
}

// redrawn requests another update of a card if someone changed its draft while
// it was drawn or posted. A change of the draft cannot update a card that is
// not recorded yet.
func (c *cards) redrawn(ctx context.Context, v bridge.View) error {
	d, err := c.draft(ctx, v.Record, v.Destination)
	if err != nil || d.Same(v.Draft) {
		return err
	}
	return c.drawAgain(ctx, v.Record, v.Destination)
}

// drawAgain requests an update of the message that shows a record.
func (c *cards) drawAgain(ctx context.Context, r bridge.Record, destination int) error {
	_, err := c.records.Mark(ctx, r.Interaction.ID, life.Redraw{Destination: destination})
	return err
}
