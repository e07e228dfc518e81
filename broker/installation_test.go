package broker_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestInstallation checks that the first daemon stores the format, and that no
// daemon starts on data of another format.
func TestInstallation(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		ctx := t.Context()
		newBroker(t, c, "n")
		const key = "nod:conf"
		stored := c.Get(ctx, key).Val()
		if stored != `{"format":3}` {
			t.Fatalf("the document is %s", stored)
		}
		for raw, want := range map[string]struct{ message, hint string }{
			"16":                           {"format 0", "empty Redis database"}, // as unreleased versions stored it
			`{"partitions":16}`:            {"format 0", "empty Redis database"},
			"":                             {"format 0", "empty Redis database"},
			`{"format":1,"partitions":16}`: {"format 1", "empty Redis database"},
			`{"format":2,"partitions":16}`: {"format 2", "empty Redis database"},
			`{"format":4}`:                 {"format 4", "run the version of nod"},
		} {
			if err := c.Set(ctx, key, raw, 0).Err(); err != nil {
				t.Fatal(err)
			}
			b, err := broker.New(ctx, broker.Options{Client: c, Node: "l"})
			if err == nil {
				b.Close()
			}
			public := bridge.PublicError(err)
			if bridge.ErrorCode(err) != bridge.CodeUnavailable || !strings.Contains(public.Message, want.message) || !strings.Contains(public.Hint, want.hint) {
				t.Errorf("with %q: %v", raw, err)
			}
			if got := c.Get(ctx, key).Val(); got != raw {
				t.Errorf("the document %q became %q", raw, got)
			}
		}
	})
}

// TestCheckFormat checks that new connections are refused once the data has
// another format, and only then.
func TestCheckFormat(t *testing.T) {
	t.Parallel()
	plain := redistest.Start(t).Client(t)
	o := *plain.Options()
	o.OnConnect = broker.CheckFormat("")
	reach := func() error {
		c := redis.NewClient(&o)
		defer c.Close()
		return c.Ping(t.Context()).Err()
	}
	if err := reach(); err != nil {
		t.Errorf("without data: %v", err)
	}
	newBroker(t, plain, "n")
	if err := reach(); err != nil {
		t.Errorf("with data: %v", err)
	}
	if err := plain.Set(t.Context(), "nod:conf", `{"format":4}`, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := reach(); err == nil || !strings.Contains(err.Error(), "format 4") {
		t.Errorf("with data of another format: %v", err)
	}
}
