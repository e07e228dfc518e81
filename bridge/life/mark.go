package life

import (
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Mark records an event other than an answer. Only one such event resolves the
// interaction: the failure of the last destination makes it undeliverable.
func (t *Turn) Mark(m bridge.Mark) Verdict {
	switch {
	case m.Posted != nil:
		return t.posted(*m.Posted)
	case m.Failed != nil:
		return t.failed(*m.Failed)
	case m.Queued > 0:
		return t.Defer(m.Queued)
	case m.Completed != nil:
		return t.completed(*m.Completed)
	case m.Joined, m.Caller != "":
		return t.Join(Caller{Name: m.Caller}, m.Joined)
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

// posted records a posted message.
func (t *Turn) posted(p bridge.Posted) Verdict {
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
		t.lives = true
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

// failed records that nod gave up on a destination, unless a message there shows
// this interaction. A message that still shows an earlier round does not count.
func (t *Turn) failed(f bridge.Failed) Verdict {
	pending := t.due()
	c := t.Cards[f.Destination]
	if t.Life.Failures[f.Destination] != "" || c.Message != nil && c.Shown != "" {
		return Kept
	}
	put(&t.guarded, f.Destination, true)
	put(&t.Life.Failures, f.Destination, f.Reason)
	t.lives = true
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

// part records that a part of a long text was sent.
func (t *Turn) part(p bridge.Part) Verdict {
	var s bridge.Sending
	if had := t.Cards[p.Destination].Sending; had != nil && had.Content == p.Content {
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
	t.show(p.Destination, func(c *Card) { c.Sending = &s })
	return Done
}

// deleted records that a message no longer exists.
func (t *Turn) deleted(d bridge.Deleted) Verdict {
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

// Deliver records that the agent has received the response.
func (t *Turn) Deliver() Verdict {
	if !t.Life.Delivered.IsZero() {
		return Kept
	}
	t.Life.Delivered = t.now
	t.event(bridge.EventDelivered, t.state(), "")
	t.change.Urgent = true
	t.bump()
	t.editAll(0)
	return Done
}

// Take records the caller that gets the approvals of a message, in the first
// interaction of the message. The first caller wins.
func (t *Turn) Take(caller string) Verdict {
	switch t.Life.Taker {
	case "":
		t.Life.Taker, t.lives = caller, true
		t.change.Urgent, t.change.Replicated = true, true
		return Done
	case caller:
		return Kept
	}
	return Taken
}

// Send records that the response is about to be sent.
func (t *Turn) Send() Verdict {
	if !t.Life.Sent.IsZero() {
		return Kept
	}
	t.Life.Sent, t.lives = t.now, true
	t.change.Urgent, t.change.Replicated = true, true
	return Done
}

// Join records that another caller waits for the interaction, unless the caller has
// no name. duplicate means that the caller sent an identical request, and did not
// repeat an earlier one.
func (t *Turn) Join(c Caller, duplicate bool) Verdict {
	all := t.Life.Callers
	n := slices.IndexFunc(all, func(o Caller) bool { return o.Name == c.Name && (o.Node == c.Node || c.Name != bridge.Anyone) })
	switch {
	case c.Name == "":
	case n < 0:
		t.Life.Callers, t.lives = append(all, c), true
	case c.Name == bridge.Anyone:
		all[n].More++
		t.lives = true
	case all[n].Node != c.Node && c.Node != "":
		all[n].Node, t.lives = c.Node, true
	}
	if !duplicate {
		return Done
	}
	t.Life.Joined++
	t.bump()
	t.editAll(0)
	t.event(bridge.EventJoined, t.state(), "")
	return Done
}

// Leave records that a caller no longer waits. If no other caller waits, the
// interaction closes with the given response. If only the connection of the
// caller was lost, the caller may be connected to another daemon, or may be
// waiting on another connection to this daemon.
func (t *Turn) Leave(c Caller, cut, waits bool, end bridge.Response) Verdict {
	if !t.due() {
		return Final
	}
	if cut && !t.Life.Queued.IsZero() { // an agent may come back for a deferred interaction
		return Kept
	}
	rest, n := slices.Clone(t.Life.Callers), -1
	here := func(o Caller) bool { return o.Node == c.Node }
	unnamed := func(o Caller) bool { return o.Name == bridge.Anyone }
	for _, is := range []func(o Caller) bool{ // the best match first
		func(o Caller) bool { return o.Name == c.Name && here(o) },
		func(o Caller) bool { return cut && unnamed(o) && here(o) }, // it stands for a caller that moved
		func(o Caller) bool { return o.Name == c.Name },
		func(o Caller) bool { return unnamed(o) && here(o) },
		unnamed,
		func(Caller) bool { return unnamed(c) },
	} {
		n = slices.IndexFunc(rest, is)
		if n >= 0 {
			break
		}
	}
	if n < 0 {
		return Kept
	}
	if moved := rest[n].Node; cut && moved != "" && c.Node != "" && moved != c.Node {
		return Kept
	}
	if rest[n].More > 0 {
		rest[n].More--
	} else {
		rest = slices.Delete(rest, n, n+1)
	}
	if cut && waits && !slices.ContainsFunc(rest, here) { // the caller waits on another connection to this daemon
		rest = append(rest, Caller{Name: bridge.Anyone, Node: c.Node})
	}
	if len(rest) == 0 {
		t.resolve(end, t.now, "cancel")
		return Won
	}
	t.Life.Callers, t.lives = rest, true
	return Done
}

// Amend changes a pending interaction, such as its responders.
func (t *Turn) Amend(a bridge.Amendment) Verdict {
	if !t.due() {
		return Final
	}
	l := &t.Life
	if a.Expect != l.Amended {
		return Changed
	}
	l.Amended++
	before := len(t.Body.Destinations)
	times := t.Body
	t.Body = a.Interaction
	t.Body.Stated, t.Body.Created, t.Body.Deadline, t.body = times.Stated, times.Created, times.Deadline, true
	if a.Then != nil {
		l.Step = a.Then.Index
	}
	l.Votes = slices.DeleteFunc(l.Votes, func(v bridge.Vote) bool { // an approval counts only for what its voter saw
		return v.State == bridge.StateApproved && (v.Content != t.Body.Content || slices.Contains(a.Void, v.Actor.Voter()))
	})
	if a.Wider {
		t.event(bridge.EventWidened, bridge.StatePending, "")
	}
	for n := before; n < len(t.Body.Destinations); n++ {
		if l.Failures[n] == "" {
			t.change.Request = append(t.change.Request, post(t.Body, n, t.now))
		}
	}
	for _, m := range a.Reminders {
		l.Reminders = append(l.Reminders, m)
		t.request(bridge.JobRemind, len(l.Reminders)-1, t.now.Add(a.Delay))
	}
	if len(a.Reminders) > 0 {
		t.event(bridge.EventReminded, bridge.StatePending, "")
	}
	if a.Then != nil && a.Then.Index < len(t.Body.Steps) {
		t.request(bridge.JobStep, a.Then.Index, t.now.Add(a.Then.In))
	}
	t.bump()
	t.editAll(0)
	return Done
}
