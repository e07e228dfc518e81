package broker

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// core holds the data that the parts of a Broker share: the client, the names
// of keys, the scripts, and the queues that send them.
type core struct {
	client    redis.UniversalClient
	keys      keys
	scripts   scripts
	retention time.Duration
	node      string
	log       *slog.Logger
	queue     *queue
	nudge     chan struct{} // receives when this process stores jobs
	shared    []string      // the keys of transitionKeys after the record
	agenda    agenda
	ready     readiness
}

// newCore applies the defaults of the options and connects to Redis.
func newCore(ctx context.Context, o Options) (*core, error) {
	c := &core{
		client: o.Client, keys: newKeys(cmp.Or(o.Prefix, DefaultPrefix)), retention: cmp.Or(o.Retention, DefaultRetention),
		node: o.Node, log: o.Log, nudge: make(chan struct{}, 1), ready: readiness{slot: make(chan struct{}, 1)},
	}
	if c.node == "" {
		c.node = uuid.NewString()[:nodeName]
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	flags, err := scriptFlags(ctx, c.client)
	if err != nil {
		return nil, unavailable(err)
	}
	if c.scripts, err = compile(flags); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "scripts")
	}
	if err := c.claimInstallation(ctx); err != nil {
		return nil, err
	}
	k := c.keys
	c.shared = []string{k.deadlines(), k.outbox(), k.jobs(), k.journal(), k.nodes(), k.late(), k.open()}
	if isCluster(c.client) {
		c.queue = newQueue(c.client, 0, k.deadlines())
	} else {
		c.queue = newQueue(c.client, o.WaitReplicas, "")
	}
	if err := c.tryRights(ctx, o.WaitReplicas); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close sends what is queued, and stops queueing.
func (c *core) close() { c.queue.close() }

// once returns the value of a key that is written once: the stored one, or value
// for a new installation. It writes nothing if there is one, because a full Redis
// refuses that, and a daemon must be able to start then.
func (c *core) once(ctx context.Context, key, value string) (string, error) {
	stored, err := c.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		if err = c.client.SetNX(ctx, key, value, 0).Err(); err == nil {
			stored, err = c.client.Get(ctx, key).Result()
		}
	}
	return stored, unavailable(err)
}

// run runs a script.
func (c *core) run(ctx context.Context, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	return c.runWith(ctx, nil, script, keys, args...)
}

// runWith runs a script, and commands before it that may be nil.
func (c *core) runWith(
	ctx context.Context, also func(redis.Pipeliner), script *redis.Script, keys []string, args ...any,
) *redis.Cmd {
	one := &call{script: script, keys: keys, args: args, keep: c.scripts.keeps(script), also: also}
	if err := c.queue.do(ctx, one); err != nil {
		return redis.NewCmdResult(nil, err)
	}
	return one.reply
}

// runAndRead runs a script on an interaction and reads the record right after
// it.
func (c *core) runAndRead(ctx context.Context, id bridge.ID, script *redis.Script, args ...any) (*redis.Cmd, *redis.MapStringStringCmd) {
	one := &call{script: script, keys: c.transitionKeys(id), args: args, read: c.keys.record(id), keep: c.scripts.keeps(script)}
	if err := c.queue.do(ctx, one); err != nil {
		return redis.NewCmdResult(nil, err), redis.NewMapStringStringResult(nil, err)
	}
	return one.reply, one.fields
}

// together sends commands that only read, together with the calls of other
// callers. The error of each command is in the command, and the returned one is
// that of ctx.
func (c *core) together(ctx context.Context, read func(redis.Pipeliner)) error {
	return c.queue.do(ctx, &call{also: read})
}

// transitionKeys returns the keys that all scripts that change an interaction
// take; see lua/base.lua.
func (c *core) transitionKeys(id bridge.ID) []string {
	return append([]string{c.keys.record(id)}, c.shared...)
}

// load reads the record of an interaction.
func (c *core) load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	one := &call{read: c.keys.record(id)}
	if err := c.queue.do(ctx, one); err != nil {
		return bridge.Record{}, err
	}
	return read(id, one.fields)
}

// loadAll reads records together. An element is nil if there is no such record.
func (c *core) loadAll(ctx context.Context, ids []bridge.ID) ([]*bridge.Record, error) {
	cmds := make([]*redis.MapStringStringCmd, len(ids))
	_, err := c.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for k, id := range ids {
			cmds[k] = p.HGetAll(ctx, c.keys.record(id))
		}
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	out := make([]*bridge.Record, len(ids))
	for k, id := range ids {
		r, err := read(id, cmds[k])
		switch {
		case err == nil:
			out[k] = &r
		case bridge.ErrorCode(err) != bridge.CodeNotFound:
			return nil, err
		}
	}
	return out, nil
}

// poke wakes a waiting worker of this process, because there may be jobs.
func (c *core) poke() {
	select {
	case c.nudge <- struct{}{}:
	default:
	}
}

// requireSession returns CodeInvalid for an empty session.
func requireSession(session string) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "session: required")
	}
	return nil
}
