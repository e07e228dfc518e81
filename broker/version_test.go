package broker_test

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestNewerRecords checks that a record of a newer nod is refused and left
// unchanged, and that other records still work.
func TestNewerRecords(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	b := newBroker(t, c, "n")
	soon := func(i *bridge.Interaction) { i.Deadline = i.Created.Add(300 * time.Millisecond) }
	newer, known := open(t, b, soon), open(t, b, soon)
	id := newer.Interaction.ID
	key := "nod:{nod}:i:" + string(id)
	packed := c.HGet(t.Context(), key, "c").Val()
	if err := c.HSet(t.Context(), key, "c", "3"+packed[1:]).Err(); err != nil {
		t.Fatal(err)
	}
	before := c.HGetAll(t.Context(), key).Val()
	if _, err := b.Load(t.Context(), id); err == nil || bridge.PublicError(err).Hint == "" {
		t.Errorf("it is read: %v", err)
	}
	if _, won, err := b.Settle(t.Context(), yes(id, "U1")); err == nil || won {
		t.Errorf("it is settled: %v, %v", won, err)
	}
	expire(t, b, known.Interaction.ID) // the other does not block it
	if after := c.HGetAll(t.Context(), key).Val(); !maps.Equal(before, after) {
		t.Errorf("it was changed from %v to %v", before, after)
	}
	if c.ZScore(t.Context(), "nod:{nod}:dl", string(id)).Val() == 0 {
		t.Error("its deadline was removed: the newer nod would never resolve it")
	}
}

// silent gives an opening the usual response at its deadline.
func silent(o bridge.Opening) bridge.Opening {
	o.Timeout = bridge.Response{
		State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: o.Interaction.Deadline, Digest: o.Interaction.Digest,
	}
	return o
}

// expire waits until an interaction has expired.
func expire(t *testing.T, b *broker.Broker, id bridge.ID) bridge.Record {
	t.Helper()
	var r bridge.Record
	await.Until(t, string(id)+" expires", func() bool {
		if _, _, err := b.Expire(t.Context(), 100); err != nil {
			t.Logf("expire: %v", err)
		}
		var err error
		if r, err = b.Load(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		return r.State == bridge.StateExpired
	})
	return r
}

// TestTimeoutResponse checks that a request ends at its deadline with the response
// that its opening stored, byte for byte.
func TestTimeoutResponse(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, c redis.UniversalClient) {
		b := newBroker(t, c, "n")
		for _, reason := range []string{"", "no one answered in time"} {
			o := silent(opening(t, b, "", func(i *bridge.Interaction) {
				i.Deadline, i.Approval.Input = i.Created.Add(50*time.Millisecond), json.RawMessage(`{"digest":"x","deadline":"y"}`)
			}))
			o.Timeout.Reason = reason
			if _, _, err := b.Open(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			id := o.Interaction.ID
			r := expire(t, b, id)
			want, err := bridge.EncodeJSON(o.Timeout)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.HGet(t.Context(), "nod:{nod}:i:"+string(id), "res").Val(); got != string(want) {
				t.Errorf("the response is\n%s\nand not\n%s", got, want)
			}
			if r.Response == nil || r.Response.Digest != o.Interaction.Digest || r.Response.Reason != reason {
				t.Errorf("the response is read as %+v", r.Response)
			}
		}
	})
}
