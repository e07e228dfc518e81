package redis_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/brokertest"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// documentedRights returns the rights of the ACL rule in the documentation.
func documentedRights(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/operate/redis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "ACL SETUSER nod on >PASSWORD ")
	if !found {
		t.Fatal("the documentation has no ACL rule")
	}
	rules, _, _ := strings.Cut(rest, "\n")
	return rules
}

// user returns a client of a user with some rights.
func user(t *testing.T, server *redistest.Server, name, rules string) *rdb.Client {
	t.Helper()
	args := []any{"ACL", "SETUSER", name, "on", ">pw"}
	for rule := range strings.FieldsSeq(rules) {
		args = append(args, rule)
	}
	if err := server.Client(t).Do(t.Context(), args...).Err(); err != nil {
		t.Fatal(err)
	}
	c := rdb.NewClient(&rdb.Options{Addr: server.Addr, Username: name, Password: "pw", ContextTimeoutEnabled: true})
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRights checks that a daemon does not start as a user of Redis without one of the
// rights that nod needs, and that the error says which and what to do.
func TestRights(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for n, x := range []struct{ rules, says string }{
		{"~nod:* +@all", ""},
		{"~nod:{* +@all", "key"},
		{"%R~nod:* +@all", "key"},
		{"~nod:* +@all -eval", "eval"},
		{"~nod:* +@all -evalsha", "evalsha"},
		{"~nod:* +@all -xadd", "xadd"},
		{"~nod:* +@all -xread", "xread"},
		{"~nod:* +@all -zadd", "zadd"},
		{"~nod:* +@all -lindex", "lindex"},
		{"~nod:* +@all -multi", "multi"},
		{"~nod:* +@all -info -config", ""},
		{documentedRights(t), ""},
	} {
		s, err := redis.New(t.Context(), redis.Options{Client: user(t, server, fmt.Sprint("u", n), x.rules), Seals: broker.NewSeals()})
		if err == nil {
			s.Close()
		}
		public := bridge.PublicError(err)
		switch {
		case x.says == "" && err != nil:
			t.Errorf("%s: %v", x.rules, err)
		case x.says != "" && (!strings.HasPrefix(public.Message, "redis refuses: ") || !strings.Contains(strings.ToLower(public.Message), x.says) || !strings.Contains(public.Hint, "ACL")):
			t.Errorf("%s: %v", x.rules, public)
		}
	}
}

// TestDocumentedRights checks that the rights in the documentation are enough for all
// that a store does.
func TestDocumentedRights(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := user(t, server, "nod", strings.ReplaceAll(documentedRights(t), "nod:", "*"))
	brokertest.Contract(t, func(t *testing.T) broker.Store { return newStore(t, c, redis.Options{Prefix: t.Name()}) })
}

// TestStartOnFullRedis checks that a daemon starts on a Redis that is full, even as a
// user without INFO, that what is urgent can be stored there, and that the error of
// anything else says why.
func TestStartOnFullRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	newStore(t, server.Client(t), redis.Options{})
	c := user(t, server, "nod", "~nod:* +@all -info")
	if err := server.Client(t).ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	s := newStore(t, c, redis.Options{})
	change := broker.Change{Set: []broker.Member{{Index: "x", Name: "a"}}}
	_, err := s.Do(t.Context(), change)
	if public := bridge.PublicError(err); !strings.HasPrefix(public.Message, "redis refuses: OOM ") || !strings.Contains(public.Hint, "maxmemory") {
		t.Errorf("a change: %+v", public)
	}
	change.Urgent = true
	if _, err := s.Do(t.Context(), change); err != nil {
		t.Errorf("an urgent change: %v", err)
	}
}

// TestKeyring checks that the daemons of a deployment share their keys, and know each
// other's.
func TestKeyring(t *testing.T) {
	t.Parallel()
	c, ctx := redistest.Shared(t).Client(t), t.Context()
	a, b := redis.NewKeyring(c, ""), redis.NewKeyring(c, "nod")
	bytesOf := func(v []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	textOf := func(v string, err error) string { return string(bytesOf([]byte(v), err)) }
	if x, y := bytesOf(a.TokenKey(ctx)), bytesOf(b.TokenKey(ctx)); !bytes.Equal(x, y) || len(x) < bridge.MinKey {
		t.Error("the daemons have different keys for tokens")
	}
	if former := bytesOf(a.FormerSigningKey(ctx)); former != nil {
		t.Error("there is a signing key before one was made")
	}
	if seed := bytesOf(a.SigningKey(ctx)); len(seed) != ed25519.SeedSize || !bytes.Equal(seed, bytesOf(b.FormerSigningKey(ctx))) {
		t.Error("the signing key is not kept")
	}
	if got := []string{textOf(a.Keys(ctx)), textOf(a.ClaimKeys(ctx, "f1")), textOf(b.ClaimKeys(ctx, "f2"))}; !slices.Equal(got, []string{"", "f1", "f1"}) {
		t.Errorf("the fingerprints are %q", got)
	}
	if err := b.SetKeys(ctx, "f2"); err != nil || textOf(a.Keys(ctx)) != "f2" {
		t.Errorf("the fingerprint was not replaced: %v", err)
	}
	for k, x := range map[*redis.Keyring]string{a: "f2", b: "f3"} {
		if _, err := k.Announce(ctx, x); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := redis.Announced(ctx, c, ""); err != nil || !slices.Equal(all, []string{"f2", "f3"}) {
		t.Errorf("the daemons have %v, %v", all, err)
	}
	if n, err := a.Running(ctx); err != nil || n != 2 {
		t.Errorf("%d are running, %v", n, err)
	}
	if err := b.Retire(ctx); err != nil {
		t.Fatal(err)
	}
	if all, err := redis.Announced(ctx, c, ""); err != nil || !slices.Equal(all, []string{"f2"}) {
		t.Errorf("a daemon that ended is still announced: %v, %v", all, err)
	}
}

// TestCallersShareConnections checks that a thousand callers need few connections, and
// that one whose context ends returns although Redis does not respond.
func TestCallersShareConnections(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.StartProxy(t, server.Addr)
	c := server.Via(t, proxy.Addr)
	s := newStore(t, c, redis.Options{})
	var all sync.WaitGroup
	for n := range 1000 {
		all.Go(func() {
			d := broker.Doc{Key: broker.Key{Kind: "thing", ID: fmt.Sprint(n)}, Value: []byte("{}")}
			_, err := s.Do(t.Context(), broker.Change{Put: []broker.Doc{d}})
			if found, err2 := s.Get(t.Context(), d.Key); err != nil || err2 != nil || !found[0].Exists() {
				t.Error(err, err2)
			}
		})
	}
	all.Wait()
	if n := c.PoolStats().TotalConns; n > 10 {
		t.Errorf("%d connections", n)
	}
	proxy.Stall(true)
	for range 20 { // more than the queues can send at a time
		all.Go(func() {
			short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer stop()
			began := time.Now()
			if _, err := s.Get(short, broker.Key{Kind: "thing", ID: "1"}); err == nil || time.Since(began) > await.Limit {
				t.Errorf("returned after %s: %v", time.Since(began), err)
			}
		})
	}
	all.Wait()
	proxy.Stall(false)
}
