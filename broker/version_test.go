package broker_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redistest"
)

var record = flag.Bool("record", false, "rewrite testdata/records-1.json; only before a release has written such records")

// stored is a record, both as stored in Redis and as read by nod.
type stored struct {
	What   string            `json:"what"`
	ID     bridge.ID         `json:"id"`
	Fields map[string]string `json:"fields"`
	Read   json.RawMessage   `json:"read"`
}

// TestOldRecords checks that stored records are read correctly. The file with
// them must not change.
func TestOldRecords(t *testing.T) {
	t.Parallel()
	if *record {
		recordAll(t, filepath.Join("testdata", "records-1.json"))
	}
	readAll(t, filepath.Join("testdata", "records-1.json"))
}

func readAll(t *testing.T, path string) {
	t.Helper()
	c := redistest.Shared(t).Client(t)
	b := newBroker(t, c, "n")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []stored
	if err := json.Unmarshal(raw, &all); err != nil || len(all) < 4 {
		t.Fatal(err, len(all))
	}
	for _, s := range all {
		fields := map[string]any{"zz": "of a newer nod"} // an unknown field stays
		for k, v := range s.Fields {
			fields[k] = v
		}
		key := fmt.Sprintf("nod:{%d}:i:%s", s.ID.Partition(), s.ID)
		if err := errors.Join(c.Del(t.Context(), key).Err(), c.HSet(t.Context(), key, fields).Err()); err != nil {
			t.Fatal(err)
		}
		r, err := b.Load(t.Context(), s.ID)
		if err != nil {
			t.Errorf("%s: %v", s.What, err)
			continue
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, s.Read); err != nil {
			t.Fatal(err)
		}
		if want.String() != string(got) {
			t.Errorf("%s is read as\n%s\nand not as\n%s", s.What, got, want.String())
		}
		if r.State.Final() {
			continue
		}
		if _, won, err := b.Settle(t.Context(), yes(s.ID, "U1")); err != nil && bridge.ErrorCode(err) != bridge.CodeConflict || err == nil && won && c.HGet(t.Context(), key, "zz").Val() == "" {
			t.Errorf("%s cannot be settled: %v", s.What, err)
		}
	}
}

// recordAll writes records in all states.
func recordAll(t *testing.T, path string) {
	t.Helper()
	c := redistest.Shared(t).Client(t)
	b := newBroker(t, c, "r")
	var all []stored
	keep := func(what string, id bridge.ID) {
		t.Helper()
		r, err := b.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stored{what, id, c.HGetAll(t.Context(), fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id)).Val(), raw})
	}
	must := func(_ bridge.Record, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	usual := func(life time.Duration) bridge.Record {
		t.Helper()
		o := silent(opening(t, b, "", func(i *bridge.Interaction) { i.Deadline = i.Created.Add(life) }))
		r, _, err := b.Open(t.Context(), o)
		must(r, err)
		return r
	}
	pending := usual(bridge.MaxTimeout)
	keep("pending", pending.Interaction.ID)
	must(b.Mark(t.Context(), pending.Interaction.ID, bridge.Mark{Posted: &bridge.Posted{Ref: bridge.MessageRef{Channel: "C", Message: "1.1", Thread: "1.0"}, Revision: 1}}))
	must(b.Mark(t.Context(), pending.Interaction.ID, bridge.Mark{Joined: true}))
	keep("posted and joined", pending.Interaction.ID)
	approved := usual(time.Minute)
	if _, _, err := b.Settle(t.Context(), yes(approved.Interaction.ID, "U1")); err != nil {
		t.Fatal(err)
	}
	keep("approved", approved.Interaction.ID)
	if err := b.Delivered(t.Context(), approved); err != nil {
		t.Fatal(err)
	}
	must(b.Mark(t.Context(), approved.Interaction.ID, bridge.Mark{Completed: &bridge.Completion{Result: "done"}}))
	keep("delivered and completed", approved.Interaction.ID)
	failed := usual(time.Minute)
	must(b.Mark(t.Context(), failed.Interaction.ID, bridge.Mark{Failed: &bridge.Failed{Reason: "not in channel"}}))
	keep("failed at a destination", failed.Interaction.ID)
	expired := usual(time.Millisecond)
	expire(t, b, expired.Interaction.ID)
	keep("expired", expired.Interaction.ID)
	raw, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNewerRecords checks that a record of a newer nod is refused and left
// unchanged, and that other records in its partition still work.
func TestNewerRecords(t *testing.T) {
	t.Parallel()
	c := redistest.Shared(t).Client(t)
	b := newBroker(t, c, "n")
	soon := func(i *bridge.Interaction) { i.Deadline = i.Created.Add(300 * time.Millisecond) }
	newer, known := open(t, b, soon), open(t, b, soon)
	for known.Interaction.ID.Partition() != newer.Interaction.ID.Partition() {
		known = open(t, b, soon)
	}
	id := newer.Interaction.ID
	key := fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id)
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
	if c.ZScore(t.Context(), fmt.Sprintf("nod:{%d}:dl", id.Partition()), string(id)).Val() == 0 {
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
	for deadline := time.Now().Add(10 * time.Second); ; bridge.Pause(t.Context(), 20*time.Millisecond) {
		if _, _, err := b.Expire(t.Context(), 100); err != nil {
			t.Logf("expire: %v", err)
		}
		r, err := b.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if r.State == bridge.StateExpired {
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not expire", id)
		}
	}
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
			if got := c.HGet(t.Context(), fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id), "res").Val(); got != string(want) {
				t.Errorf("the response is\n%s\nand not\n%s", got, want)
			}
			if r.Response == nil || r.Response.Digest != o.Interaction.Digest || r.Response.Reason != reason {
				t.Errorf("the response is read as %+v", r.Response)
			}
		}
	})
}
