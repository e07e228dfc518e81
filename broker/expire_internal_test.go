package broker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// twoWays holds the same interactions twice, in two databases of a server. One
// broker expires them with both scripts, the other only with the full one. Their
// scripts have the same, fixed clock.
type twoWays struct {
	both, full    *Broker
	first, second *redis.Client
	wake          *redis.PubSub
	ids           []bridge.ID // opened
}

const (
	notDue  = 4e12 // a deadline in the index, in ms
	fixedBy = time.Hour
)

func newTwoWays(t *testing.T, addr string) *twoWays {
	t.Helper()
	w := &twoWays{}
	connect := func(db int) (*redis.Client, *Broker) {
		c := redis.NewClient(&redis.Options{Addr: addr, DB: db, ContextTimeoutEnabled: true})
		b, err := New(t.Context(), Options{Client: c, Node: "own", Partitions: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close(); c.Close() })
		return c, b
	}
	w.first, w.both = connect(0)
	w.second, w.full = connect(1)
	clock := time.Now().Add(fixedBy)
	fixed := func(parts ...string) *redis.Script {
		var s strings.Builder
		for _, part := range parts {
			src, err := luaFiles.ReadFile("lua/" + part + ".lua")
			if err != nil {
				t.Fatal(err)
			}
			s.Write(src)
		}
		src := strings.Replace(s.String(), "call('TIME')", fmt.Sprintf("{'%d', '250000'}", clock.Unix()), 1)
		return redis.NewScript(src)
	}
	full := fixed("base", "lib", "expire")
	w.both.core.scripts.expire, w.both.core.scripts.expirePlain = full, fixed("base", "expire_plain")
	w.full.core.scripts.expire = full
	w.full.core.scripts.expirePlain = redis.NewScript(
		"local out = {} for n = 2, #ARGV do out[n - 1] = 'slow' end return out")
	for node, alive := range map[string]time.Duration{"alive": time.Minute, "dead": -time.Minute} {
		z := redis.Z{Member: w.both.core.keys.wake(node), Score: float64(clock.Add(alive).UnixMilli())}
		if err := w.first.ZAdd(t.Context(), w.both.core.keys.nodes(0), z).Err(); err != nil {
			t.Fatal(err)
		}
	}
	w.wake = w.first.PSubscribe(t.Context(), w.both.core.keys.wakes())
	t.Cleanup(func() { w.wake.Close() })
	return w
}

// request describes an interaction. The zero value is the simplest one.
type request struct {
	after                  bridge.State // its timeout, expired if it is empty
	session, correlated    bool
	limited, queued, held  bool
	escalates, steps       bool
	batch, root            bool
	destinations, webhooks int
	posted                 int    // the first destinations have messages
	waiters                string // nodes, separated by commas
	job                    bool   // a worker has its edit job
	later                  bool   // it is not due
	gone                   bool   // its record has expired
	field, value           string // a field to change in the record
}

// plain reports whether the short script must be able to expire it.
func (q request) plain() bool {
	return !q.queued && !q.held && !q.escalates && !q.steps && !q.batch && !q.job &&
		q.destinations <= 3 && q.webhooks <= 3 && q.field == ""
}

// opening returns the opening of a request.
func (w *twoWays) opening(q request, id bridge.ID) bridge.Opening {
	i := bridge.Interaction{ID: id, Agent: "ci", Digest: "d"}
	i.Ask = bridge.Ask{Kind: bridge.KindApproval, Prompt: "Deploy?"}
	i.Created = time.Now().UTC()
	i.Deadline = i.Created.Add(time.Minute)
	if q.later {
		i.Deadline = i.Created.Add(2 * fixedBy)
	}
	for n := range q.destinations {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "slack", Channel: fmt.Sprint("C", n)})
	}
	for n := range q.webhooks {
		i.Webhooks = append(i.Webhooks, fmt.Sprint("w", n))
	}
	if q.session {
		i.Session = "s"
	}
	if q.correlated {
		i.ToolCall, i.Turn = "t1", "t2"
	}
	if q.batch {
		i.Batch, i.Session = bridge.Duration(time.Minute), "batch"
	}
	if q.root {
		i.Root = w.ids[0]
		i.Previous = w.ids[0]
	}
	if q.steps {
		i.Steps = []bridge.Step{{After: bridge.Duration(time.Second)}}
	}
	answer := func(s bridge.State) bridge.Response {
		return bridge.Response{State: s, Annotations: map[string]bridge.Annotation{}, Proof: fmt.Sprint("proof", len(w.ids))}
	}
	after := bridge.StateExpired
	if q.after != "" {
		after = q.after
	}
	o := bridge.Opening{
		Interaction: i, Timeout: answer(after), AfterHold: answer(bridge.StateExpired), Limited: q.limited, Queued: q.queued,
		Superseded: answer(bridge.StateSuperseded),
	}
	if q.after == "" && !q.correlated { // it is not stored
		o.Timeout.Proof, o.Timeout.At, o.Timeout.Digest = "", i.Deadline, i.Digest
	}
	if q.held {
		o.Timeout.State, o.Interaction.Hold = bridge.StatePending, bridge.Duration(time.Hour)
	}
	if q.escalates {
		more := i
		more.Destinations = append(slices.Clone(i.Destinations), bridge.Destination{Platform: "slack", Channel: "more"})
		more.Deadline = i.Deadline.Add(time.Hour)
		o.Escalated = &more
	}
	return o
}

// open stores a request that is not due yet.
func (w *twoWays) open(t *testing.T, q request) bridge.ID {
	t.Helper()
	ctx, b := t.Context(), w.both
	id, err := b.NewID("", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Open(ctx, w.opening(q, id)); err != nil {
		t.Fatal(err)
	}
	for n := range q.posted {
		ref := bridge.MessageRef{Channel: "C", Message: fmt.Sprint("m", len(w.ids), n)}
		if _, err := b.Mark(ctx, id, bridge.Mark{Posted: &bridge.Posted{Destination: n, Ref: ref, Revision: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	var channels []string
	for node := range strings.SplitSeq(q.waiters, ",") {
		if node != "" {
			channels = append(channels, b.core.keys.wake(node))
		}
	}
	record := b.core.keys.record(id)
	if len(channels) > 0 {
		w.set(t, record, "w", strings.Join(channels, ","))
	}
	if q.job {
		w.set(t, b.core.keys.jobs(0), fmt.Sprintf("edit:%s:0", id), "2|3|1|1700000000000|1700000005000")
	}
	if q.field != "" {
		w.set(t, record, q.field, q.value)
	}
	if q.gone {
		w.first.Del(ctx, record)
	}
	w.due(t, notDue, id)
	w.ids = append(w.ids, id)
	return id
}

// set changes a field of a hash, or removes it if the value is empty.
func (w *twoWays) set(t *testing.T, key, field, value string) {
	t.Helper()
	err := w.first.HSet(t.Context(), key, field, value).Err()
	if value == "" {
		err = w.first.HDel(t.Context(), key, field).Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// due moves deadlines in the index, which decides what Expire looks at.
func (w *twoWays) due(t *testing.T, at float64, ids ...bridge.ID) {
	t.Helper()
	for _, id := range ids {
		z := redis.Z{Member: string(id), Score: at}
		if err := w.first.ZAdd(t.Context(), w.both.core.keys.deadlines(0), z).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// copy makes the second database equal to the first.
func (w *twoWays) copy(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	if err := w.second.FlushDB(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	for _, key := range w.first.Keys(ctx, "*").Val() {
		if err := w.first.Copy(ctx, key, key, 1, true).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// outcome holds the result of a call of Expire, and its effects.
type outcome struct {
	Over    []bridge.Expiry
	More    bool
	Woken   []string // channels and IDs
	Content map[string]any
}

// expire calls Expire and returns everything that can be seen of it.
func (w *twoWays) expire(t *testing.T, b *Broker, c *redis.Client) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var o outcome
	var err error
	if o.Over, o.More, err = b.Expire(ctx, 100); err != nil {
		t.Fatal(err)
	}
	end := b.core.keys.wake("end")
	if err := c.Publish(ctx, end, "").Err(); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := w.wake.ReceiveMessage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.Channel == end {
			break
		}
		o.Woken = append(o.Woken, m.Channel+" "+m.Payload)
	}
	o.Content = content(t, c)
	return o
}

// content returns all that a database holds, without the IDs of streams.
func content(t *testing.T, c *redis.Client) map[string]any {
	t.Helper()
	ctx, out := t.Context(), map[string]any{}
	for _, key := range c.Keys(ctx, "*").Val() {
		switch kind := c.Type(ctx, key).Val(); kind {
		case "string":
			out[key] = c.Get(ctx, key).Val()
		case "hash":
			fields := c.HGetAll(ctx, key).Val()
			delete(fields, "an") // the ID of an entry in a stream
			out[key] = fields
		case "zset":
			out[key] = c.ZRangeWithScores(ctx, key, 0, -1).Val()
		case "list":
			out[key] = c.LRange(ctx, key, 0, -1).Val()
		case "stream":
			var entries []map[string]any
			for _, m := range c.XRange(ctx, key, "-", "+").Val() {
				entries = append(entries, m.Values)
			}
			out[key] = entries
		default:
			t.Fatalf("%s is a %s", key, kind)
		}
		out["life of "+key] = life(c.PTTL(ctx, key).Val())
	}
	return out
}

// life holds the time that a key has left. It is negative for a key without an end.
type life time.Duration

// sameLife compares the lives of keys that were read at different times.
var sameLife = cmp.Comparer(func(x, y life) bool {
	return (x < 0) == (y < 0) && time.Duration(x-y).Abs() < time.Minute
})

// compare expires in both databases. Either way has the same effect.
func (w *twoWays) compare(t *testing.T, what string) outcome {
	t.Helper()
	w.copy(t)
	got, want := w.expire(t, w.both, w.first), w.expire(t, w.full, w.second)
	if d := cmp.Diff(want, got, sameLife); d != "" {
		t.Fatalf("%s: the short script differs (-full +short): %s", what, d)
	}
	return got
}
