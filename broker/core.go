package broker

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// core holds the data that the parts of a Broker share: the client, the names
// of keys, the scripts, and the queues that send them.
type core struct {
	client     redis.UniversalClient
	keys       keys
	scripts    scripts
	partitions int
	retention  time.Duration
	node       string
	log        *slog.Logger
	queues     []*queue
	nudge      chan struct{} // receives when this process stores jobs
	shared     [][]string    // by partition, the keys of transitionKeys after the record
	agenda     agenda
	ready      readiness
}

// newCore applies the defaults of the options and connects to Redis.
func newCore(ctx context.Context, o Options) (*core, error) {
	c := &core{
		client: o.Client, keys: newKeys(cmp.Or(o.Prefix, DefaultPrefix)),
		partitions: cmp.Or(o.Partitions, DefaultPartitions), retention: cmp.Or(o.Retention, DefaultRetention),
		node: o.Node, log: o.Log, nudge: make(chan struct{}, 1), ready: readiness{slot: make(chan struct{}, 1)},
	}
	if c.partitions < 1 || c.partitions > bridge.MaxPartitions {
		return nil, bridge.Errorf(bridge.CodeInvalid, "partitions: %d is out of range (1 to %d)", c.partitions, bridge.MaxPartitions)
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
	for p := range c.partitions {
		c.shared = append(c.shared, c.sharedKeys(p))
	}
	if isCluster(c.client) {
		for range c.partitions {
			c.queues = append(c.queues, newQueue(c.client, 0, 1))
		}
	} else {
		c.queues = []*queue{newQueue(c.client, o.WaitReplicas, queueFlushers)}
	}
	if err := c.tryRights(ctx, o.WaitReplicas); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close sends what is queued, and stops queueing.
func (c *core) close() {
	for _, q := range c.queues {
		q.close()
	}
}

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

// partition returns the partition of a session, or of an idempotency key if
// there is no session. It returns -1 if both are empty.
func (c *core) partition(session, key string) int {
	s := session
	if s == "" {
		s = key
	}
	if s == "" {
		return -1
	}
	h := fnv.New32a()
	io.WriteString(h, s)
	return int(h.Sum32() % uint32(c.partitions))
}

// queueOf returns the queue for a partition. On a Cluster each partition has
// its own, because a node that is unreachable must not delay the calls to
// others.
func (c *core) queueOf(partition int) *queue { return c.queues[partition%len(c.queues)] }

// run runs a script on a partition's keys.
func (c *core) run(ctx context.Context, partition int, script *redis.Script, keys []string, args ...any) *redis.Cmd {
	return c.runWith(ctx, partition, nil, script, keys, args...)
}

// runWith runs a script on a partition's keys, and commands before it that may
// be nil.
func (c *core) runWith(
	ctx context.Context, partition int, also func(redis.Pipeliner), script *redis.Script, keys []string, args ...any,
) *redis.Cmd {
	one := &call{script: script, keys: keys, args: args, keep: c.scripts.keeps(script), also: also}
	if err := c.queueOf(partition).do(ctx, one); err != nil {
		return redis.NewCmdResult(nil, err)
	}
	return one.reply
}

// runAndRead runs a script on an interaction and reads the record right after
// it.
func (c *core) runAndRead(ctx context.Context, id bridge.ID, script *redis.Script, args ...any) (*redis.Cmd, *redis.MapStringStringCmd) {
	one := &call{script: script, keys: c.transitionKeys(id), args: args, read: c.keys.record(id), keep: c.scripts.keeps(script)}
	if err := c.queueOf(id.Partition()).do(ctx, one); err != nil {
		return redis.NewCmdResult(nil, err), redis.NewMapStringStringResult(nil, err)
	}
	return one.reply, one.fields
}

// together sends commands that only read, together with the calls of other
// callers. The error of each command is in the command, and the returned one is
// that of ctx. On a Cluster, where the keys may be of several nodes, they are
// sent alone.
func (c *core) together(ctx context.Context, read func(redis.Pipeliner)) error {
	if len(c.queues) > 1 {
		_, _ = c.client.Pipelined(ctx, func(p redis.Pipeliner) error { read(p); return nil })
		return nil
	}
	return c.queueOf(0).do(ctx, &call{also: read})
}

// transitionKeys returns the keys that all scripts that change an interaction
// take; see lua/base.lua.
func (c *core) transitionKeys(id bridge.ID) []string {
	p := id.Partition()
	if p >= len(c.shared) { // no interaction is there
		return append([]string{c.keys.record(id)}, c.sharedKeys(p)...)
	}
	return append([]string{c.keys.record(id)}, c.shared[p]...)
}

// sharedKeys returns those of transitionKeys that all interactions of a
// partition have in common.
func (c *core) sharedKeys(p int) []string {
	nothing := c.keys.unused(p)
	return []string{
		c.keys.deadlines(p), c.keys.outbox(p), c.keys.jobs(p), c.keys.journal(p), c.keys.nodes(p),
		c.keys.late(p), nothing, nothing, c.keys.open(p),
	}
}

// load reads the record of an interaction.
func (c *core) load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	one := &call{read: c.keys.record(id)}
	if err := c.queueOf(id.Partition()).do(ctx, one); err != nil {
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

// poke wakes a waiting worker of this process, because a partition may have jobs.
func (c *core) poke(partition int) {
	c.agenda.add(partition)
	select {
	case c.nudge <- struct{}{}:
	default:
	}
}

// due returns the partitions whose sorted set has a member that is due, beginning
// with the one that is due for the longest time, and the time of Redis.
func (c *core) due(ctx context.Context, key func(partition int) string) ([]int, time.Time, error) {
	next, now, err := c.earliest(ctx, key)
	return dueBy(next, now), now, err
}

// dueBy returns the partitions whose score is not 0 and not after now, the
// lowest first.
func dueBy(next []float64, now time.Time) []int {
	var due []int
	for p, at := range next {
		if at > 0 && at <= float64(now.UnixMilli()) {
			due = append(due, p)
		}
	}
	slices.SortFunc(due, func(p, q int) int { return cmp.Compare(next[p], next[q]) })
	return due
}

// earliest returns the lowest score of each partition's sorted set, in ms, or 0
// for an empty one, and the time of Redis.
func (c *core) earliest(ctx context.Context, key func(partition int) string) ([]float64, time.Time, error) {
	cmds := make([]*redis.ZSliceCmd, c.partitions)
	var now *redis.TimeCmd
	_, err := c.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for n := range cmds {
			cmds[n] = p.ZRangeWithScores(ctx, key(n), 0, 0)
		}
		now = p.Time(ctx)
		return nil
	})
	if err != nil {
		return nil, time.Time{}, unavailable(err)
	}
	next := make([]float64, c.partitions)
	for n, cmd := range cmds {
		if z := cmd.Val(); len(z) > 0 {
			next[n] = z[0].Score
		}
	}
	return next, now.Val(), nil
}
