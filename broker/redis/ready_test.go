package redis_test

import (
	"context"
	"strings"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestReady checks that a daemon is not ready on a Redis on which it could store
// nothing, that it and Diagnose name the reason and a hint, and that it is ready
// again afterward.
func TestReady(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		breaks, mends []any
		says, hint    string
	}{
		"replica":          {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, "redis refuses: READONLY", "master"},
		"full":             {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, "redis refuses: OOM", "maxmemory"},
		"too few replicas": {[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, "redis refuses: NOREPLICAS", "min-replicas-to-write"},
		"without scripts":  {[]any{"ACL", "SETUSER", "nod", "-eval", "-evalsha"}, []any{"ACL", "SETUSER", "nod", "+eval", "+evalsha"}, "redis refuses: NOPERM", "ACL"},
		"without streams":  {[]any{"ACL", "SETUSER", "nod", "-xadd"}, []any{"ACL", "SETUSER", "nod", "+xadd"}, "XADD", "ACL"},
		"other passwords":  {[]any{"ACL", "SETUSER", "nod", "resetpass", ">other"}, []any{"ACL", "SETUSER", "nod", "resetpass", ">pw"}, "redis refuses: WRONGPASS", "redis.password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			admin, ctx := server.Client(t), t.Context()
			do := func(args []any) {
				t.Helper()
				if err := admin.Do(ctx, args...).Err(); err != nil {
					t.Fatal(err)
				}
				_ = admin.ClientKillByFilter(ctx, "USER", "nod").Err() // a new password holds for new connections
			}
			do([]any{"ACL", "SETUSER", "nod", "on", ">pw", "~nod:*", "+@all"})
			c := rdb.NewClient(&rdb.Options{Addr: server.Addr, Username: "nod", Password: "pw", ContextTimeoutEnabled: true, MaxRetries: -1})
			t.Cleanup(func() { c.Close() })
			b := newStore(t, c, redis.Options{})
			if err := b.Ready(ctx); err != nil {
				t.Fatal(err)
			}
			do(x.breaks)
			var public *bridge.Error
			await.Until(t, "the daemon is not ready", func() bool {
				public = bridge.PublicError(b.Ready(ctx))
				return strings.Contains(public.Message, x.says)
			})
			if !strings.Contains(public.Hint, x.hint) {
				t.Errorf("the hint is %q", public.Hint)
			}
			found := false
			for _, f := range redis.Diagnose(ctx, c, "", 0) {
				found = found || f.Status == bridge.FindingFailed && strings.Contains(f.Detail, strings.TrimPrefix(x.says, "redis ")) && strings.Contains(f.Fix, x.hint)
			}
			if !found {
				t.Errorf("Diagnose found %+v", redis.Diagnose(ctx, c, "", 0))
			}
			do(x.mends)
			await.Until(t, "the daemon is ready again", func() bool { return b.Ready(ctx) == nil })
		})
	}
}

// TestRefusedTransactions checks that each transaction that a full Redis refuses
// says so: its answer to the whole names no reason.
func TestRefusedTransactions(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	ctx := t.Context()
	client := server.Client(t)
	b := newStore(t, client, redis.Options{})
	if err := client.ConfigSet(ctx, "maxmemory", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"a request is counted": func() error { _, err := b.Tally(ctx, "ci", time.Minute); return err },
		"a change": func() error {
			_, err := b.Do(ctx, broker.Change{Set: []broker.Member{{Index: "x", Name: "a"}}})
			return err
		},
		"a daemon": func() error { _, err := redis.NewKeyring(client, "").Announce(ctx, "keys"); return err },
	} {
		public := bridge.PublicError(call())
		if !strings.HasPrefix(public.Message, "redis refuses: OOM ") || !strings.Contains(public.Hint, "maxmemory") {
			t.Errorf("%s: %+v", name, public)
		}
	}
}

// TestReadyInTime checks that callers learn in time that Redis does not answer.
func TestReadyInTime(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.StartProxy(t, server.Addr)
	b := newStore(t, server.Via(t, proxy.Addr), redis.Options{})
	proxy.Stall(true)
	defer proxy.Stall(false)
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := b.Ready(ctx)
		cancel()
		if public := bridge.PublicError(err); public.Code != bridge.CodeUnavailable || public.Message != "redis did not answer in time" {
			t.Errorf("%+v", public)
		}
	}
}

// TestRefusals checks that each answer of Redis that refuses a command says so,
// with a hint, and is not a Redis that is unreachable.
func TestRefusals(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	real, proxied := server.Client(t), map[string]string{
		"MOVED 3999 127.0.0.1:6381": "redis.cluster", "CROSSSLOT Keys in request don't hash to the same slot": "redis.cluster",
		"CLUSTERDOWN The cluster is down": "Cluster", "MASTERDOWN Link with MASTER is down": "master", "MISCONF Redis is configured to save": "disk",
		"LOADING Redis is loading the dataset in memory": "loaded", "BUSY Redis is busy running a script": "SCRIPT KILL", "NOAUTH Authentication required.": "redis.password",
		"WRONGTYPE Operation against a key": "redis.prefix", "ERR unknown command 'XADD'": "6.2", "ERR something new": "",
	}
	for answer, hint := range proxied {
		c := rdb.NewClient(&rdb.Options{Addr: server.Addr, ContextTimeoutEnabled: true, MaxRetries: -1})
		t.Cleanup(func() { c.Close() })
		c.AddHook(refusing{real, answer})
		_, err := redis.New(t.Context(), redis.Options{Client: c, Seals: broker.NewSeals()})
		public := bridge.PublicError(err)
		if !strings.HasPrefix(public.Message, "redis refuses: "+strings.TrimSuffix(answer, ".")) || !strings.Contains(public.Hint, hint) {
			t.Errorf("%s: %+v", answer, public)
		}
	}
}

// refusing answers every command with an error of Redis.
type refusing struct {
	real   *rdb.Client
	answer string
}

func (refusing) DialHook(next rdb.DialHook) rdb.DialHook { return next }

func (f refusing) ProcessHook(rdb.ProcessHook) rdb.ProcessHook {
	return func(ctx context.Context, cmd rdb.Cmder) error {
		err := f.real.Eval(ctx, "return redis.error_reply(ARGV[1])", nil, f.answer).Err()
		cmd.SetErr(err)
		return err
	}
}

func (refusing) ProcessPipelineHook(next rdb.ProcessPipelineHook) rdb.ProcessPipelineHook {
	return next
}
