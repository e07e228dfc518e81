package core_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestClicksInMemory lets 64 people click on 8 daemons that crash.
func TestClicksInMemory(t *testing.T) {
	t.Parallel()
	seals := broker.NewSeals()
	db := memory.New(seals)
	s := &storm{t: t, all: true, open: func(n int) (*stored.Store, error) {
		return stored.On(t, db, seals, core.Options{Node: fmt.Sprint(n)}), nil
	}}
	s.run(s.crashes)
}

// fault is a failure of Redis or of the network that is injected while callers are
// served.
type fault struct {
	quick bool     // also runs with -short
	redis []string // arguments of the server
	do    func(ctx context.Context, s *storm, r *redistest.Server, all []*redistest.Proxy)
}

// randomly calls f for one connection to Redis after the other, at random.
func randomly(d time.Duration, f func(ctx context.Context, p *redistest.Proxy)) func(context.Context, *storm, *redistest.Server, []*redistest.Proxy) {
	return func(ctx context.Context, s *storm, _ *redistest.Server, all []*redistest.Proxy) {
		every(ctx, d, func() { f(ctx, all[s.rand.IntN(len(all))]) })
	}
}

var faults = map[string]fault{
	"connections cut": {quick: true, do: randomly(20*time.Millisecond, func(_ context.Context, p *redistest.Proxy) { p.Cut() })},
	"daemons crash":   {do: func(ctx context.Context, s *storm, _ *redistest.Server, _ []*redistest.Proxy) { s.crashes(ctx) }},
	"redis killed": {redis: []string{"--appendfsync", "always"}, do: func(ctx context.Context, s *storm, r *redistest.Server, _ []*redistest.Proxy) {
		every(ctx, 400*time.Millisecond, func() {
			r.Kill()
			bridge.Pause(ctx, time.Duration(s.rand.IntN(300))*time.Millisecond)
			r.Restart()
		})
	}},
	"network away": {do: randomly(100*time.Millisecond, func(ctx context.Context, p *redistest.Proxy) {
		p.Refuse(true)
		p.Cut()
		bridge.Pause(ctx, 300*time.Millisecond)
		p.Refuse(false)
	})},
	"half-open connections": {do: randomly(200*time.Millisecond, func(ctx context.Context, p *redistest.Proxy) {
		p.Stall(true)
		bridge.Pause(ctx, 400*time.Millisecond)
		p.Stall(false)
	})},
	"slow network": {do: func(ctx context.Context, _ *storm, _ *redistest.Server, all []*redistest.Proxy) {
		for _, p := range all {
			p.Slow(20 * time.Millisecond)
			defer p.Slow(0)
		}
		<-ctx.Done()
	}},
	"redis stalls": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ []*redistest.Proxy) {
		c := r.Client(s.t)
		every(ctx, 500*time.Millisecond, func() { _ = c.Do(ctx, "DEBUG", "SLEEP", "0.3").Err() })
	}, redis: []string{"--enable-debug-command", "local"}},
	"scripts flushed": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ []*redistest.Proxy) {
		c := r.Client(s.t)
		every(ctx, 10*time.Millisecond, func() { _ = c.ScriptFlush(ctx).Err() })
	}},
	"out of memory": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ []*redistest.Proxy) {
		c := r.Client(s.t)
		every(ctx, 300*time.Millisecond, func() {
			_ = c.ConfigSet(ctx, "maxmemory", "1mb").Err()
			bridge.Pause(ctx, 200*time.Millisecond)
			_ = c.ConfigSet(context.WithoutCancel(ctx), "maxmemory", "0").Err()
		})
	}},
}

// impatient returns a client with short timeouts, so that faults show.
func impatient(t *testing.T, addr string) *rdb.Client {
	c := rdb.NewClient(&rdb.Options{Addr: addr, ContextTimeoutEnabled: true, DialTimeout: time.Second, ReadTimeout: time.Second})
	t.Cleanup(func() { c.Close() })
	return c
}

// tryRedis opens a daemon on a Redis that may be unreachable.
func tryRedis(t *testing.T, c rdb.UniversalClient, n, waits int) (*stored.Store, error) {
	seals := broker.NewSeals([]byte("key"))
	db, err := redis.New(t.Context(), redis.Options{Client: c, Seals: seals, WaitReplicas: waits})
	if err != nil {
		return nil, err
	}
	s, err := core.New(t.Context(), db, core.Options{Node: fmt.Sprint(n)})
	if err != nil {
		db.Close()
		return nil, err
	}
	t.Cleanup(func() { s.Close(); db.Close() })
	return &stored.Store{Store: s, DB: db, Keys: seals}, nil
}

// TestFaults lets 64 people click on 8 daemons during each of the faults, and checks
// their results against the model.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			if !f.quick {
				level.CI(t)
			}
			t.Parallel()
			r := redistest.Start(t, append([]string{"--appendonly", "yes"}, f.redis...)...)
			var proxies []*redistest.Proxy
			for range stormNodes {
				proxies = append(proxies, redistest.StartProxy(t, r.Addr))
			}
			s := &storm{t: t, all: true, open: func(n int) (*stored.Store, error) { return tryRedis(t, impatient(t, proxies[n%stormNodes].Addr), n, 0) }}
			s.run(func(ctx context.Context) { f.do(ctx, s, r, proxies) })
		})
	}
}

// TestFailovers does the same during failovers. Every decision that a replica confirmed
// must survive.
func TestFailovers(t *testing.T) {
	level.CI(t)
	t.Parallel()
	sentinel := func(replicas int, do func(ctx context.Context, s *redistest.Sentinel)) func(*testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			place := redistest.StartSentinel(t, replicas, time.Second, "--appendonly", "yes")
			s := &storm{t: t, open: func(n int) (*stored.Store, error) { return tryRedis(t, place.Client(t), n, 1) }}
			s.run(func(ctx context.Context) { do(ctx, place) })
		}
	}
	// Sentinel lets the old master continue for a moment with the replicas that it still
	// has, so nothing is lost only if every replica must confirm. Until the old master
	// has become a replica, there are too few of them. That takes half a minute, so this
	// case does not run every time.
	if os.Getenv("NOD_CHAOS") != "" {
		t.Run("sentinel, planned", sentinel(1, func(ctx context.Context, s *redistest.Sentinel) {
			bridge.Pause(ctx, time.Second)
			s.Failover(t)
		}))
	}
	t.Run("sentinel, master killed", sentinel(2, func(ctx context.Context, s *redistest.Sentinel) {
		bridge.Pause(ctx, time.Second)
		s.Master.Kill()
	}))
	cluster := func(do func(ctx context.Context, s *storm, c *redistest.Cluster)) func(*testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			place := redistest.StartCluster(t, time.Second, "--appendonly", "yes")
			s := &storm{t: t, open: func(n int) (*stored.Store, error) { return tryRedis(t, place.Client(t), n, 0) }}
			s.run(func(ctx context.Context) { do(ctx, s, place) })
		}
	}
	t.Run("cluster, planned", cluster(func(ctx context.Context, _ *storm, c *redistest.Cluster) {
		for n := range c.Masters {
			bridge.Pause(ctx, 500*time.Millisecond)
			c.Failover(t, n)
		}
	}))
	t.Run("cluster, slots move", cluster(func(ctx context.Context, s *storm, c *redistest.Cluster) {
		every(ctx, 50*time.Millisecond, func() { c.Move(t, "{nod}", s.rand.IntN(len(c.Masters))) })
	}))
	t.Run("cluster, master killed", cluster(func(ctx context.Context, _ *storm, c *redistest.Cluster) {
		bridge.Pause(ctx, time.Second)
		c.Masters[1].Kill()
	}))
}
