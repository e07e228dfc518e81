package core

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// interactions implements Interactions.
type interactions struct {
	*shared
	hub      *hub
	locks    *locks
	verifier *verifier
	aside    aside
}

// docs reads the documents of an interaction.
func (in *interactions) docs(ctx context.Context, id bridge.ID) (*life.Docs, error) {
	all, err := in.Read(ctx, []bridge.ID{id})
	if err != nil {
		return nil, err
	}
	return all[0].Docs, all[0].Err
}

// Found holds the documents of one of several interactions, or the error from
// reading them.
type Found struct {
	*life.Docs
	Err error
}

// Read reads the documents of interactions together. The configured replicas
// have confirmed the decisions, votes and deferrals that it returns, so a
// failover cannot drop them after a caller has seen them.
func (in *interactions) Read(ctx context.Context, ids []bridge.ID) (out []Found, err error) {
	err = broker.Retry(ctx, func() error {
		var told []broker.Version
		if out, told, err = in.read(ctx, ids); err != nil || len(told) == 0 {
			return err
		}
		return in.db.Confirm(ctx, told...)
	})
	return out, documents.Public(err)
}

// read does the same as Read, but without waiting for the replicas. It
// returns the versions that the replicas have to confirm.
func (in *interactions) read(ctx context.Context, ids []bridge.ID) (out []Found, told []broker.Version, err error) {
	var keys []broker.Key
	for _, id := range ids {
		keys = append(keys, life.Keys(id)...)
	}
	docs, err := in.db.Get(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	each := len(keys) / max(1, len(ids))
	out = make([]Found, len(ids))
	var more []broker.Key
	for n, id := range ids {
		f := &out[n]
		f.Docs, f.Err = life.Read(id, docs[n*each:(n+1)*each])
		switch {
		case f.Problem != "":
			in.log.Warn("record does not verify", "id", id, "why", f.Problem)
		case f.Err != nil && bridge.ErrorCode(f.Err) != bridge.CodeNotFound:
			in.log.Warn("record cannot be read", "id", id, "error", f.Err)
		}
		if f.Life.State != "" || len(f.Life.Votes) > 0 || !f.Life.Queued.IsZero() {
			told = append(told, f.LifeDoc.At())
		}
		if f.Err == nil {
			more = append(more, f.More()...)
		}
	}
	if len(more) == 0 {
		return out, told, nil
	}
	rest, err := in.db.Get(ctx, more...)
	if err != nil {
		return nil, nil, err
	}
	for n := range out {
		if f := &out[n]; f.Err == nil {
			k := len(f.More())
			f.Err, rest = f.Add(rest[:k]), rest[k:]
		}
	}
	return out, told, nil
}

// Record returns the record of the interaction that documents describe. If the
// documents do not verify, the record is closed without a decision, so no
// caller can mistake it for an approval.
func (in *interactions) Record(d *life.Docs) *bridge.Record {
	r := d.Record(in.db.Now())
	if r.Unverified != "" {
		r.Distrust()
	}
	return r
}

// Load implements Interactions.
func (in *interactions) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	d, err := in.docs(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	return *in.Record(d), nil
}

// Inspect implements Interactions.
func (in *interactions) Inspect(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	d, err := in.docs(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	return *d.Record(in.db.Now()), nil
}
