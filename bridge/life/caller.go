package life

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
)

// Deliver records that the agent has received the response.
func (t *Turn) Deliver() Verdict {
	if !t.Life.Delivered.IsZero() {
		return Kept
	}
	t.Life.Delivered = t.now
	t.event(bridge.EventDelivered, t.state(), "")
	t.bump()
	t.editAll(0)
	return Done
}

// Take records the caller that gets the approvals of a message, in the first
// interaction of the message. The first caller wins.
func (t *Turn) Take(caller string) Verdict {
	switch t.Life.SoleCaller {
	case "":
		t.Life.SoleCaller, t.changedLife = caller, true
		t.change.Replicated = true
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
	t.Life.Sent, t.changedLife = t.now, true
	t.change.Replicated = true
	return Done
}

// maxNamed is the maximum number of callers that an interaction notes by name.
const maxNamed = 64

// Join records that another caller waits for the interaction, unless the caller has
// no name. duplicate means that the caller sent an identical request, and did not
// repeat an earlier one. After maxNamed callers, Join only counts: a caller that joins
// again then counts twice, and the interaction stays open without it.
func (t *Turn) Join(c Caller, duplicate bool) Verdict {
	all := t.Life.Callers
	find := func() int {
		return slices.IndexFunc(all, func(o Caller) bool { return o.Name == c.Name && (o.Node == c.Node || c.Name != bridge.Anyone) })
	}
	n := find()
	if n < 0 && c.Name != "" && len(all) >= maxNamed {
		c.Name = bridge.Anyone
		n = find()
	}
	switch {
	case c.Name == "":
	case n < 0:
		t.Life.Callers, t.changedLife = append(all, c), true
	case c.Name == bridge.Anyone:
		all[n].More++
		t.changedLife = true
	case all[n].Node != c.Node && c.Node != "":
		all[n].Node, t.changedLife = c.Node, true
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
	if !t.applyDeadline() {
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
		func(o Caller) bool { return cut && unnamed(o) && here(o) }, // the entry stands for a caller that has moved
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
	t.Life.Callers, t.changedLife = rest, true
	return Done
}
