package broker

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// readyFor is the time for which the result of Ready is used again.
const readyFor = time.Second

// readiness is the last result of Ready. The slot holds an element while someone
// tries or reads it.
type readiness struct {
	slot chan struct{}
	at   time.Time
	err  error
}

// Ready returns an error unless Redis stores requests and decisions right now. It
// tries that with keys of its own, at most once a second, however many callers
// ask.
func (b *Broker) Ready(ctx context.Context) error {
	r := &b.core.ready
	select {
	case r.slot <- struct{}{}:
		defer func() { <-r.slot }()
	case <-ctx.Done():
		return silent(ctx.Err())
	}
	if time.Since(r.at) < readyFor {
		return r.err
	}
	err := b.core.probe(ctx, b.core.scripts.probe)
	if err != nil && ctx.Err() != nil { // the error of the connection says less
		err = silent(ctx.Err())
	}
	if !errors.Is(err, context.Canceled) { // that says nothing about Redis
		r.at, r.err = time.Now(), err
	}
	return err
}

// silent returns the error for a Redis that did not answer before a deadline, or
// another error unchanged.
func silent(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return bridge.Wrap(bridge.CodeUnavailable, err, "redis does not answer in time").
			WithHint("check the network between nod and Redis, and the log of Redis")
	}
	return err
}

// try tries for Diagnose what a daemon tries at its start and while it runs.
func try(ctx context.Context, client redis.UniversalClient, prefix string, waits int) error {
	c := &core{client: client, keys: newKeys(prefix), node: "doctor"}
	flags, err := scriptFlags(ctx, client)
	if err == nil {
		c.scripts, err = compile(flags)
	}
	if err != nil {
		return unavailable(err)
	}
	if err := c.probe(ctx, c.scripts.probe); err != nil {
		return err
	}
	return c.tryOthers(ctx, waits)
}

// tryRights tries every command that nod needs, before a request is stored that
// a missing right would leave half resolved. Redis may be full: what is pending
// can be resolved then.
func (c *core) tryRights(ctx context.Context, waits int) error {
	err := c.probe(ctx, c.scripts.rights)
	if redis.HasErrorPrefix(err, "OOM ") {
		c.log.Warn("no request can be stored", "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return c.tryOthers(ctx, waits)
}

// tryOthers tries the commands that no script can run.
func (c *core) tryOthers(ctx context.Context, waits int) error {
	if err := c.trySubscribing(ctx); err != nil {
		return err
	}
	if waits > 0 && !isCluster(c.client) {
		return unavailable(c.client.Do(ctx, "WAIT", 0, 1).Err())
	}
	return nil
}

// probe runs a script that tries all commands, and a transaction.
func (c *core) probe(ctx context.Context, script *redis.Script) error {
	if err := script.Run(ctx, c.client, c.keys.probe(), c.keys.wake(c.node)).Err(); err != nil {
		return unavailable(err)
	}
	return c.transact(ctx, func(p redis.Pipeliner) error { // it changes nothing
		p.Get(ctx, c.keys.installation())
		p.Time(ctx)
		return nil
	})
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
