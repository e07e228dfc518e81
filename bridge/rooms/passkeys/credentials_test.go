package passkeys_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// TestPasskeys checks that the counter of a key only grows, that a revoked key stays
// revoked, and that an ID belongs to one person.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	stored.Each(t, func(t *testing.T, daemon stored.Opener) {
		db := daemon("n").Documents()
		b := passkeys.NewCredentials(db)
		ctx, now := t.Context(), time.Now().UTC().Truncate(time.Millisecond)
		key := passkey.Credential{ID: []byte("1"), PublicKey: []byte("k"), Person: "ana", Created: now, Counter: 3}
		wants := func(what string, err error, code bridge.Code) {
			t.Helper()
			if bridge.ErrorCode(err) != code {
				t.Errorf("%s: %v, want %q", what, err, code)
			}
		}
		at := func(counter uint32) passkey.Credential { c := key; c.Counter = counter; return c }
		wants("add", b.AddPasskey(ctx, key), "")
		taken := key
		taken.Person = "bo"
		wants("the ID of another person", b.AddPasskey(ctx, taken), bridge.CodeConflict)
		wants("grows", b.UsePasskey(ctx, at(4)), "")
		wants("same", b.UsePasskey(ctx, at(4)), bridge.CodeForbidden)
		wants("back", b.UsePasskey(ctx, at(2)), bridge.CodeForbidden)
		wants("to zero", b.UsePasskey(ctx, at(0)), bridge.CodeForbidden)
		other := at(9)
		other.PublicKey = []byte("other")
		wants("another key", b.UsePasskey(ctx, other), bridge.CodeForbidden)
		var won atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if b.UsePasskey(ctx, at(5)) == nil {
					won.Add(1)
				}
			})
		}
		if all.Wait(); won.Load() != 1 {
			t.Errorf("one counter was used %d times", won.Load())
		}
		wants("revoke the last key", b.RevokePasskey(ctx, key, false), bridge.CodeForbidden)
		wants("revoke", b.RevokePasskey(ctx, key, true), "")
		wants("revoke again", b.RevokePasskey(ctx, key, false), "")
		wants("use a revoked key", b.UsePasskey(ctx, at(6)), bridge.CodeForbidden)
		wants("add a revoked key", b.AddPasskey(ctx, at(7)), bridge.CodeConflict)
		for n := range passkey.MaxKeys + 1 {
			more := passkey.Credential{ID: []byte("more" + strconv.Itoa(n)), Person: "ana", Created: now.Add(time.Second)}
			want := bridge.Code("")
			if n == passkey.MaxKeys {
				want = bridge.CodeConflict
			}
			wants("another key "+strconv.Itoa(n), b.AddPasskey(ctx, more), want)
		}
		got := stored.Must[[]passkey.Credential](t)(b.Passkeys(ctx, "ana"))
		if len(got) != passkey.MaxKeys+1 || string(got[0].ID) != "1" || got[0].Valid() {
			t.Errorf("the keys are %+v", got)
		}
		if people := stored.Must[[]string](t)(b.PasskeyPeople(ctx)); !slices.Equal(people, []string{"ana"}) {
			t.Errorf("the people are %q", people)
		}
		if n := stored.Must[map[string]int](t)(passkeys.Enrolled(ctx, db)); len(n) != 1 || n["ana"] != passkey.MaxKeys {
			t.Errorf("enrolled are %v", n)
		}
	})
}

// lagging is a database whose replicas confirm nothing.
type lagging struct{ broker.Store }

func (l lagging) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	done, err := l.Store.Do(ctx, c)
	if err == nil && c.Replicated {
		err = bridge.Wrap(bridge.CodeUnavailable, bridge.ErrUnconfirmed, "0 of 1 replicas")
	}
	return done, err
}

// TestRevocationConfirmed checks that a person who repeats a revocation is told that the key
// is revoked only after the replicas have confirmed it.
func TestRevocationConfirmed(t *testing.T) {
	t.Parallel()
	db, ctx := stored.InMemory(t, nil, nil).Documents(), t.Context()
	key := passkey.Credential{ID: []byte("1"), PublicKey: []byte("k"), Person: "ana", Created: time.Now()}
	stored.NoError(t, passkeys.NewCredentials(db).AddPasskey(ctx, key))
	db.Store = lagging{db.Store}
	for range 2 {
		if err := passkeys.NewCredentials(db).RevokePasskey(ctx, key, true); bridge.ErrorCode(err) != bridge.CodeUnavailable {
			t.Error(err)
		}
	}
}

// meanwhile is a database in which something happens right before the next change.
type meanwhile struct {
	broker.Store
	first func()
}

func (m *meanwhile) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if f := m.first; f != nil {
		m.first = nil
		f()
	}
	return m.Store.Do(ctx, c)
}

// TestLastPasskey checks that a person who revokes two keys at the same time keeps one.
func TestLastPasskey(t *testing.T) {
	t.Parallel()
	db, ctx := stored.InMemory(t, nil, nil).Documents(), t.Context()
	b := passkeys.NewCredentials(db)
	first := passkey.Credential{ID: []byte("1"), PublicKey: []byte("k"), Person: "ana", Created: time.Now()}
	second := first
	second.ID = []byte("2")
	for _, c := range []passkey.Credential{first, second} {
		stored.NoError(t, b.AddPasskey(ctx, c))
	}
	db.Store = &meanwhile{db.Store, func() { stored.NoError(t, b.RevokePasskey(ctx, second, false)) }}
	if err := passkeys.NewCredentials(db).RevokePasskey(ctx, first, false); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Error(err)
	}
	if got := stored.Must[map[string]int](t)(passkeys.Enrolled(ctx, db)); got["ana"] != 1 {
		t.Errorf("ana has %d keys", got["ana"])
	}
}
