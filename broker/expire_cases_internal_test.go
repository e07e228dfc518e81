package broker

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker/redistest"
)

var requests = map[string]request{
	"simple":          {},
	"session":         {session: true, correlated: true, destinations: 1},
	"posted":          {destinations: 2, posted: 1, webhooks: 2},
	"limited":         {limited: true},
	"limited again":   {limited: true, destinations: 3, posted: 3},
	"own caller":      {waiters: "own"},
	"other callers":   {waiters: "alive,dead"},
	"denied":          {after: bridge.StateDenied},
	"denied, own":     {after: bridge.StateDenied, waiters: "own"},
	"denied, alive":   {after: bridge.StateDenied, waiters: "dead,alive"},
	"denied, dead":    {after: bridge.StateDenied, waiters: "dead"},
	"approved":        {after: bridge.StateApproved, webhooks: 1},
	"answered, alive": {after: bridge.StateAnswered, waiters: "alive"},
	"not due":         {later: true},
	"many places":     {destinations: 5, posted: 5},
	"many hooks":      {webhooks: 5},
	"queued":          {queued: true, session: true},
	"held":            {held: true, session: true, posted: 1, destinations: 1, waiters: "alive"},
	"escalating":      {escalates: true, destinations: 1, posted: 1},
	"with steps":      {steps: true},
	"first of batch":  {batch: true, destinations: 1, posted: 1},
	"in batch":        {batch: true, destinations: 1},
	"edit under way":  {destinations: 1, posted: 1, job: true},
	"newer":           {field: "c", value: "9|1|2|expired|1|1|0|0|0|0|ci"},
	"gone":            {gone: true},
	"ended":           {field: "st", value: "approved"},
	"deferred":        {after: bridge.StateApproved, session: true, field: "q", value: "1700000000000"},
}

// TestShortExpiry checks that the short script and the full one have the same
// effect, field by field, and that the short one does the usual cases.
func TestShortExpiry(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, addr string) {
		w := newTwoWays(t, addr)
		names := slices.Sorted(maps.Keys(requests))
		for _, name := range names {
			w.check(t, name, requests[name])
		}
		w.check(t, "follow-up", request{root: true, destinations: 2, posted: 2})
		rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it chooses test cases
		for n := range 60 {
			q := someRequest(rnd)
			w.check(t, fmt.Sprintf("case %d, %+v", n, q), q)
		}
		// Plain requests together are processed in the same order either way.
		var ids []bridge.ID
		for len(ids) < 40 {
			q := someRequest(rnd)
			if id := w.open(t, q); q.plain() {
				ids = append(ids, id)
			}
		}
		w.due(t, 1, ids...)
		w.compare(t, "many")
	}
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		run(t, redistest.Start(t).Addr)
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		run(t, miniredis.RunT(t).Addr())
	})
}

// check compares both ways for one request.
func (w *twoWays) check(t *testing.T, what string, q request) {
	t.Helper()
	id := w.open(t, q)
	w.due(t, 1, id)
	full := w.both.core.scripts.expire
	if q.plain() {
		w.both.core.scripts.expire = redis.NewScript("error('full')")
	}
	o := w.compare(t, what)
	w.both.core.scripts.expire = full
	if over := len(o.Over) == 1; over == (q.later || q.escalates || q.gone || q.field == "c" || q.field == "st") {
		t.Errorf("%s: ended %v", what, o.Over)
	}
	if q.later || q.field == "c" || q.escalates {
		w.due(t, notDue, id)
	}
}

// someRequest returns a request that may have any combination of features.
func someRequest(r *rand.Rand) request {
	yes := func() bool { return r.IntN(2) == 0 }
	rare := func() bool { return r.IntN(8) == 0 }
	states := []bridge.State{"", bridge.StateExpired, bridge.StateDenied, bridge.StateApproved, bridge.StateAnswered}
	waiters := []string{"", "own", "alive", "dead", "own,alive", "dead,alive"}
	q := request{
		after:   states[r.IntN(len(states))],
		session: yes(), correlated: yes(), limited: yes(), queued: rare(), escalates: rare(), steps: rare(),
		destinations: r.IntN(4), webhooks: r.IntN(4), waiters: waiters[r.IntN(len(waiters))],
	}
	q.posted = r.IntN(q.destinations + 1)
	q.job = rare() && q.posted > 0
	return q
}

// TestExpiryCalls checks how many commands Redis runs for many plain requests
// with messages, hooks, and callers of this process.
func TestExpiryCalls(t *testing.T) {
	t.Parallel()
	const n, each, shared = 60, 5, 20 // each is two reads and three writes
	w := newTwoWays(t, redistest.Start(t).Addr)
	var ids []bridge.ID
	for range n {
		id := w.open(t, request{destinations: 2, posted: 2, webhooks: 2, waiters: "own"})
		w.both.hub.reserve(id)
		ids = append(ids, id)
	}
	w.due(t, 1, ids...)
	states := make(chan bridge.State, n)
	for _, id := range ids {
		go func() {
			rec, err := w.both.Await(t.Context(), id)
			if err != nil {
				t.Error(err)
				states <- ""
				return
			}
			states <- rec.State
		}()
	}
	load := w.both.core.scripts.expirePlain.Load(t.Context(), w.first).Err()
	if err := errors.Join(load, w.first.ConfigResetStat(t.Context()).Err()); err != nil {
		t.Fatal(err)
	}
	if over, _, err := w.both.Expire(t.Context(), n); err != nil || len(over) != n {
		t.Fatalf("%d are over, %v", len(over), err)
	}
	for range n {
		if s := <-states; s != bridge.StateExpired {
			t.Errorf("a caller got %q", s)
		}
	}
	stats, err := w.first.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, name := range []string{"hmget", "hget", "hgetall", "hset", "xadd", "zadd", "publish"} {
		var k int
		_, _ = fmt.Sscanf(stats["Commandstats"]["cmdstat_"+name], "calls=%d", &k) // absent if there was none
		calls += k
	}
	if calls > each*n+shared {
		t.Errorf("%d commands for %d requests", calls, n)
	}
}
