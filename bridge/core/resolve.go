// Path of a click: settle_check.go of bridge/engine → this file → resolve.go of
// bridge/life.

package core

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Resolve implements Interactions.
func (in *interactions) Resolve(ctx context.Context, s life.Resolution, also ...Also) (bridge.Record, bool, error) {
	began := in.db.Now()
	d, r, verdict, err := in.turn(ctx, s.ID, func(t *life.Turn) life.Verdict { return t.Resolve(s) }, also...)
	if err != nil {
		return bridge.Record{}, false, err
	}
	if verdict == life.Won {
		s.Response, s.Receipt = *d.Life.Response, d.Life.Receipt
		in.verifier.add(checked{resolution: &s, also: also, recorded: began}, d)
	}
	return *r, verdict == life.Won, refusal(s.ID, verdict)
}

// refusal returns the error for a decision that a verdict refuses, or nil.
func refusal(id bridge.ID, v life.Verdict) error {
	switch v {
	case life.Changed:
		return bridge.Errorf(bridge.CodeConflict, "interaction %s has changed in the meantime", id).WithHint("read it again")
	case life.Unproven:
		return bridge.Errorf(bridge.CodeForbidden, "interaction %s requires a proof of the person who approves", id).
			WithHint("approve it in chat or in the console, and use the link that you get")
	}
	return nil
}

// turn applies a rule to the documents of an interaction, and stores the change. It
// returns the resulting documents, their record, and the verdict of the rule. The change
// includes the additions of also. If another process
// changes the documents first, the turn calls rule and also again with the new documents,
// and returns the last result. If the documents do not verify, it does not call them, and
// the verdict is Forged.
func (in *interactions) turn(
	ctx context.Context, id bridge.ID, rule func(*life.Turn) life.Verdict, also ...Also,
) (out *life.Docs, rec *bridge.Record, verdict life.Verdict, err error) {
	unlock, err := in.locks.lock(ctx, id)
	defer func() {
		if unlock() { // another process may have resolved it, which this turn did not see
			in.hub.wake(id, nil)
		}
	}()
	if err != nil {
		return nil, nil, "", err
	}
	err = broker.Retry(ctx, func() error {
		d, err := in.docs(ctx, id)
		if err != nil {
			return err
		}
		if d.Problem != "" { // storing the forged values again would seal them with nod's key
			out, rec, verdict = d, in.Record(d), life.Forged
			return nil
		}
		t := d.Begin(in.db.Now(), in.retention)
		verdict = rule(t)
		c, err := in.change(ctx, t, also...)
		if err != nil {
			return err
		}
		out = &t.Docs
		if c.Empty() {
			rec = in.Record(out)
			return in.db.Confirm(ctx, d.LifeDoc.At()) // the replicas may not have an earlier change yet
		}
		done, err := in.db.Do(ctx, c)
		if err != nil {
			return err
		}
		rec = in.announce(t, c, done)
		return nil
	})
	switch {
	case err != nil:
		in.hub.wake(id, nil) // the interaction may have been resolved anyway
	case rec.Over(): // others may have resolved it in the meantime
		in.hub.wake(id, rec)
	}
	return out, rec, verdict, documents.Public(err)
}

// change returns the change that stores a turn, with signed receipts and audit
// entries, and the additions of also.
func (in *interactions) change(ctx context.Context, t *life.Turn, also ...Also) (broker.Change, error) {
	if err := t.Sign(in.signer.Load()); err != nil {
		return broker.Change{}, err
	}
	c, err := t.Change()
	if err != nil || c.Empty() {
		return c, err
	}
	for _, a := range also {
		more, err := a(ctx, *in.Record(&t.Docs))
		if err != nil {
			return c, err
		}
		c = c.With(more)
	}
	return c, nil
}

// announce follows up on the stored change of a turn. It wakes the callers that
// wait in this process if the interaction is over, and the workers if there are
// new jobs. It returns the record.
func (in *interactions) announce(t *life.Turn, c broker.Change, done broker.Done) *bridge.Record {
	t.Stored(c, done)
	r := in.Record(&t.Docs)
	if t.EndsWait {
		in.hub.wake(t.ID, r)
		if in.ended != nil {
			in.ended(*r, t.TimedOut)
		}
	}
	in.agenda.stored(c, in.db.Now())
	return r
}
