package redis_test

import (
	"testing"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/brokertest"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// stored is the name of a document in Redis.
func stored(k broker.Key) string { return "nod:{nod}:d:" + k.String() }

// TestMalformed checks what is promised about texts that are not documents. A key of
// another type counts as no document.
func TestMalformed(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	s := newStore(t, c, redis.Options{})
	brokertest.Malformed(t, s, func(k broker.Key, raw string) {
		if err := c.Set(t.Context(), stored(k), raw, 0).Err(); err != nil {
			t.Fatal(err)
		}
	})
	k := broker.Key{Kind: "thing", ID: "hash"}
	if err := c.HSet(t.Context(), stored(k), "a", "x").Err(); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Get(t.Context(), k); err != nil || d[0].Exists() {
		t.Errorf("a key of another type is %+v, %v", d, err)
	}
	if _, err := s.Do(t.Context(), broker.Change{Put: []broker.Doc{{Key: k, Format: 1, Value: []byte("v")}}}); err != nil {
		t.Error(err)
	}
	if d, err := s.Get(t.Context(), k); err != nil || string(d[0].Value) != "v" {
		t.Errorf("it was replaced by %+v, %v", d, err)
	}
}
