// Path of a request: open.go of bridge/core → this file → do.go of
// broker/redis.

package life

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Opening is a new interaction with the facts that are known when it opens.
type Opening struct {
	Interaction bridge.Interaction
	Identity    bridge.Identity
	// Failures holds, by index of the destination, the reasons that nod cannot
	// reach it.
	Failures map[int]string
	// Response is set if nod does not have to ask anyone.
	Response *bridge.Response
	// Queued means that the interaction is deferred from the start.
	Queued bool
	// Awaited means that the caller calls Await next. This saves a round trip
	// to the store.
	Awaited bool
	// MaxPending is the maximum number of pending requests of the agent. Zero
	// means no limit.
	MaxPending int
	// FrontEnds means that front ends of the session can answer, so the
	// interaction stays open even if no destination can be reached.
	FrontEnds bool
	// Superseded is the response of Interaction.Previous if it is still
	// pending.
	Superseded bridge.Response

	// Package core sets the following fields.

	// Node is the daemon to which the caller is connected.
	Node string
	// First is the interaction that an earlier call opened, Second the one that a
	// duplicate joins, Previous the round before, and Root the first round. Nil means
	// that there is none.
	First, Second, Previous, Root *Docs

	life, nameDoc, retryDoc, duplicateDoc broker.Doc // these documents may not exist
	name                                  Name
	retried                               Retried
}

// Opened is the outcome of an opening.
type Opened struct {
	// Turn is the turn of the interaction that the caller gets. If Created is
	// set, this is a new interaction. Otherwise, it is the interaction that the
	// opening repeats or joins. Nil means that this opening is already stored,
	// so there is no change.
	Turn    *Turn
	Created bool
	// Joined means that the opening joins a pending duplicate.
	Joined bool
	// Repeated means that an earlier call opened the interaction, for another caller.
	Repeated bool
	// Others are the turns of other interactions that the opening changes.
	Others []*Turn

	named broker.Change // the documents under names
}

// Open opens an interaction, unless it repeats a call or joins a pending
// duplicate. An opening that already has its response joins nothing. A follow-up
// takes over the messages of the previous interaction. Open returns CodeConflict,
// CodeNotFound or a [bridge.RepeatedError] if the opening is not possible.
func Open(o *Opening, now time.Time, retention time.Duration) (out Opened, err error) {
	i, id := &o.Interaction, &o.Identity
	me := Caller{Name: cmp.Or(id.Caller, bridge.Anyone), Node: o.Node}
	if o.retried.ID != "" && o.First != nil {
		out.Turn, out.Repeated = o.First.Begin(now, retention), o.retried.Again
		if out.Turn.pending() { // the caller is now connected to this daemon
			out.Turn.Join(me, false)
		}
		return out, nil
	}
	if o.nameDoc.Exists() && o.name.Digest != id.Digest {
		return out, bridge.Errorf(bridge.CodeConflict, "Idempotency-Key: already used for a different request").
			WithHint("use another key, or repeat the request of interaction %s unchanged", o.name.ID)
	}
	if o.name.ID != "" && o.First != nil {
		switch id.Repeat(*o.First.Record(now), now) {
		case bridge.Spent:
			return out, &bridge.RepeatedError{Interaction: o.First.Body}
		case bridge.Joins:
			out.Turn, out.Repeated = o.First.Begin(now, retention), true
			out.Turn.Join(me, false)
			out.recordNames(o, o.name.ID, true, retention)
			return out, nil
		}
	}
	if p := o.Previous; i.Previous != "" {
		switch {
		case p == nil:
			return out, bridge.NotFound(i.Previous)
		case p.Life.Next == i.ID && o.life.Exists():
			return out, nil // the opening is already stored
		case p.Life.Next != "":
			return out, bridge.Errorf(bridge.CodeConflict, "interaction %s already has a follow-up", i.Previous).
				WithHint("use the follow-up, %s", p.Life.Next)
		case i.Root != "" && !slices.Equal(p.Body.Destinations, i.Destinations): // the follow-up would take over messages of other destinations
			return out, bridge.Errorf(bridge.CodeConflict, "interaction %s has changed in the meantime", i.Previous).WithHint("repeat the call")
		}
	}
	if o.life.Exists() {
		return out, nil
	}
	if s := o.Second; s != nil && o.Response == nil && s.Life.State == "" && s.Life.Queued.IsZero() && s.Life.Next == "" && now.Before(s.Life.Deadline) {
		out.Turn, out.Joined = s.Begin(now, retention), true
		out.Turn.Join(me, true)
		out.recordNames(o, s.ID, false, retention)
		return out, nil
	}
	out.create(o, me, now, retention)
	out.recordNames(o, i.ID, false, retention)
	return out, nil
}

// create creates the turn that stores a new interaction, with its deadline,
// jobs and event.
func (out *Opened) create(o *Opening, me Caller, now time.Time, retention time.Duration) {
	i := &o.Interaction
	timeout := i.Deadline.Sub(i.Created)
	t := &Turn{
		Docs: Docs{ID: i.ID, Body: *i, LifeDoc: broker.Doc{Key: Key(i.ID)}, BodyDoc: broker.Doc{Key: bodies.Key(string(i.ID))}},
		now:  now, retention: retention, changedLife: true, changedBody: true, fresh: true,
	}
	t.Body.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	t.Body.Created, t.Body.Deadline = now, now.Add(timeout)
	t.Life = Life{
		Agent: i.Agent, Session: i.Session, Created: now, Deadline: t.Body.Deadline, KeptUntil: t.Body.Deadline.Add(retention),
		FrontEnds: o.FrontEnds, Limited: o.MaxPending > 0, Hooks: i.Closings(), Correlation: correlation(i), Root: i.Root,
		Failures: maps.Clone(o.Failures), Revision: 1, Callers: []Caller{me},
	}
	t.change.Replicated = true
	if i.Session != "" {
		t.change.Set = append(t.change.Set, broker.Member{
			Index: SessionIndex(i.Agent, i.Session), Name: string(i.ID), At: now, IndexTTL: pendingMost + retention,
		})
	}
	out.Turn, out.Created = t, true
	out.follow(o, t)
	t.event(bridge.EventRequest, bridge.StatePending, "")
	if o.Response != nil {
		t.resolve(*o.Response, now, "open")
		return
	}
	t.change.Set = append(t.change.Set, t.whilePending()...)
	if o.MaxPending > 0 {
		t.change.Set = append(t.change.Set, broker.Member{Index: PendingIndex(i.Agent), Name: string(i.ID), At: now})
		if !slices.ContainsFunc(out.Others, func(o *Turn) bool { return o.EndsWait && o.Life.Limited }) { // the new interaction does not replace one that counts
			t.change.Below = append(t.change.Below, broker.Bound{Index: PendingIndex(i.Agent), Max: o.MaxPending})
		}
	}
	if len(i.Steps) > 0 {
		t.request(JobStep, 0, now.Add(time.Duration(i.Steps[0].After)))
	}
	if i.Join {
		putNamed(out, duplicates, broker.Doc{Key: o.duplicateKey(), Version: o.duplicateDoc.Version, Keep: timeout}, i.ID)
	}
	for n := range i.Destinations {
		if t.Cards[n].Message != nil {
			t.edit(n, now.Add(closeDelay)) // sent after the reply to the click that caused the follow-up
		} else if _, failed := t.Life.Failures[n]; !failed {
			t.change.Request = append(t.change.Request, post(t.Body, n, now.Add(time.Duration(i.Grace))))
		}
	}
	if o.Queued {
		t.deferAt(now, time.Duration(i.Hold))
	}
}

// Sign is [Turn.Sign] for all turns of an opening.
func (out *Opened) Sign(s Signer) error {
	for _, t := range append(out.Others, out.Turn) {
		if err := t.Sign(s); err != nil {
			return err
		}
	}
	return nil
}

// Changes returns the change that stores an opening.
func (out *Opened) Changes() (broker.Change, error) {
	c, err := out.Turn.Change()
	if err != nil {
		return c, err
	}
	for _, t := range out.Others {
		more, err := t.Change()
		if err != nil {
			return c, err
		}
		c = c.With(more)
	}
	return c.With(out.named), nil
}
