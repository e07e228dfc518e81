package fake

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
)

// Retention implements core.Interactions.
func (f *Store) Retention() time.Duration { return time.Hour }

// database stores documents. Its calls fail if those of its store do.
type database struct {
	*memory.Store
	f *Store
}

func (d database) refuses() error {
	d.f.Mu.Lock()
	defer d.f.Mu.Unlock()
	return d.f.Refuses
}

func (d database) Get(ctx context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	if err := d.refuses(); err != nil {
		return nil, err
	}
	return d.Store.Get(ctx, keys...)
}

func (d database) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if err := d.refuses(); err != nil {
		return broker.Done{}, err
	}
	return d.Store.Do(ctx, c)
}

func (d database) Count(ctx context.Context, index string, from time.Time) (int, error) {
	if err := d.refuses(); err != nil {
		return 0, err
	}
	return d.Store.Count(ctx, index, from)
}

func (d database) Tally(ctx context.Context, name string, keep time.Duration) (int, error) {
	if err := d.refuses(); err != nil {
		return 0, err
	}
	return d.Store.Tally(ctx, name, keep)
}

func (f *Store) documents() documents.DB {
	return documents.DB{Store: f.DB, Log: slog.New(slog.DiscardHandler)}
}

// Notes returns the notes of the store.
func (f *Store) Notes() documents.Notes { return documents.NewNotes(f.documents()) }

// Lease gives a lease to a holder. An empty holder frees it.
func (f *Store) Lease(t testing.TB, name, holder string) {
	t.Helper()
	leases := documents.NewLeases(f.documents())
	err := leases.Release(t.Context(), name, f.Holder(t, name))
	if held := false; err == nil && holder != "" {
		if held, err = leases.Hold(t.Context(), name, holder, time.Hour); !held {
			t.Errorf("%s does not get the lease %s", holder, name)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// Holder returns the holder of a lease.
func (f *Store) Holder(t testing.TB, name string) (holder string) {
	t.Helper()
	docs, err := f.DB.Get(t.Context(), broker.Key{Kind: "lease", ID: name})
	if err == nil && docs[0].Exists() {
		err = json.Unmarshal(docs[0].Value, &holder)
	}
	if err != nil {
		t.Error(err)
	}
	return holder
}

// Audited returns the types of the entries of the audit log, in order.
func (f *Store) Audited(t testing.TB) []bridge.AuditType {
	t.Helper()
	entries, err := f.DB.Entries(t.Context(), broker.Journal, "", 1000)
	if err != nil {
		t.Error(err)
	}
	var out []bridge.AuditType
	for _, e := range entries {
		if k := e.Get("k"); k != "" {
			out = append(out, bridge.AuditType(k))
		}
	}
	return out
}
