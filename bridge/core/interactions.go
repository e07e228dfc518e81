package core

import (
	"context"
	"sync"
	"time"

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
	all, err := in.several(ctx, []bridge.ID{id})
	if err != nil {
		return nil, err
	}
	return all[0].Docs, all[0].err
}

// found holds the documents of one of several interactions, or the error of
// reading them.
type found struct {
	*life.Docs
	err error
}

// several reads the documents of interactions together. The configured replicas
// have confirmed the decisions, votes and deferrals that it returns, so a
// failover cannot drop them after a caller has seen them.
func (in *interactions) several(ctx context.Context, ids []bridge.ID) (out []found, err error) {
	err = broker.Retry(ctx, func() error {
		var told []broker.Version
		if out, told, err = in.read(ctx, ids); err != nil || len(told) == 0 {
			return err
		}
		return in.db.Confirm(ctx, told...)
	})
	return out, documents.Public(err)
}

// read does the same as several, but without waiting for the replicas. It
// returns the versions that the replicas have to confirm.
func (in *interactions) read(ctx context.Context, ids []bridge.ID) (out []found, told []broker.Version, err error) {
	var keys []broker.Key
	for _, id := range ids {
		keys = append(keys, life.Keys(id)...)
	}
	docs, err := in.db.Get(ctx, keys...)
	if err != nil {
		return nil, nil, err
	}
	each := len(keys) / max(1, len(ids))
	out = make([]found, len(ids))
	for n, id := range ids {
		f := &out[n]
		f.Docs, f.err = life.Read(id, docs[n*each:(n+1)*each])
		if f.Problem != "" {
			in.log.Warn("record does not verify", "id", id, "why", f.Problem)
		}
		if f.Life.State != "" || len(f.Life.Votes) > 0 || !f.Life.Queued.IsZero() {
			told = append(told, f.LifeDoc.At())
		}
		if more := f.More(); f.err == nil && len(more) > 0 {
			rest, err := in.db.Get(ctx, more...)
			if err != nil {
				return nil, nil, err
			}
			f.err = f.Add(rest)
		}
	}
	return out, told, nil
}

// record returns the record of the interaction that documents describe. If the
// documents do not verify, the record is closed without a decision, so no
// caller can mistake it for an approval.
func (in *interactions) record(d *life.Docs) *bridge.Record {
	r := d.Record(in.db.Now())
	if r.Unverified != "" {
		r.Distrust()
	}
	return r
}

// loadAll reads records together. An element is nil if the record does not
// exist, or if a newer version of nod wrote it.
func (in *interactions) loadAll(ctx context.Context, ids []bridge.ID, asStored bool) ([]*bridge.Record, error) {
	all, err := in.several(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*bridge.Record, len(ids))
	for n, f := range all {
		switch {
		case f.err == nil:
			r := in.record(f.Docs)
			if asStored {
				r = f.Record(in.db.Now())
			}
			out[n] = r
		case bridge.ErrorCode(f.err) != bridge.CodeNotFound:
			in.refused(f.err)
		}
	}
	return out, nil
}

// Load implements Interactions.
func (in *interactions) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	d, err := in.docs(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	return *in.record(d), nil
}

// Inspect implements Interactions.
func (in *interactions) Inspect(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	d, err := in.docs(ctx, id)
	if err != nil {
		return bridge.Record{}, err
	}
	return *d.Record(in.db.Now()), nil
}

// turn applies a rule to the documents of an interaction, stores what it changes, and
// returns the documents after that, with their record. If it closes the interaction, the
// change also does what others add. All of this may be called again, because another
// process changed the documents first.
func (in *interactions) turn(
	ctx context.Context, id bridge.ID, rule func(*life.Turn) error, also ...Also,
) (out *life.Docs, rec *bridge.Record, err error) {
	unlock, err := in.locks.lock(ctx, id)
	defer func() {
		if unlock() { // another process may have resolved it, which this turn did not see
			in.hub.wake(id, nil)
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	err = broker.Retry(ctx, func() error {
		d, err := in.docs(ctx, id)
		if err != nil {
			return err
		}
		if d.Problem != "" { // storing the forged values again would seal them with our key
			out, rec = d, in.record(d)
			return nil
		}
		t := d.Begin(in.db.Now(), in.retention)
		if err := rule(t); err != nil {
			return err
		}
		c, err := in.change(t)
		if err != nil {
			return err
		}
		if d.Life.State == "" && t.Life.State != "" {
			if c, err = in.with(ctx, c, t, also); err != nil {
				return err
			}
		}
		out = &t.Docs
		if c.Empty() {
			rec = in.record(out)
			return in.db.Confirm(ctx, d.LifeDoc.At()) // what it repeats may not be on the replicas yet
		}
		done, err := in.db.Do(ctx, c)
		if err != nil {
			return err
		}
		rec = in.told(t, c, done)
		in.agenda.stored(c, in.db.Now())
		return nil
	})
	switch {
	case err != nil:
		in.hub.wake(id, nil) // it may have been resolved anyway
	case rec.Over(): // others may have resolved it in the meantime
		in.hub.wake(id, rec)
	}
	return out, rec, documents.Public(err)
}

// change returns the change that stores a turn. It signs the receipts and the
// audit entries.
func (in *interactions) change(t *life.Turn) (broker.Change, error) {
	if err := t.Sign(in.signer.Load()); err != nil {
		return broker.Change{}, err
	}
	return t.Change()
}

// with returns the change of a turn that closes an interaction, with what others add.
func (in *interactions) with(ctx context.Context, c broker.Change, t *life.Turn, also []Also) (broker.Change, error) {
	for _, a := range also {
		more, err := a(ctx, *in.record(&t.Docs))
		if err != nil {
			return c, err
		}
		c = c.With(more)
	}
	return c, nil
}

// told notes that the change of a turn was stored, wakes the callers of this process if
// it is over, and returns the record.
func (in *interactions) told(t *life.Turn, c broker.Change, done broker.Done) *bridge.Record {
	t.Stored(c, done)
	r := in.record(&t.Docs)
	if t.Over {
		in.hub.wake(t.ID, r)
	}
	return r
}

// locks serializes the changes of one interaction in this process, because a
// change must be made again if another change overtakes it.
type locks struct {
	mu  sync.Mutex
	all map[bridge.ID]*lock
}

type lock struct {
	held   chan struct{} // contains an element while someone holds the lock
	users  int
	missed bool // the journal has reported in the meantime that the interaction is over
}

func newLocks() *locks { return &locks{all: map[bridge.ID]*lock{}} }

// lock waits until no one else changes an interaction, or until ctx ends. The
// caller must call the returned function in either case to release the lock.
// The function reports whether this change has to wake the callers of the
// interaction; see busy.
func (ls *locks) lock(ctx context.Context, id bridge.ID) (unlock func() (missed bool), err error) {
	ls.mu.Lock()
	l := ls.all[id]
	if l == nil {
		l = &lock{held: make(chan struct{}, 1)}
		ls.all[id] = l
	}
	l.users++
	ls.mu.Unlock()
	select {
	case l.held <- struct{}{}:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return func() bool {
		if err == nil {
			<-l.held
		}
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(ls.all, id)
			return l.missed
		}
		return false
	}, err
}

// busy reports whether this process is changing an interaction. If so, the last
// change wakes the callers instead of the journal.
func (ls *locks) busy(id bridge.ID) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.all[id]
	if l != nil {
		l.missed = true
	}
	return l != nil
}

// Pending implements Interactions.
func (in *interactions) Pending(ctx context.Context, agent, session string) ([]bridge.ID, error) {
	var ids []bridge.ID
	if agent == "" && session == "" {
		all, err := in.db.Range(ctx, broker.Query{Index: life.Deadlines})
		for _, m := range all {
			ids = append(ids, bridge.ID(m.Name))
		}
		return ids, documents.Public(err)
	}
	ls := &lists{in}
	f := bridge.ListFilter{State: bridge.StatePending, Agent: agent, Session: session, Limit: listMax}
	for {
		page, err := ls.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			ids = append(ids, r.Interaction.ID)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return ids, nil
		}
	}
}

// Stats returns counts of the stored data, and the ages of a sample of the
// pending interactions.
func (s *Store) Stats(ctx context.Context) (bridge.Stats, error) {
	pending, err := s.db.Count(ctx, life.Deadlines, time.Time{})
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	ids, err := s.db.Sample(ctx, life.Deadlines, agesRead)
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	first, err := s.db.Range(ctx, broker.Query{Index: life.Deadlines, N: 1})
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	jobs, dead, lag, err := s.db.Work(ctx)
	if err != nil {
		return bridge.Stats{}, documents.Public(err)
	}
	now := s.db.Now()
	out := bridge.Stats{Waiting: s.hub.waiting(), Pending: int64(pending), Jobs: int64(jobs), Dead: int64(dead), Lag: lag}
	if len(first) > 0 {
		out.Overdue = max(0, now.Sub(first[0].At))
	}
	for _, id := range ids {
		out.Ages = append(out.Ages, max(0, now.Sub(bridge.ID(id).Time())))
	}
	if len(out.Ages) > 0 {
		out.Weight = float64(out.Pending) / float64(len(out.Ages))
	}
	return out, nil
}

// agesRead is the maximum number of IDs that Stats reads.
const agesRead = 8000
