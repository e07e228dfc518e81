package broker

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// tryRights tries every command that nod needs, before a request is stored that
// a missing right would leave half resolved. Redis may be full: what is pending
// can be resolved then.
func (c *core) tryRights(ctx context.Context, waits int) error {
	err := c.probe(ctx, c.scripts.rights)
	if err == nil {
		err = c.trySubscribing(ctx)
	}
	if _, cluster := c.client.(*redis.ClusterClient); err == nil && waits > 0 && !cluster {
		err = unavailable(c.client.Do(ctx, "WAIT", 0, 1).Err())
	}
	if redis.HasErrorPrefix(err, "OOM ") {
		c.log.Warn("no request can be stored", "error", err)
		return nil
	}
	return err
}

// probe runs a script that tries all commands in each partition of a Cluster, or
// otherwise once, and the commands that no script can run.
func (c *core) probe(ctx context.Context, script *redis.Script) error {
	partitions := 1
	if len(c.queues) > 1 {
		partitions = c.partitions
	}
	channel := c.keys.wake(c.node)
	run := func(how func(p redis.Pipeliner, keys []string) *redis.Cmd) error {
		cmds := make([]*redis.Cmd, partitions)
		_, _ = c.client.Pipelined(ctx, func(p redis.Pipeliner) error { // the error of each command is in its result
			for n := range cmds {
				cmds[n] = how(p, c.keys.probe(n))
			}
			return nil
		})
		var failed error
		for _, cmd := range cmds {
			if err := cmd.Err(); err != nil && (failed == nil || redis.HasErrorPrefix(failed, "NOSCRIPT")) {
				failed = err
			}
		}
		return failed
	}
	err := run(func(p redis.Pipeliner, keys []string) *redis.Cmd { return script.EvalSha(ctx, p, keys, channel) })
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		err = run(func(p redis.Pipeliner, keys []string) *redis.Cmd { return script.Eval(ctx, p, keys, channel) })
	}
	if err == nil {
		err = c.tryTransaction(ctx)
	}
	return unavailable(err)
}

// tryTransaction sends a transaction that changes nothing. The error of the whole
// says less than that of a command.
func (c *core) tryTransaction(ctx context.Context) error {
	cmds, err := c.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, c.keys.installation())
		p.Time(ctx)
		return nil
	})
	for _, cmd := range cmds {
		if own := cmd.Err(); own != nil && !errors.Is(own, redis.Nil) {
			return own
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// trySubscribing subscribes to the channel of this daemon.
func (c *core) trySubscribing(ctx context.Context) error {
	sub := c.client.Subscribe(ctx, c.keys.wake(c.node))
	defer sub.Close()
	_, err := sub.ReceiveTimeout(ctx, subscribeTimeout)
	return unavailable(err)
}

// subscribeTimeout is the time in which Redis must confirm a subscription.
const subscribeTimeout = 5 * time.Second
