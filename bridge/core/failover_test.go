package core_test

import (
	"context"
	"sync"
	"testing"

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
