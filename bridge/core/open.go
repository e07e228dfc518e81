// Path of a request: rooms.go of bridge/rooms → this file → open.go of
// bridge/life.

package core

import (
	"context"
	"errors"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Known implements bridge.Openings.
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

// Open implements bridge.Openings. Most openings depend on no existing
// document, so the first attempt reads nothing. If such a document exists, the
// store refuses the change and returns the document.
func (in *interactions) Open(ctx context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	if o.Awaited {
		in.hub.reserve(o.Interaction.ID)
	}
	rec, created, err := in.open(ctx, o)
	if o.Awaited && (err != nil || !created || rec.Over()) {
		in.hub.drop(o.Interaction.ID)
	}
	return rec, created, err
}

func (in *interactions) open(ctx context.Context, o bridge.Opening) (rec bridge.Record, created bool, err error) {
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
		if out.Created && o.Stoppable && o.Interaction.Session != "" {
			c.If = append(c.If, broker.Version{Key: stopDocs.Key(life.Owner(o.Interaction.Agent, o.Interaction.Session))})
		}
		if c.Empty() {
			rec = *in.record(&out.Turn.Docs)
			err = in.db.Confirm(ctx, out.Turn.LifeDoc.At())
		} else {
			var done broker.Done
			if done, err = in.db.Do(ctx, c); err != nil {
				return in.rejected(&o, err)
			}
			for _, t := range append(out.Others, out.Turn) {
				rec = *in.told(t, c, done) // the last one is what the caller gets
			}
			in.agenda.stored(c, in.db.Now())
		}
		rec.Repeated, created = out.Repeated, out.Created
		return err
	})
	return rec, created, public(err)
}

// rejected returns the reason that an opening was not stored. If its session is
// stopped, that is a StoppedError.
func (in *interactions) rejected(o *bridge.Opening, err error) error {
	if errors.As(err, new(broker.Full)) {
		return bridge.Errorf(bridge.CodeRateLimited, "agent %s has %d pending requests (at most %d)", o.Interaction.Agent, o.MaxPending, o.MaxPending).
			WithHint("wait for responses, or cancel requests")
	}
	var stale *broker.Stale
	if !errors.As(err, &stale) {
		return err
	}
	for _, d := range stale.Docs {
		if stopDocs.Is(d.Key) && d.Exists() {
			s, err := stopDocs.Decode(d)
			if err != nil {
				return public(err)
			}
			return &bridge.StoppedError{Stop: s}
		}
	}
	return err
}

// readNames reads the documents that an opening depends on.
func (in *interactions) readNames(ctx context.Context, o *life.Opening) error {
	docs, err := in.db.Get(ctx, o.Keys()...)
	if err != nil {
		return public(err)
	}
	first, second, err := o.Found(docs)
	if err != nil {
		return public(err)
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

// Setting implements bridge.Openings.
func (in *interactions) Setting(ctx context.Context, q bridge.SettingQuery) (bridge.Setting, error) {
	var s bridge.Setting
	var err error
	if s.Grants, err = (grants{in.shared}).Covering(ctx, q.Agent, q.Session, q.Grants); err != nil {
		return s, err
	}
	_, enabled, err := (presence{in.shared}).Present(ctx, q.Session)
	s.FrontEnds = enabled > 0
	return s, err
}
