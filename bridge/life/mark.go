package life

import (
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Mark is one event of an interaction. Exactly one field is set.
type Mark struct {
	Posted *Posted
	Failed *Failed
	Queued time.Duration // deferred: the time for which the interaction stays open; positive
	// Acknowledged means that the agent has acknowledged the late answer, which
	// is then delivered.
	Acknowledged bool
	Completed    *bridge.Completion
	Amended      *Amendment
	Late         *Late
	Redraw       *int // destination whose message must be updated
	// Refresh is the delay after which all messages must be updated. It does
	// not postpone an earlier update.
	Refresh *time.Duration
	Part    *Part
	Shown   *Shown
	Deleted *Deleted
}

// Mark records an event other than an answer. Only one such event resolves the
// interaction: the failure of the last destination makes it undeliverable.
func (t *Turn) Mark(m Mark) Verdict {
	switch {
	case m.Posted != nil:
		return t.posted(*m.Posted)
	case m.Failed != nil:
		return t.failed(*m.Failed)
	case m.Queued > 0:
		return t.Defer(m.Queued)
	case m.Acknowledged:
		t.Life.Acknowledged, t.changedLife, t.change.Urgent = true, true, true
		t.Deliver()
	case m.Completed != nil:
		return t.completed(*m.Completed)
	case m.Amended != nil:
		return t.Amend(*m.Amended)
	case m.Late != nil:
		t.show(m.Late.Destination, func(c *Card) { c.Late = t.now.Add(m.Late.Delay) })
	case m.Redraw != nil:
		t.edit(*m.Redraw, t.now)
	case m.Refresh != nil:
		t.bump()
		t.editAll(*m.Refresh)
	case m.Part != nil:
		return t.part(*m.Part)
	case m.Shown != nil:
		t.show(m.Shown.Destination, func(c *Card) { c.Shown, c.Late = m.Shown.Content, time.Time{} })
	case m.Deleted != nil:
		return t.deleted(*m.Deleted)
	}
	return Done
}

// Posted records a posted message. If the message is already out of date, an
// edit job is stored in the same step.
type Posted struct {
	Destination int
	Ref         bridge.MessageRef
	Revision    int64 // revision of the record that was shown
	// Content identifies the text that the message shows in full; see
	// [bridge.View.Content]. It is empty if the message does not show everything.
	Content string
	// Look is the time after which nod updates the message again, even if it is
	// up to date, to find out whether it still exists. Zero means never.
	Look time.Duration
}

// posted records a posted message.
func (t *Turn) posted(p Posted) Verdict {
	had, was := t.Cards[p.Destination].Message, t.Cards[p.Destination].Shown
	same := had != nil && *had == p.Ref
	if same && (p.Content == "" || p.Content == was) {
		return Kept
	}
	t.show(p.Destination, func(c *Card) {
		c.Message = &p.Ref
		if p.Content != "" {
			c.Shown, c.Late = p.Content, time.Time{}
		}
	})
	if same {
		return Done
	}
	if _, failed := t.Life.Failures[p.Destination]; failed {
		delete(t.Life.Failures, p.Destination)
		t.changedLife = true
	}
	t.event(bridge.EventPosted, t.state(), data(bridge.Delivery{Destination: p.Destination, Message: &p.Ref}))
	switch {
	case t.Life.Revision != p.Revision:
		t.edit(p.Destination, t.now)
	case p.Look > 0 && t.pending():
		t.edit(p.Destination, t.now.Add(p.Look))
	}
	return Done
}

// Failed records that nod gave up on a destination. If no destination is left,
// the interaction becomes undeliverable in the same step. If Later is set, it
// will be shown elsewhere and stays open.
type Failed struct {
	Destination int
	Reason      string
	Later       bool
}

// failed records that nod gave up on a destination, unless a message there shows
// this interaction. A message that still shows an earlier round does not count.
func (t *Turn) failed(f Failed) Verdict {
	pending := t.applyDeadline()
	c := t.Cards[f.Destination]
	if t.Life.Failures[f.Destination] != "" || c.Message != nil && c.Shown != "" {
		return Kept
	}
	put(&t.guardedCards, f.Destination, true)
	put(&t.Life.Failures, f.Destination, f.Reason)
	t.changedLife = true
	t.event(bridge.EventFailed, t.state(), data(bridge.Delivery{Destination: f.Destination, Reason: f.Reason}))
	if !pending || t.Life.FrontEnds || f.Later { // the interaction is over, or someone can still answer
		return Done
	}
	for n := range t.Body.Destinations {
		if t.Life.Failures[n] == "" {
			return Done
		}
	}
	t.resolve(bridge.Response{State: bridge.StateUndeliverable, Reason: f.Reason, Annotations: map[string]bridge.Annotation{}}, t.now, "undeliverable")
	return Done
}

// Part records that one more part was sent.
type Part struct {
	Destination int
	Content     string
	N           int // number of parts that were recorded earlier
	Ref         bridge.MessageRef
}

// part records that a part of a long text was sent.
func (t *Turn) part(p Part) Verdict {
	var s bridge.SentParts
	if had := t.Cards[p.Destination].SentParts; had != nil && had.Content == p.Content {
		s = *had
	}
	s.Content = p.Content
	switch n := len(s.Parts); {
	case n == p.N+1 && s.Parts[n-1] == p.Ref:
		return Kept // a repeat
	case n != p.N:
		return Changed
	}
	s.Parts = append(slices.Clone(s.Parts), p.Ref)
	t.show(p.Destination, func(c *Card) { c.SentParts = &s })
	return Done
}

// Deleted records that a posted message no longer exists. It has no effect if
// the destination has another message in the meantime.
type Deleted struct {
	Destination int
	Ref         bridge.MessageRef
	Again       bool // post the card again while the interaction is pending
}

// deleted records that a message no longer exists.
func (t *Turn) deleted(d Deleted) Verdict {
	had := t.Cards[d.Destination].Message
	if had == nil || *had != d.Ref {
		return Kept
	}
	t.show(d.Destination, func(c *Card) { *c = Card{} })
	if d.Again && t.pending() {
		t.change.Request = append(t.change.Request, post(t.Body, d.Destination, t.now))
	}
	return Done
}

// Late records that a card cannot be posted yet: its platform limits the rate, is
// unreachable or is down.
type Late struct {
	Destination int
	Delay       time.Duration // from now
}

// Shown records that a destination shows a content in full.
type Shown struct {
	Destination int
	Content     string
}

// completed records the result of the agent's tool.
func (t *Turn) completed(c bridge.Completion) Verdict {
	if t.Life.Completion != nil {
		return Kept
	}
	t.Life.Completion = &c
	t.event(bridge.EventCompleted, t.state(), data(&c))
	t.bump()
	t.editAll(0)
	return Done
}
