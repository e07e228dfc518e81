package broker_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// infoHook replaces values of INFO, as if the server had reported others.
type infoHook func(section, key string) (string, bool)

func (infoHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (infoHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f infoHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if info, ok := cmd.(*redis.InfoCmd); ok {
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
		c := redis.NewClient(&redis.Options{Addr: server.Addr})
		t.Cleanup(func() { c.Close() })
		c.AddHook(x.hook)
		found := false
		for _, f := range broker.Diagnose(t.Context(), c, "", 0) {
			found = found || f.Check == x.check && f.Status == x.want && (x.want == bridge.FindingOK) == (f.Fix == "")
		}
		if !found {
			t.Errorf("%s: %+v", name, broker.Diagnose(t.Context(), c, "", 0))
		}
	}
}

// TestDiagnoseElsewhere checks that a distant Redis is reported.
func TestDiagnoseElsewhere(t *testing.T) {
	t.Parallel()
	proxy := redistest.StartProxy(t, redistest.Start(t, "--appendonly", "yes").Addr)
	proxy.Slow(30 * time.Millisecond)
	c := redis.NewClient(&redis.Options{Addr: proxy.Addr})
	t.Cleanup(func() { c.Close() })
	for _, f := range broker.Diagnose(t.Context(), c, "", 0) {
		if f.Check == "redis.latency" && f.Status != bridge.FindingWarning {
			t.Errorf("the finding is %+v, want %s", f, bridge.FindingWarning)
		}
	}
}
