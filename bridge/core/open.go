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

// Known implements Interactions.
func (in *interactions) Known(ctx context.Context, o bridge.Opening) (bool, error) {
	op := life.Opening{Opening: o}
	if err := in.readNames(ctx, &op); err != nil || op.First == nil {
		return false, err
	}
	if op.Retries() {
		return true, nil
	}
	now := in.db.Now()
	return o.Identity.Repeat(*op.First.Record(now), now) != bridge.Asks, nil
}

// Open implements Interactions. Most openings depend on no existing
// document, so the first attempt reads nothing. If such a document exists, the
// store refuses the change and returns the document.
func (in *interactions) Open(ctx context.Context, o bridge.Opening, on ...broker.Version) (bridge.Record, bool, error) {
	if o.Awaited {
		in.hub.reserve(o.Interaction.ID)
	}
	rec, created, err := in.open(ctx, o, on)
	if o.Awaited && (err != nil || !created || rec.Over()) {
		in.hub.drop(o.Interaction.ID)
	}
	return rec, created, err
}

func (in *interactions) open(ctx context.Context, o bridge.Opening, on []broker.Version) (rec bridge.Record, created bool, err error) {
	known := o.Interaction.Previous != "" || o.Interaction.Join
	err = broker.Retry(ctx, func() error {
		op := &life.Opening{Opening: o, Node: in.node}
		if known {
			if err := in.readNames(ctx, op); err != nil {
				return err
			}
		}
		known = true
		now := in.db.Now()
		out, err := life.Open(op, now, in.retention)
		if err != nil {
			return err
		}
		if out.Turn == nil { // a repetition of this opening
			d, err := in.docs(ctx, o.Interaction.ID)
			if err != nil {
				return err
			}
			rec = *in.record(d)
			return in.db.Confirm(ctx, d.LifeDoc.At())
		}
		if err := out.Sign(in.signer.Load()); err != nil {
			return err
		}
		c, err := out.Changes()
		if err != nil {
			return err
		}
		if out.Created {
			c.If = append(c.If, on...)
		}
		if c.Empty() {
			rec = *in.record(&out.Turn.Docs)
			err = in.db.Confirm(ctx, out.Turn.LifeDoc.At())
		} else {
			var done broker.Done
			if done, err = in.db.Do(ctx, c); err != nil {
				return rejected(&o, on, err)
			}
			for _, t := range append(out.Others, out.Turn) {
				rec = *in.told(t, c, done) // the last one is what the caller gets
			}
			in.agenda.stored(c, in.db.Now())
		}
		rec.Repeated, created = out.Repeated, out.Created
		return err
	})
	return rec, created, documents.Public(err)
}

// rejected returns the reason why an opening was not stored: a ChangedError instead of a
// stale one if a document on which it depends has another version by now.
func rejected(o *bridge.Opening, on []broker.Version, err error) error {
	if errors.As(err, new(broker.Full)) {
		return bridge.Errorf(bridge.CodeRateLimited, "agent %s has %d pending requests (at most %d)", o.Interaction.Agent, o.MaxPending, o.MaxPending).
			WithHint("wait for responses, or cancel requests")
	}
	var stale *broker.Stale
	if !errors.As(err, &stale) {
		return err
	}
	for _, d := range stale.Docs {
		if slices.ContainsFunc(on, func(v broker.Version) bool { return v.Key == d.Key && v.Version != d.Version }) {
			return &ChangedError{d}
		}
	}
	return err
}

// readNames reads the documents that an opening depends on.
func (in *interactions) readNames(ctx context.Context, o *life.Opening) error {
	docs, err := in.db.Get(ctx, o.Keys()...)
	if err != nil {
		return documents.Public(err)
	}
	first, second, err := o.Found(docs)
	if err != nil {
		return documents.Public(err)
	}
	for _, p := range []struct {
		id   bridge.ID
		into **life.Docs
	}{{first, &o.First}, {second, &o.Second}, {o.Interaction.Previous, &o.Previous}, {o.Interaction.Root, &o.Root}} {
		if p.id == "" {
			continue
		}
		d, err := in.docs(ctx, p.id)
		switch {
		case bridge.ErrorCode(err) == bridge.CodeNotFound: // only the document of its name is left
		case err != nil:
			return err
		case d.Problem != "":
			return bridge.Errorf(bridge.CodeForbidden, "interaction %s does not verify: %s", p.id, d.Problem).WithHint("ask again with another key or ID")
		default:
			*p.into = d
		}
	}
	return nil
}
