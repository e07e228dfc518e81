package documents_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// lagging is a database whose replicas confirm nothing.
type lagging struct{ broker.Store }

func (lagging) Confirm(context.Context, ...broker.Version) error { return bridge.ErrUnconfirmed }

// TestDropConfirmed checks that a repeated removal succeeds only after the replicas have
// confirmed it.
func TestDropConfirmed(t *testing.T) {
	t.Parallel()
	db := stored.InMemory(t, nil, nil).Documents()
	db.Store = lagging{db.Store}
	notes := documents.NewNotes(db)
	stored.Must[string](t)(notes.PutNote(t.Context(), "k", "v", time.Minute))
	stored.NoError(t, notes.DropNote(t.Context(), "k"))
	if err := notes.DropNote(t.Context(), "k"); !errors.Is(err, bridge.ErrUnconfirmed) {
		t.Error(err)
	}
}

// TestNotes checks that the first value of a note stays until it is replaced or
// it expires, and that a lease has one holder.
func TestNotes(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		ctx, db := t.Context(), daemon("n").Documents()
		notes, leases := documents.NewNotes(db), documents.NewLeases(db)
		for _, v := range []string{"1", "2"} {
			if got := stored.Must[string](t)(notes.PutNote(ctx, "k", v, time.Minute)); got != "1" {
				t.Errorf("the note is %q", got)
			}
		}
		if err := notes.SetNote(ctx, "k", "3", time.Minute); err != nil || stored.Must[string](t)(notes.Note(ctx, "k")) != "3" {
			t.Errorf("the note was not replaced: %v", err)
		}
		if err := notes.DropNote(ctx, "k"); err != nil || stored.Must[string](t)(notes.Note(ctx, "k")) != "" {
			t.Errorf("the note was not dropped: %v", err)
		}
		stored.Must[string](t)(notes.PutNote(ctx, "code", "1", time.Minute))
		var taken atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if v, err := notes.TakeNote(ctx, "code"); v != "" || err != nil {
					taken.Add(1)
				}
			})
		}
		if all.Wait(); taken.Load() != 1 {
			t.Errorf("a note was taken %d times", taken.Load())
		}
		hold := func(holder string, want bool) {
			t.Helper()
			if got := stored.Must[bool](t)(leases.Hold(ctx, "l", holder, time.Minute)); got != want {
				t.Errorf("%s has it: %v", holder, got)
			}
		}
		hold("a", true)
		hold("b", false)
		hold("a", true)
		stored.NoError(t, leases.Release(ctx, "l", "b"))
		hold("b", false)
		stored.NoError(t, leases.Release(ctx, "l", "a"))
		hold("b", true)
		stored.Must[string](t)(notes.PutNote(ctx, "short", "1", time.Minute))
		stored.Pass(t, time.Minute)
		hold("a", true)
		if got := stored.Must[string](t)(notes.Note(ctx, "short")); got != "" {
			t.Errorf("after its time, the note is %q", got)
		}
	})
}

// TestUnclaim checks that the caller of a claim can undo it after its context has ended.
func TestUnclaim(t *testing.T) {
	t.Parallel()
	notes := documents.NewNotes(stored.InMemory(t, nil, nil).Documents())
	ctx, cancel := context.WithCancel(t.Context())
	claim := func(want bool) {
		t.Helper()
		if first := stored.Must[bool](t)(notes.Claim(t.Context(), "k", time.Minute)); first != want {
			t.Errorf("the caller is the first: %v", first)
		}
	}
	claim(true)
	claim(false)
	cancel()
	stored.NoError(t, notes.Unclaim(ctx, "k"))
	claim(true)
}
