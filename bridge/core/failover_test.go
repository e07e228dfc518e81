package core_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// failing is a database with replicas whose master is lost between a read and its
// confirmation, together with the last version of some documents.
type failing struct {
	*memory.Store
	mu   sync.Mutex
	lost []broker.Doc // as the next master has them
}

func (f *failing) Confirm(ctx context.Context, read ...broker.Version) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.lost {
		d.Fresh = true
		if _, err := f.Do(ctx, broker.Change{Put: []broker.Doc{d}}); err != nil {
			return err
		}
	}
	f.lost = nil
	_, err := f.Do(ctx, broker.Change{If: read})
	return err
}

// unconfirmed is a database whose replicas do not confirm anything.
type unconfirmed struct {
	*memory.Store
	away atomic.Bool
}

func (u *unconfirmed) Confirm(ctx context.Context, read ...broker.Version) error {
	if u.away.Load() {
		return bridge.Wrap(bridge.CodeUnavailable, bridge.ErrUnconfirmed, "no replica")
	}
	return u.Store.Confirm(ctx, read...)
}

// TestEventsAreConfirmed checks that no event says what people did before the replicas
// have it, and that the other events do not wait for them.
func TestEventsAreConfirmed(t *testing.T) {
	t.Parallel()
	seals := broker.NewSeals([]byte("key"))
	db := &unconfirmed{Store: memory.New(seals)}
	s := stored.On(t, db, seals, core.Options{Node: "n"})
	for name, x := range map[string]struct {
		do    func(id bridge.ID)
		waits bool
	}{
		"a decision": {func(id bridge.ID) { approve(t, s, id) }, true},
		"a vote":     {func(id bridge.ID) { vote(t, s, ballot(id, "ana", bridge.StateApproved), bridge.BallotCounted) }, true},
		"a deferral": {func(id bridge.ID) { mark(t, s, id, bridge.Mark{Queued: time.Hour}) }, true},
		"a stop": {func(id bridge.ID) {
			must[bridge.Stop](t)(s.PutStop(t.Context(), bridge.Stop{Agent: "ci", Session: string(id)}))
		}, true},
		"its end": {func(bridge.ID) {
			all := must[[]bridge.Stop](t)(s.ListStops(t.Context(), ""))
			must[bool](t)(s.DropStop(t.Context(), "ci", all[0].Session, bridge.Actor{}))
		}, true},
		"a card":    {func(id bridge.ID) { posted(t, s, must[bridge.Record](t)(s.Load(t.Context(), id)), 0) }, false},
		"a request": {func(bridge.ID) { open(t, s, nil) }, false},
	} {
		id := open(t, s, func(i *bridge.Interaction) { i.Session = "s"; i.Quorum = 2 }).Interaction.ID
		if name == "a decision" || name == "its end" {
			id = open(t, s, nil).Interaction.ID
		}
		if name == "its end" {
			must[bridge.Stop](t)(s.PutStop(t.Context(), bridge.Stop{Agent: "ci", Session: "other"}))
		}
		cursor := must[string](t)(s.Cursor(t.Context()))
		x.do(id)
		db.away.Store(true)
		events, _, err := s.Events(t.Context(), cursor, bridge.EventFilter{})
		db.away.Store(false)
		if x.waits != (bridge.ErrorCode(err) == bridge.CodeUnavailable) || x.waits != (len(events) == 0) {
			t.Errorf("%s: %d events, %v", name, len(events), err)
		}
		if events, _, err := s.Events(t.Context(), cursor, bridge.EventFilter{}); err != nil || len(events) != 1 {
			t.Errorf("%s, confirmed: %v, %v", name, events, err)
		}
	}
}

// TestLostBeforeConfirmed checks that no caller learns of a decision that the master
// which confirms it does not have.
func TestLostBeforeConfirmed(t *testing.T) {
	t.Parallel()
	seals := broker.NewSeals([]byte("key"))
	db := &failing{Store: memory.New(seals)}
	s := stored.On(t, db, seals, core.Options{Node: "n"})
	id := open(t, s, nil).Interaction.ID
	before := must[[]broker.Doc](t)(db.Get(t.Context(), life.Key(id)))
	if _, won, err := s.Settle(t.Context(), yes(id, "U")); err != nil || !won {
		t.Fatal(won, err)
	}
	lose := func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.lost = before
	}
	lose()
	if rec := must[bridge.Record](t)(s.Load(t.Context(), id)); rec.State != bridge.StatePending {
		t.Errorf("it is read as %s", rec.State)
	}
	if _, won, err := s.Settle(t.Context(), yes(id, "U")); err != nil || !won {
		t.Fatal(won, err)
	}
	lose()
	no := yes(id, "other")
	no.Response.State = bridge.StateDenied
	if rec, won, err := s.Settle(t.Context(), no); err != nil || !won || rec.State != bridge.StateDenied {
		t.Errorf("a click after the decision was lost: %s, %v, %v", rec.State, won, err)
	}
}
