package life

import (
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Mark is an event of an interaction other than an answer. Only one event resolves
// the interaction: the failure of the last destination makes it undeliverable.
type Mark interface {
	// mark applies the rule of the event.
	mark(*Turn) Verdict
}

// Mark records an event other than an answer.
func (t *Turn) Mark(m Mark) Verdict { return m.mark(t) }

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

func (p Posted) mark(t *Turn) Verdict {
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

// Failed records that nod gave up on a destination, unless a message there shows
// this interaction. A message that still shows an earlier round does not count. If
// no destination is left, the interaction becomes undeliverable in the same step.
// If Later is set, it will be shown elsewhere and stays open.
type Failed struct {
	Destination int
	Reason      string
	Later       bool
}

func (f Failed) mark(t *Turn) Verdict {
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

// Part records that one more part of a long text was sent.
type Part struct {
	Destination int
	Content     string
	N           int // number of parts that were recorded earlier
	Ref         bridge.MessageRef
}

func (p Part) mark(t *Turn) Verdict {
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

// Deleted records that the message of a pending interaction no longer exists. It has
// no effect if the destination has another message in the meantime.
type Deleted struct {
	Failed // the destination, and its failure if the card is not posted again
	Ref    bridge.MessageRef
	Again  bool // post the card again
}

func (d Deleted) mark(t *Turn) Verdict {
	had := t.Cards[d.Destination].Message
	if had == nil || *had != d.Ref || !t.applyDeadline() {
		return Kept
	}
	t.show(d.Destination, func(c *Card) { *c = Card{} })
	if !d.Again {
		return d.Failed.mark(t)
	}
	t.change.Request = append(t.change.Request, post(t.Body, d.Destination, t.now))
	return Done
}

// Late records that a card cannot be posted yet: its platform limits the rate, is
// unreachable or is down.
type Late struct {
	Destination int
	Delay       time.Duration // from now
}

func (l Late) mark(t *Turn) Verdict {
	t.show(l.Destination, func(c *Card) { c.Late = t.now.Add(l.Delay) })
	return Done
}

// Shown records that a destination shows a content in full.
type Shown struct {
	Destination int
	Content     string
}

func (s Shown) mark(t *Turn) Verdict {
	t.show(s.Destination, func(c *Card) { c.Shown, c.Late = s.Content, time.Time{} })
	return Done
}

// Redraw requests an update of the message at a destination.
type Redraw struct{ Destination int }

func (r Redraw) mark(t *Turn) Verdict {
	t.edit(r.Destination, t.now)
	return Done
}

// Refresh requests updates of all messages after Delay. It does not postpone an
// earlier update.
type Refresh struct{ Delay time.Duration }

func (r Refresh) mark(t *Turn) Verdict {
	t.bump()
	t.editAll(r.Delay)
	return Done
}

// Acknowledged records that the agent has acknowledged the late answer, which is
// then delivered.
type Acknowledged struct{}

func (Acknowledged) mark(t *Turn) Verdict {
	t.Life.Acknowledged, t.changedLife = true, true
	t.Deliver()
	return Done
}

// Completed records the result of the agent's tool.
type Completed struct{ bridge.Completion }

func (c Completed) mark(t *Turn) Verdict {
	if t.Life.Completion != nil {
		return Kept
	}
	t.Life.Completion = &c.Completion
	t.event(bridge.EventCompleted, t.state(), data(t.Life.Completion))
	t.bump()
	t.editAll(0)
	return Done
}
