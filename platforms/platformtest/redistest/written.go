package redistest

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// reads lists the read-only commands that nod and its tests use.
var reads = []string{
	"client", "exec", "exists", "get", "hello", "hget", "hgetall", "hmget", "info", "keys", "lindex", "lrange", "multi", "select", "time",
	"xinfo", "xlen", "xrange", "xread", "xrevrange", "zcard", "zrange", "zrangebyscore", "zrevrange", "zscore",
}

// Rings makes a client ring a bell after each command that may have written.
func Rings(c redis.UniversalClient, b *await.Bell) { c.AddHook(written{b}) }

// written is the hook of [Rings].
type written struct{ bell *await.Bell }

// DialHook implements redis.Hook.
func (written) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (w written) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		w.ring(cmd)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (w written) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		w.ring(cmds...)
		return err
	}
}

func (w written) ring(cmds ...redis.Cmder) {
	if slices.ContainsFunc(cmds, func(c redis.Cmder) bool { return !slices.Contains(reads, c.Name()) }) {
		w.bell.Ring()
	}
}
