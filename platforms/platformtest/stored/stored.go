// Package stored opens stores for tests: in memory, or in Redis.
package stored

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/history"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// Store is a store for a test.
type Store struct {
	*core.Store
	*history.Reader
	DB   broker.Store
	Keys *broker.Seals // seals for documents
}

// InMemory returns a store in memory, which rings a bell after each change. The
// bell may be nil. Now is its clock. If now is nil, the clock is time.Now.
func InMemory(t testing.TB, bell *await.Bell, now func() time.Time) *Store {
	t.Helper()
	if bell == nil {
		bell = &await.Bell{}
	}
	seals := broker.NewSeals()
	return On(t, ringing{memory.NewAt(seals, now), bell}, seals, core.Options{})
}

// InRedis returns a store in Redis.
func InRedis(t testing.TB, c redis.UniversalClient) *Store {
	t.Helper()
	seals := broker.NewSeals()
	db, err := store.New(context.Background(), store.Options{Client: c, Seals: seals})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return On(t, db, seals, core.Options{})
}

// On returns a store on a database.
func On(t testing.TB, db broker.Store, seals *broker.Seals, o core.Options) *Store {
	t.Helper()
	s, err := core.New(context.Background(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Store{s, history.New(db, s, o.Log), db, seals}
}

// Documents returns the documents of the rooms.
func (s *Store) Documents() documents.DB {
	return documents.DB{Store: s.DB, Log: slog.New(slog.DiscardHandler)}
}

// Notes returns the notes of the store.
func (s *Store) Notes() documents.Notes { return documents.NewNotes(s.Documents()) }

// Due makes an existing job due.
func Due(t testing.TB, db broker.Store, job string) {
	t.Helper()
	c := broker.Change{Request: []broker.Job{{Name: job, Due: db.Now().Add(-time.Hour), Exact: true}}}
	if _, err := db.Do(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// ringing rings after each change.
type ringing struct {
	*memory.Store
	bell *await.Bell
}

// Do implements broker.Store.
func (r ringing) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	defer r.bell.Ring()
	return r.Store.Do(ctx, c)
}

// DoAll implements broker.Store.
func (r ringing) DoAll(ctx context.Context, cs []broker.Change) []broker.Result {
	defer r.bell.Ring()
	return r.Store.DoAll(ctx, cs)
}

// Release implements broker.Store.
func (r ringing) Release(ctx context.Context, j broker.Job, how broker.Release) (broker.Released, error) {
	defer r.bell.Ring()
	return r.Store.Release(ctx, j, how)
}
