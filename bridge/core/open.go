// Path of a request: rooms.go of bridge/rooms → this file → open.go of
// bridge/life.

package core

import (
	"context"
	"errors"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Open implements Interactions. It registers a caller that will wait before it
// stores the request, so that the caller misses no answer.
func (in *interactions) Open(ctx context.Context, o life.Opening, relied ...broker.Version) (bridge.Record, bool, error) {
	if o.Awaited {
		in.hub.reserve(o.Interaction.ID)
	}
	rec, created, err := in.open(ctx, o, relied)
	if o.Awaited && (err != nil || !created || rec.Over()) {
		in.hub.drop(o.Interaction.ID)
	}
	return rec, created, err
}

// open stores a request if the documents on which its openers relied still have
// the given versions. Most openings depend on no existing document, so the first
// attempt reads nothing. If such a document exists, the store refuses the change,
// and the next attempt reads the document.
func (in *interactions) open(ctx context.Context, o life.Opening, relied []broker.Version) (rec bridge.Record, created bool, err error) {
	o.Node = in.node
	reads := o.Interaction.Previous != "" || o.Interaction.Join
	err = broker.Retry(ctx, func() error {
		op := o // without the documents of an earlier attempt
		if reads {
			if err := in.readNames(ctx, &op); err != nil {
				return err
			}
		}
		reads = true
		now := in.db.Now()
		out, err := life.Open(&op, now, in.retention)
		if err != nil {
			return err
		}
		if out.Turn == nil { // this opening repeats an earlier call
			d, err := in.docs(ctx, o.Interaction.ID)
			if err != nil {
				return err
			}
			rec = *in.Record(d)
			return in.db.Confirm(ctx, d.LifeDoc.At())
		}
		if err := out.Sign(in.signer.Load()); err != nil {
			return err
		}
		c, err := out.Changes()
		if err != nil {
			return err
		}
		if out.Created || out.Joined {
			c.If = append(c.If, relied...)
		}
		if c.Empty() {
			rec = *in.Record(&out.Turn.Docs)
			err = in.db.Confirm(ctx, out.Turn.LifeDoc.At())
		} else {
			done, err := in.db.Do(ctx, c)
			if errors.As(err, new(broker.Full)) && in.uncount(ctx, o.Interaction.Agent) {
				done, err = in.db.Do(ctx, c)
			}
			if err != nil {
				return rejected(&o, relied, err)
			}
			for _, t := range append(out.Others, out.Turn) {
				rec = *in.announce(t, c, done) // the last turn belongs to the caller's interaction
			}
		}
		rec.Repeated, created = out.Repeated, out.Created
		return err
	})
	return rec, created, documents.Public(err)
}

// uncountMost is the number of requests that uncount examines.
const uncountMost = 64

// uncount corrects the set of an agent's pending requests: it removes those
// whose documents say that they are closed, and those that no longer exist. It
// reports whether it removed any. It examines a random sample, so that repeated
// calls find all.
func (in *interactions) uncount(ctx context.Context, agent string) bool {
	index := life.PendingIndex(agent)
	ids, err := in.db.Sample(ctx, index, uncountMost)
	keys := make([]broker.Key, len(ids))
	for n, id := range ids {
		keys[n] = life.Key(bridge.ID(id))
	}
	var docs []broker.Doc
	if err == nil {
		docs, err = in.db.Get(ctx, keys...)
	}
	c := broker.Change{Urgent: true}
	for n, d := range docs {
		if l, unread := life.Decode(d); unread == nil && (!d.Exists() || l.State != "") {
			c.If, c.Unset = append(c.If, d.At()), append(c.Unset, broker.Member{Index: index, Name: ids[n]})
		}
	}
	if err == nil && !c.Empty() {
		_, err = in.db.Do(ctx, c)
	}
	if err != nil {
		in.log.Warn("pending requests of an agent not counted again", "agent", agent, "error", err)
	}
	return err == nil && !c.Empty()
}

// rejected returns the reason why an opening was not stored. It returns a
// ChangedError if a document on which the openers relied was changed, so that the
// engine asks them again.
func rejected(o *life.Opening, relied []broker.Version, err error) error {
	if errors.As(err, new(broker.Full)) {
		return bridge.Errorf(bridge.CodeRateLimited, "agent %s has %d pending requests (at most %d)", o.Interaction.Agent, o.MaxPending, o.MaxPending).
			WithHint("wait for responses, or cancel requests")
	}
	var stale *broker.Stale
	if !errors.As(err, &stale) {
		return err
	}
	for _, d := range stale.Docs {
		if slices.ContainsFunc(relied, func(v broker.Version) bool { return v.Key == d.Key && v.Version != d.Version }) {
			return &ChangedError{d}
		}
	}
	return err
}
