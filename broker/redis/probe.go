package redis

import (
	"context"
	"errors"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
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

// Ready returns an error unless Redis can store requests and decisions now. It
// tests this with its own keys, at most once a second, regardless of the number
// of callers.
func (s *Store) Ready(ctx context.Context) error {
	r := &s.ready
	select {
	case r.slot <- struct{}{}:
		defer func() { <-r.slot }()
	case <-ctx.Done():
		return silent(ctx.Err())
	}
	if time.Since(r.at) < readyFor {
		return r.err
	}
	err := s.probe(ctx, s.scripts.probe)
	if err != nil && ctx.Err() != nil { // the connection error has fewer details
		err = silent(ctx.Err())
	}
	if !errors.Is(err, context.Canceled) { // this does not mean that Redis has a problem
		r.at, r.err = time.Now(), err
	}
	return err
}

// silent returns the error for a Redis that did not answer before a deadline, or
// another error unchanged.
func silent(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return bridge.Wrap(bridge.CodeUnavailable, err, "redis did not answer in time").
			WithHint("check the network between nod and Redis, and the log of Redis")
	}
	return err
}

// try runs, for Diagnose, the same checks as a daemon at its start and while it
// runs.
func try(ctx context.Context, client rdb.UniversalClient, prefix string, waits int) error {
	s := &Store{client: client, keys: keys{prefix}}
	flags, err := scriptFlags(ctx, client)
	if err == nil {
		s.scripts, err = compile(flags)
	}
	if err != nil {
		return unavailable(ctx, err)
	}
	if err := s.probe(ctx, s.scripts.probe); err != nil {
		return err
	}
	return s.tryOthers(ctx, waits)
}

// tryRights tries every command that nod needs. This happens before a request
// is stored, because a missing right would leave a stored request half
// resolved. Redis may be full, because pending requests can be resolved then.
func (s *Store) tryRights(ctx context.Context, waits int) error {
	err := s.probe(ctx, s.scripts.rights)
	if rdb.HasErrorPrefix(err, "OOM ") {
		s.log.Warn("no request can be stored", "error", err)
		err = nil
	}
	if err != nil {
		return err
	}
	return s.tryOthers(ctx, waits)
}

// tryOthers tries the commands that no script can run.
func (s *Store) tryOthers(ctx context.Context, waits int) error {
	read := &rdb.XReadArgs{Streams: []string{s.keys.stream(broker.Journal), beginning}, Count: 1, Block: time.Millisecond}
	if err := s.client.XRead(ctx, read).Err(); err != nil && !errors.Is(err, rdb.Nil) {
		return unavailable(ctx, err)
	}
	if waits > 0 && !isCluster(s.client) {
		return unavailable(ctx, s.client.Do(ctx, "WAIT", 0, 1).Err())
	}
	return nil
}

// tried lists the commands of nod, one on each line, with the kind of each key.
const tried = `SET @s 1
SET @s 1 PX 1000
SETNX @s 1
GET @s
GETRANGE @s 0 1
MGET @s
INCR @s
PEXPIRE @s 1000
EXISTS @s
HSET @h a 1
HGET @h a
HGETALL @h
HDEL @h a
ZADD @z LT 1 a 2 b
ZCARD @z
ZCOUNT @z -inf +inf
ZRANGE @z 0 0
ZRANGEBYSCORE @z -inf +inf
ZRANDMEMBER @z 1
ZSCORE @z a
ZREM @z a
ZREMRANGEBYSCORE @z 0 1
XADD @x 1-1 a 1
XRANGE @x - + COUNT 1
XREVRANGE @x + - COUNT 1
XINFO STREAM @x
XTRIM @x MINID 1-1
XDEL @x 1-1
RPUSH @l a b
LPUSH @l c
LINDEX @l 0
LLEN @l
LRANGE @l 0 -1
LREM @l 1 c
LTRIM @l 0 0
RPOP @l
DEL @s @h @z @x @l`

// probe runs a script that tries all commands, and a transaction.
func (s *Store) probe(ctx context.Context, script *rdb.Script) error {
	if err := script.Run(ctx, s.client, s.keys.probe(), tried).Err(); err != nil {
		return unavailable(ctx, err)
	}
	return transact(ctx, s.client, func(p rdb.Pipeliner) error { // this command changes nothing
		p.Get(ctx, s.keys.installation())
		p.Time(ctx)
		return nil
	})
}
