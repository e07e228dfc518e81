package broker

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// Calls of one queue are sent together: whatever came while the last ones were
// under way. The client's own auto-pipelining is not used as it is declared
// experimental, and as its callers cannot leave before the reply is there.
const (
	queueFlushers = 2       // one sends while the other waits for replies
	queueBatch    = 256     // calls
	queueBytes    = 1 << 20 // of arguments, beyond which nothing is added to a batch
	queueLength   = 1024    // beyond it, callers wait
	replicaWait   = time.Second
)

// call is a script to run, a hash to read, or both in this order. What it
// holds may be read once done is closed.
type call struct {
	ctx    context.Context
	script *redis.Script // nil: none
	keys   []string
	args   []any
	read   string // key of a hash; empty: none
	keep   bool   // it counts only once the replicas have it

	reply  *redis.Cmd
	fields *redis.MapStringStringCmd
	done   chan struct{}
}

// size is about how many bytes the call sends.
func (c *call) size() int {
	n := 0
	for _, a := range c.args {
		switch v := a.(type) {
		case []byte:
			n += len(v)
		case string:
			n += len(v)
		}
	}
	return n
}

// queue sends the calls of many callers through few connections.
type queue struct {
	client redis.UniversalClient
	// replicas that must have what is to be kept; 0: none.
	replicas int
	calls    chan *call
	slots    chan struct{} // taken while something is sent
	stop     context.CancelFunc
	ctx      context.Context
	done     sync.WaitGroup
}

func newQueue(client redis.UniversalClient, replicas, flushers int) *queue {
	q := &queue{client: client, replicas: replicas, calls: make(chan *call, queueLength), slots: make(chan struct{}, flushers)}
	q.ctx, q.stop = context.WithCancel(context.Background())
	for range flushers {
		q.done.Go(q.flush)
	}
	return q
}

// close ends the sending of calls together. What is called later is sent alone.
func (q *queue) close() {
	q.stop()
	q.done.Wait()
	for {
		select {
		case c := <-q.calls:
			q.send(c.ctx, []*call{c})
		default:
			return
		}
	}
}

// do runs a call. The error is ctx's if that ends first; what becomes of the
// call then is not known.
func (q *queue) do(ctx context.Context, c *call) error {
	c.ctx, c.done = ctx, make(chan struct{})
	if q.ctx.Err() != nil {
		q.send(ctx, []*call{c})
		return nil
	}
	if len(q.calls) == 0 { // nothing to join: the caller sends on its own
		select {
		case q.slots <- struct{}{}:
			q.send(ctx, []*call{c})
			<-q.slots
			return nil
		default:
		}
	}
	select {
	case q.calls <- c:
	case <-q.ctx.Done():
		q.send(ctx, []*call{c})
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) flush() {
	for {
		select {
		case <-q.ctx.Done():
			return
		case c := <-q.calls:
			q.slots <- struct{}{}
			q.send(context.Background(), q.gather(c)) // each caller has its own way out
			<-q.slots
		}
	}
}

// gather takes what waits beside a call.
func (q *queue) gather(c *call) []*call {
	batch, bytes := []*call{c}, c.size()
	for len(batch) < queueBatch && bytes < queueBytes {
		select {
		case c = <-q.calls:
			if c.ctx.Err() != nil {
				continue // its caller has left
			}
			batch, bytes = append(batch, c), bytes+c.size()
		default:
			return batch
		}
	}
	return batch
}

// send runs calls. Errors show in their commands.
func (q *queue) send(ctx context.Context, batch []*call) {
	if len(batch) == 1 {
		ctx = batch[0].ctx
	}
	again := q.exec(ctx, batch, func(p redis.Pipeliner, c *call) *redis.Cmd { return p.EvalSha(ctx, c.script.Hash(), c.keys, c.args...) })
	if len(again) > 0 {
		q.exec(ctx, again, func(p redis.Pipeliner, c *call) *redis.Cmd { return c.script.Eval(ctx, p, c.keys, c.args...) })
	}
}

// exec runs calls in one pipeline, and returns those whose script the server
// does not have.
func (q *queue) exec(ctx context.Context, batch []*call, run func(redis.Pipeliner, *call) *redis.Cmd) []*call {
	var copies *redis.IntCmd
	// What fails shows in the command of each call.
	_, _ = q.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		keep := false
		for _, c := range batch {
			if c.script != nil {
				c.reply = run(p, c)
				keep = keep || c.keep
			}
			if c.read != "" {
				c.fields = p.HGetAll(ctx, c.read)
			}
		}
		if keep && q.replicas > 0 {
			copies = redis.NewIntCmd(ctx, "wait", q.replicas, replicaWait.Milliseconds()) // a Pipeliner has no Wait
			_ = p.Process(ctx, copies)                                                    // that only queues it
		}
		return nil
	})
	var again []*call
	for _, c := range batch {
		if c.script != nil && redis.HasErrorPrefix(c.reply.Err(), "NOSCRIPT") {
			again = append(again, c)
			continue
		}
		if copies != nil && c.keep && c.reply.Err() == nil && copies.Val() < int64(q.replicas) {
			c.reply.SetErr(bridge.Errorf(bridge.CodeUnavailable, "%d of %d replicas have it", copies.Val(), q.replicas).WithHint("repeat it; redis.wait_replicas says how many must"))
		}
		close(c.done)
	}
	return again
}
