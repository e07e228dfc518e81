package broker_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// each calls f at an interval until ctx ends. Its errors are dropped, because
// one fault may make another fail.
func each(ctx context.Context, every time.Duration, f func()) {
	for bridge.Pause(ctx, every) {
		f()
	}
}

// impatient returns a client with short timeouts, so that faults show.
func impatient(t *testing.T, addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true, DialTimeout: time.Second, ReadTimeout: time.Second})
	t.Cleanup(func() { c.Close() })
	return c
}

// fault is a failure that is injected while callers are served.
type fault struct {
	quick bool     // a part of make test
	redis []string // arguments of the server
	do    func(ctx context.Context, s *storm, r *redistest.Server, p *redistest.Proxy)
}

// crashes kills Redis repeatedly.
func crashes(ctx context.Context, s *storm, r *redistest.Server, _ *redistest.Proxy) {
	each(ctx, 400*time.Millisecond, func() {
		r.Kill()
		bridge.Pause(ctx, time.Duration(s.rand.IntN(300))*time.Millisecond)
		r.Restart()
	})
}

var faults = map[string]fault{
	"none": {do: func(context.Context, *storm, *redistest.Server, *redistest.Proxy) {}},
	"daemons crash": {quick: true, do: func(ctx context.Context, s *storm, _ *redistest.Server, _ *redistest.Proxy) {
		each(ctx, 200*time.Millisecond, func() { s.crash(s.rand.IntN(stormNodes)) })
	}},
	"redis killed": {true, []string{"--appendonly", "yes", "--appendfsync", "always"}, crashes},
	"connections cut": {do: func(ctx context.Context, s *storm, _ *redistest.Server, p *redistest.Proxy) {
		each(ctx, 150*time.Millisecond, p.Cut)
	}},
	"network away": {do: func(ctx context.Context, s *storm, _ *redistest.Server, p *redistest.Proxy) {
		each(ctx, 500*time.Millisecond, func() {
			p.Refuse(true)
			p.Cut()
			bridge.Pause(ctx, 300*time.Millisecond)
			p.Refuse(false)
		})
	}},
	"half-open connections": {do: func(ctx context.Context, s *storm, _ *redistest.Server, p *redistest.Proxy) {
		each(ctx, 600*time.Millisecond, func() {
			p.Stall(true)
			bridge.Pause(ctx, 400*time.Millisecond)
			p.Stall(false)
		})
		p.Stall(false)
	}},
	"slow network": {do: func(ctx context.Context, s *storm, _ *redistest.Server, p *redistest.Proxy) {
		p.Slow(20 * time.Millisecond)
		<-ctx.Done()
		p.Slow(0)
	}},
	"publications lost": {quick: true, do: func(ctx context.Context, s *storm, _ *redistest.Server, p *redistest.Proxy) { p.Silence(true) }},
	"subscriptions cut": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ *redistest.Proxy) {
		c := r.Client(s.t)
		each(ctx, 50*time.Millisecond, func() { _ = c.ClientKillByFilter(ctx, "TYPE", "pubsub").Err() })
	}},
	"redis stalls": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ *redistest.Proxy) {
		c := r.Client(s.t)
		each(ctx, 500*time.Millisecond, func() { _ = c.Do(ctx, "DEBUG", "SLEEP", "0.3").Err() })
	}, redis: []string{"--enable-debug-command", "local"}},
	"scripts flushed": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ *redistest.Proxy) {
		c := r.Client(s.t)
		each(ctx, 10*time.Millisecond, func() { _ = c.ScriptFlush(ctx).Err() })
	}},
	"out of memory": {do: func(ctx context.Context, s *storm, r *redistest.Server, _ *redistest.Proxy) {
		c := r.Client(s.t)
		each(ctx, 300*time.Millisecond, func() {
			_ = c.ConfigSet(ctx, "maxmemory", "1mb").Err()
			bridge.Pause(ctx, 200*time.Millisecond)
			_ = c.ConfigSet(context.WithoutCancel(ctx), "maxmemory", "0").Err()
		})
	}},
}

// TestFaults runs callers on several daemons during each of the faults, and
// checks their results against the model.
func TestFaults(t *testing.T) {
	t.Parallel()
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && !f.quick {
				t.Skip("make ci runs this")
			}
			t.Parallel()
			args := f.redis
			if args == nil || args[0] != "--appendonly" {
				args = append(args, "--appendonly", "yes")
			}
			r := redistest.Start(t, args...)
			p := redistest.StartProxy(t, r.Addr)
			s := &storm{t: t, reads: true, client: func() redis.UniversalClient { return impatient(t, p.Addr) }}
			s.run(func(ctx context.Context) { f.do(ctx, s, r, p) })
		})
	}
}

// TestFailovers does the same during failovers. Every decision that a replica
// confirmed must survive.
func TestFailovers(t *testing.T) {
	level.CI(t)
	t.Parallel()
	sentinel := func(replicas int, do func(ctx context.Context, s *redistest.Sentinel)) func(*testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			place := redistest.StartSentinel(t, replicas)
			s := &storm{t: t, client: func() redis.UniversalClient { return place.Client(t) }, options: broker.Options{WaitReplicas: 1}}
			s.run(func(ctx context.Context) { do(ctx, place) })
		}
	}
	// Sentinel lets the old master continue for a moment with the replicas that
	// it still has, so nothing is lost only if every replica must confirm.
	// Until the old master has become a replica, there are too few of them.
	// That takes half a minute, so this case does not run every time.
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
			place := redistest.StartCluster(t)
			s := &storm{t: t, client: func() redis.UniversalClient { return place.Client(t) }}
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
		for n := 0; bridge.Pause(ctx, 50*time.Millisecond); n++ {
			c.Move(t, "{nod}", s.rand.IntN(len(c.Masters)))
		}
	}))
	t.Run("cluster, master killed", cluster(func(ctx context.Context, _ *storm, c *redistest.Cluster) {
		bridge.Pause(ctx, time.Second)
		c.Masters[1].Kill()
	}))
}
