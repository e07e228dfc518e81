package broker_test

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// must fails a test on an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestDeploymentKeys checks that the daemons of a deployment share their keys,
// and know each other's.
func TestDeploymentKeys(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b1, b2 := t.Context(), newBroker(t, c, "n1"), newBroker(t, c, "n2")
		if a, b := must[[]byte](t)(b1.Keyring.TokenKey(ctx)), must[[]byte](t)(b2.Keyring.TokenKey(ctx)); !bytes.Equal(a, b) || len(a) < bridge.MinKey {
			t.Error("the daemons have different keys for tokens")
		}
		if former := must[[]byte](t)(b1.Keyring.FormerSigningKey(ctx)); former != nil {
			t.Error("there is a signing key before one was made")
		}
		if seed := must[[]byte](t)(b1.Keyring.SigningKey(ctx)); len(seed) != ed25519.SeedSize || !bytes.Equal(seed, must[[]byte](t)(b2.Keyring.FormerSigningKey(ctx))) {
			t.Error("the signing key is not kept")
		}
		if s := must[string](t)(b1.Keyring.Keys(ctx)); s != "" {
			t.Errorf("a fingerprint before one was recorded: %q", s)
		}
		if s := must[string](t)(b1.Keyring.ClaimKeys(ctx, "f1")); s != "f1" {
			t.Errorf("the first claim gives %q", s)
		}
		if s := must[string](t)(b2.Keyring.ClaimKeys(ctx, "f2")); s != "f1" {
			t.Errorf("the second claim gives %q", s)
		}
		if err := b2.Keyring.SetKeys(ctx, "f2"); err != nil || must[string](t)(b1.Keyring.Keys(ctx)) != "f2" {
			t.Errorf("the fingerprint was not replaced: %v", err)
		}
		must[[]string](t)(b1.Keyring.Announce(ctx, "f2"))
		all := must[[]string](t)(b2.Keyring.Announce(ctx, "f3"))
		if slices.Sort(all); !slices.Equal(all, []string{"f2", "f3"}) {
			t.Errorf("the daemons have %v", all)
		}
		if err := b2.Keyring.Retire(ctx); err != nil || !slices.Equal(must[[]string](t)(broker.Announced(ctx, c, "")), []string{"f2"}) {
			t.Errorf("a daemon that ended is still announced: %v", err)
		}
		if err := b1.Ready(ctx); err != nil {
			t.Error(err)
		}
	})
}

// TestLinks checks that linked accounts are found, listed and dropped.
func TestLinks(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		link := bridge.Link{Platform: "slack", User: "U1", Person: "ana"}
		if err := b.PutLink(ctx, link); err != nil {
			t.Fatal(err)
		}
		if got := must[bridge.Link](t)(b.Linked(ctx, "slack", "U1")); got != link {
			t.Errorf("the link is %+v", got)
		}
		if got := must[bridge.Link](t)(b.Linked(ctx, "slack", "U2")); got.Person != "" {
			t.Errorf("an account without a link has %+v", got)
		}
		if all := must[[]bridge.Link](t)(b.Links(ctx)); !slices.Equal(all, []bridge.Link{link}) {
			t.Errorf("the links are %+v", all)
		}
		if had := must[bool](t)(b.DropLink(ctx, "slack", "U1")); !had || must[bool](t)(b.DropLink(ctx, "slack", "U1")) {
			t.Error("a link is not dropped once")
		}
	})
}

// TestLimits checks that the requests of an agent are counted by the minute, and
// those that are pending until they end.
func TestLimits(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		now := time.Now()
		if n := must[int](t)(b.Count(ctx, "ci", now)); n != 1 || must[int](t)(b.Count(ctx, "ci", now)) != 2 || must[int](t)(b.Count(ctx, "ci", now.Add(time.Minute))) != 1 {
			t.Errorf("the first request counts as %d", n)
		}
		o := opening(t, b, "", nil)
		o.Limited = true
		if _, _, err := b.Open(ctx, o); err != nil || must[int](t)(b.PendingOf(ctx, "ci")) != 1 {
			t.Errorf("one is pending: %v", err)
		}
		if s := must[bridge.Stats](t)(b.Stats(ctx)); s.Pending != 1 || s.Jobs != 2 || len(s.Ages) != 1 {
			t.Errorf("the figures are %+v", s)
		}
		if _, _, err := b.Settle(ctx, yes(o.Interaction.ID, "U1")); err != nil || must[int](t)(b.PendingOf(ctx, "ci")) != 0 {
			t.Errorf("none is pending: %v", err)
		}
	})
}

// TestNotes checks that the first value of a note stays, and that a lease has
// one holder.
func TestNotes(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		if v := must[string](t)(b.PutNote(ctx, "k", "1", time.Minute)); v != "1" || must[string](t)(b.PutNote(ctx, "k", "2", time.Minute)) != "1" {
			t.Errorf("the note is %q", v)
		}
		if err := b.SetNote(ctx, "k", "3", time.Minute); err != nil || must[string](t)(b.Note(ctx, "k")) != "3" {
			t.Errorf("the note was not replaced: %v", err)
		}
		if err := b.DropNote(ctx, "k"); err != nil || must[string](t)(b.Note(ctx, "k")) != "" {
			t.Errorf("the note was not dropped: %v", err)
		}
		if !must[bool](t)(b.Hold(ctx, "l", "a", time.Minute)) || must[bool](t)(b.Hold(ctx, "l", "b", time.Minute)) {
			t.Error("a lease does not have one holder")
		}
		if err := b.Release(ctx, "l", "a"); err != nil || !must[bool](t)(b.Hold(ctx, "l", "b", time.Minute)) {
			t.Errorf("a lease that was given back: %v", err)
		}
	})
}

// TestGrantList checks that grants are listed by agent, and that a dropped one
// is not.
func TestGrantList(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		for _, agent := range []string{"ci", "other"} {
			g := bridge.Grant{Agent: agent, Key: "exact:1", Origin: bridge.ID(agent), Expires: time.Now().Add(time.Hour)}
			if !must[bool](t)(b.PutGrant(ctx, g)) || must[bool](t)(b.PutGrant(ctx, g)) {
				t.Error("a request does not give a grant once")
			}
		}
		own := must[[]bridge.Grant](t)(b.Grants(ctx, "ci"))
		if len(own) != 1 || len(must[[]bridge.Grant](t)(b.Grants(ctx, ""))) != 2 {
			t.Fatalf("the grants are %+v", own)
		}
		if !must[bool](t)(b.DropGrant(ctx, own[0])) || len(must[[]bridge.Grant](t)(b.Grants(ctx, "ci"))) != 0 {
			t.Error("a dropped grant is listed")
		}
	})
}

// TestCursors checks that reading from a time begins with what happened then,
// and that the current cursor comes after everything.
func TestCursors(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx, b := t.Context(), newBroker(t, c, "n")
		began := time.Now().Add(-time.Second)
		open(t, b, nil)
		events, _, err := b.Events(ctx, b.CursorAt(began), bridge.EventFilter{})
		if err != nil || len(events) != 1 {
			t.Errorf("since the beginning: %d events, %v", len(events), err)
		}
		after(t, c, time.Now())
		now := must[string](t)(b.Cursor(ctx))
		if events, _, err = b.Events(ctx, now, bridge.EventFilter{}); err != nil || len(events) != 0 {
			t.Errorf("since now: %d events, %v", len(events), err)
		}
	})
}
