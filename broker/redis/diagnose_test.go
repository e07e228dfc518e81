package redis_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// infoHook replaces values of INFO, as if the server had reported others.
type infoHook func(section, key string) (string, bool)

func (infoHook) DialHook(next rdb.DialHook) rdb.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (infoHook) ProcessPipelineHook(next rdb.ProcessPipelineHook) rdb.ProcessPipelineHook {
	return next
}

func (f infoHook) ProcessHook(next rdb.ProcessHook) rdb.ProcessHook {
	return func(ctx context.Context, cmd rdb.Cmder) error {
		err := next(ctx, cmd)
		if info, ok := cmd.(*rdb.InfoCmd); ok {
			for section, keys := range info.Val() {
				for key := range keys {
					if v, ok := f(section, key); ok {
						keys[key] = v
					}
				}
			}
		}
		return err
	}
}

// TestDiagnose checks the findings about a Redis server.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes")
	says := func(key, value string) infoHook {
		return func(_, k string) (string, bool) { return value, k == key }
	}
	for name, x := range map[string]struct {
		hook  infoHook
		check string
		want  bridge.FindingStatus
	}{
		"good":       {func(string, string) (string, bool) { return "", false }, "redis.version", bridge.FindingOK},
		"too old":    {says("redis_version", "5.0.14"), "redis.version", bridge.FindingFailed},
		"old":        {says("redis_version", "6.2.14"), "redis.version", bridge.FindingWarning},
		"newer":      {says("redis_version", "8.2.0"), "redis.version", bridge.FindingOK},
		"disk full":  {says("aof_last_write_status", "err"), "redis.persistence", bridge.FindingFailed},
		"is loading": {says("loading", "1"), "redis.persistence", bridge.FindingWarning},
	} {
		c := rdb.NewClient(&rdb.Options{Addr: server.Addr})
		t.Cleanup(func() { c.Close() })
		c.AddHook(x.hook)
		found := false
		for _, f := range redis.Diagnose(t.Context(), c, "", 0) {
			found = found || f.Check == x.check && f.Status == x.want && (x.want == bridge.FindingOK) == (f.Fix == "")
		}
		if !found {
			t.Errorf("%s: %+v", name, redis.Diagnose(t.Context(), c, "", 0))
		}
	}
}

// pingHook answers each PING after a delay, and refuses other commands. No command
// reaches a server.
type pingHook time.Duration

func (pingHook) DialHook(next rdb.DialHook) rdb.DialHook { return next }

func (pingHook) ProcessPipelineHook(rdb.ProcessPipelineHook) rdb.ProcessPipelineHook {
	return func(context.Context, []rdb.Cmder) error { return net.ErrClosed }
}

func (h pingHook) ProcessHook(rdb.ProcessHook) rdb.ProcessHook {
	return func(_ context.Context, cmd rdb.Cmder) error {
		time.Sleep(time.Duration(h))
		if cmd.Name() == "ping" {
			return nil
		}
		cmd.SetErr(net.ErrClosed)
		return net.ErrClosed
	}
}

// TestDiagnoseLatency checks that a distant Redis is reported, and no other.
func TestDiagnoseLatency(t *testing.T) {
	t.Parallel()
	for delay, want := range map[time.Duration]bridge.FindingStatus{
		20 * time.Millisecond: bridge.FindingOK, 21 * time.Millisecond: bridge.FindingWarning,
	} {
		synctest.Test(t, func(t *testing.T) {
			none := func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
			c := rdb.NewClient(&rdb.Options{Addr: "127.0.0.1:1", Dialer: none}) // the client would look up a name
			defer c.Close()
			c.AddHook(pingHook(delay))
			found := redis.Diagnose(t.Context(), c, "", 0)
			if !slices.ContainsFunc(found, func(f bridge.Finding) bool { return f.Check == "redis.latency" && f.Status == want }) {
				t.Errorf("with a delay of %s: %+v", delay, found)
			}
		})
	}
}

// TestInstallation checks that the first daemon stores the format, and that no
// daemon starts on data of another format.
func TestInstallation(t *testing.T) {
	t.Parallel()
	c, ctx := redistest.Shared(t).Client(t), t.Context()
	newStore(t, c, redis.Options{})
	const key = "nod:conf"
	stored := c.Get(ctx, key).Val()
	if stored != `{"format":8}` {
		t.Fatalf("the document is %s", stored)
	}
	for raw, want := range map[string]struct{ message, hint string }{
		"16":                           {"format 0", "empty Redis database"}, // as unreleased versions stored it
		`{"partitions":16}`:            {"format 0", "empty Redis database"},
		"":                             {"format 0", "empty Redis database"},
		`{"format":1,"partitions":16}`: {"format 1", "empty Redis database"},
		`{"format":2,"partitions":16}`: {"format 2", "empty Redis database"},
		`{"format":7}`:                 {"format 7", "empty Redis database"}, `{"format":99}`: {"format 99", "run the version of nod"},
	} {
		if err := c.Set(ctx, key, raw, 0).Err(); err != nil {
			t.Fatal(err)
		}
		b, err := redis.New(ctx, redis.Options{Client: c, Seals: broker.NewSeals()})
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
}

// TestCheckFormat checks that new connections are refused once the data has
// another format, and only then.
func TestCheckFormat(t *testing.T) {
	t.Parallel()
	plain := redistest.Start(t).Client(t)
	o := *plain.Options()
	o.OnConnect = redis.CheckFormat("")
	reach := func() error {
		c := rdb.NewClient(&o)
		defer c.Close()
		return c.Ping(t.Context()).Err()
	}
	if err := reach(); err != nil {
		t.Errorf("without data: %v", err)
	}
	newStore(t, plain, redis.Options{})
	if err := reach(); err != nil {
		t.Errorf("with data: %v", err)
	}
	if err := plain.Set(t.Context(), "nod:conf", `{"format":99}`, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := reach(); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("with data of another format: %v", err)
	}
}
