package redis

import (
	"context"
	"sync"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Calls of one queue are sent together: each batch holds the calls that arrived
// while the previous one was in flight. The client's own auto-pipelining is not
// used, because it is declared experimental and its callers cannot leave before
// the reply arrives.
const (
	queueFlushers = 2       // one batch is sent while the other waits for replies
	queueBatch    = 256     // calls
	queueBytes    = 1 << 20 // size of the arguments; a batch of this size is sent
	queueLength   = 1024    // number of calls; further callers wait
	replicaWait   = time.Second
	// Retries of a call while a Cluster moves its keys one by one.
	movingPause = 50 * time.Millisecond
	movingTries = 100
)

// call is a script to run, or a list of read commands. Its results may be read
// after done is closed.
type call struct {
	ctx        context.Context
	script     *rdb.Script // nil for a read
	keys       []string
	args       []string
	replicated bool // the call succeeds only after the replicas have confirmed it
	read       func(rdb.Pipeliner)

	reply *rdb.Cmd
	done  chan struct{}
}

// size returns approximately how many bytes the call sends.
func (c *call) size() int {
	n := 0
	for _, a := range c.args {
		n += len(a)
	}
	return n
}

// values returns the arguments for the client. They are pointers, because converting a
// string to an interface would allocate.
func (c *call) values() []any {
	out := make([]any, len(c.args))
	for n := range c.args {
		out[n] = &c.args[n]
	}
	return out
}

// queue sends the calls of many callers through few connections.
type queue struct {
	client rdb.UniversalClient
	// replicas is the number of replicas that must confirm a call with replicated. It
	// may be 0.
	replicas int
	// guard is a key that each pipeline reads first on a Cluster; empty means none.
	// Without it, go-redis sends a script to two nodes at once if it is redirected
	// and the first command of its pipeline has to be tried again. Scripts have to
	// be tried again while their keys move. The read of a single key does not.
	guard string
	calls chan *call
	slots chan struct{} // one element for each batch that is in flight
	stop  context.CancelFunc
	ctx   context.Context
	done  sync.WaitGroup
}

func newQueue(client rdb.UniversalClient, replicas int, guard string) *queue {
	q := &queue{client: client, replicas: replicas, guard: guard, calls: make(chan *call, queueLength), slots: make(chan struct{}, queueFlushers)}
	q.ctx, q.stop = context.WithCancel(context.Background())
	for range queueFlushers {
		q.done.Go(q.flush)
	}
	return q
}

// close stops batching. Later calls are sent alone.
func (q *queue) close() {
	q.stop()
	q.done.Wait()
	q.drain()
}

// drain sends the calls that no flusher takes anymore.
func (q *queue) drain() {
	for {
		select {
		case c := <-q.calls:
			q.send(c.ctx, []*call{c})
		default:
			return
		}
	}
}

// do runs a call. It returns ctx's error if ctx ends first. In that case, it is
// unknown whether the call took effect.
func (q *queue) do(ctx context.Context, c *call) error {
	for range movingTries {
		if err := q.once(ctx, c); err != nil {
			return err
		}
		if c.script == nil || !rdb.HasErrorPrefix(c.reply.Err(), "TRYAGAIN") || !bridge.Pause(ctx, movingPause) {
			break
		}
	}
	return nil
}

func (q *queue) once(ctx context.Context, c *call) error {
	c.ctx, c.done = ctx, make(chan struct{})
	if q.ctx.Err() != nil {
		q.send(ctx, []*call{c})
		return nil
	}
	if len(q.calls) == 0 { // there is no batch to join: the caller sends the call directly
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
	closed := q.ctx.Done()
	for {
		select {
		case <-c.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-closed: // the call may have arrived after close drained the queue
			q.drain()
			closed = nil
		}
	}
}

func (q *queue) flush() {
	for {
		select {
		case <-q.ctx.Done():
			return
		case c := <-q.calls:
			q.slots <- struct{}{}
			q.send(context.Background(), q.gather(c)) // each caller leaves when its own context ends
			<-q.slots
		}
	}
}

// gather collects the waiting calls in a batch with c.
func (q *queue) gather(c *call) []*call {
	batch, bytes := []*call{c}, c.size()
	for len(batch) < queueBatch && bytes < queueBytes {
		select {
		case c = <-q.calls:
			if c.ctx.Err() != nil {
				continue // the caller has left
			}
			batch, bytes = append(batch, c), bytes+c.size()
		default:
			return batch
		}
	}
	return batch
}

// send runs calls. The commands of the calls hold their errors.
func (q *queue) send(ctx context.Context, batch []*call) {
	if len(batch) == 1 {
		ctx = batch[0].ctx
	}
	again := q.exec(ctx, batch, func(p rdb.Pipeliner, c *call) *rdb.Cmd { return p.EvalSha(ctx, c.script.Hash(), c.keys, c.values()...) })
	if len(again) > 0 {
		q.exec(ctx, again, func(p rdb.Pipeliner, c *call) *rdb.Cmd { return c.script.Eval(ctx, p, c.keys, c.values()...) })
	}
}

// exec runs calls in one pipeline. It returns the calls whose script the server
// does not have.
func (q *queue) exec(ctx context.Context, batch []*call, run func(rdb.Pipeliner, *call) *rdb.Cmd) []*call {
	var copies *rdb.IntCmd
	// The error of each command is in its call.
	_, _ = q.client.Pipelined(ctx, func(p rdb.Pipeliner) error {
		replicated := false
		if q.guard != "" {
			p.Exists(ctx, q.guard)
		}
		for _, c := range batch {
			if c.script == nil {
				c.read(p)
				continue
			}
			c.reply = run(p, c)
			replicated = replicated || c.replicated
		}
		if replicated && q.replicas > 0 {
			copies = rdb.NewIntCmd(ctx, "wait", q.replicas, replicaWait.Milliseconds()) // a Pipeliner cannot wait
			_ = p.Process(ctx, copies)                                                  // this only queues it
		}
		return nil
	})
	var again []*call
	for _, c := range batch {
		if c.script != nil && rdb.HasErrorPrefix(c.reply.Err(), "NOSCRIPT") {
			again = append(again, c)
			continue
		}
		if copies != nil && c.replicated && c.reply.Err() == nil && copies.Val() < int64(q.replicas) {
			c.reply.SetErr(bridge.Wrap(bridge.CodeUnavailable, bridge.ErrUnconfirmed, "%d of %d replicas confirmed the write", copies.Val(), q.replicas).
				WithHint("retry; redis.wait_replicas sets how many must confirm"))
		}
		close(c.done)
	}
	return again
}

// Confirm implements broker.Store. Redis waits only for data that the
// connection has written, so Confirm writes something. The same master compares
// the versions, because after a failover it may not have the data that another
// master returned.
func (s *Store) Confirm(ctx context.Context, read ...broker.Version) error {
	if s.queue.replicas == 0 {
		return nil
	}
	_, err := s.Do(ctx, broker.Change{If: read, Set: []broker.Member{{Index: "confirmed", At: s.Now(), IndexTTL: time.Minute}}, Urgent: true, Replicated: true})
	return err
}

// DoAll implements broker.Store.
func (s *Store) DoAll(ctx context.Context, cs []broker.Change) []broker.Result {
	out, calls, versions := make([]broker.Result, len(cs)), make([]*call, len(cs)), make([][]int64, len(cs))
	for n, c := range cs {
		calls[n], versions[n] = s.call(c)
		calls[n].ctx, calls[n].done = ctx, make(chan struct{})
	}
	sent := time.Now()
	s.queue.send(ctx, calls)
	for n, c := range cs {
		out[n].Done, out[n].Err = s.result(ctx, c, versions[n], calls[n].reply, sent)
	}
	return out
}
