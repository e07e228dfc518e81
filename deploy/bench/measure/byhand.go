package measure

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// handBatch is the maximum number of transactions in a pipeline. The broker's
// queue has the same limit.
const handBatch = 256

// byHand does the durable work of a cycle without a broker, with plain commands
// in MULTI/EXEC that make no decision. Like the broker, it sends the
// transactions of many callers together.
type byHand struct {
	client redis.UniversalClient
	calls  chan transaction
}

// transaction holds the commands of one call. Their replies, which come with
// EXEC, are not read.
type transaction struct {
	commands func(context.Context, redis.Pipeliner)
	done     chan error
}

// send sends waiting transactions, one pipeline at a time, until ctx ends.
func (h *byHand) send(ctx context.Context) {
	for {
		var batch []transaction
		select {
		case <-ctx.Done():
			return
		case t := <-h.calls:
			batch = append(batch, t)
		}
		for more := true; more && len(batch) < handBatch; {
			select {
			case t := <-h.calls:
				batch = append(batch, t)
			default:
				more = false
			}
		}
		_, err := h.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, t := range batch {
				p.Do(ctx, "multi")
				t.commands(ctx, p)
				p.Do(ctx, "exec")
			}
			return nil
		})
		for _, t := range batch {
			t.done <- err
		}
	}
}

func (h *byHand) do(ctx context.Context, commands func(context.Context, redis.Pipeliner)) error {
	t := transaction{commands, make(chan error, 1)}
	select {
	case h.calls <- t:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cycle stores a request with its deadline and event, and closes it after the
// same delay as a cycle of nod.
func (h *byHand) cycle(b *harness) func(context.Context) error {
	return func(ctx context.Context) error {
		o, err := b.opening()
		if err != nil {
			return err
		}
		request, err := json.Marshal(o.Interaction)
		if err != nil {
			return err
		}
		response, err := json.Marshal(yes(o.Interaction.ID).Response)
		if err != nil {
			return err
		}
		id := string(o.Interaction.ID)
		key := "hand:i:" + id
		err = h.do(ctx, func(ctx context.Context, p redis.Pipeliner) {
			p.Do(ctx, "hset", key, "req", request)
			p.Do(ctx, "pexpire", key, time.Hour.Milliseconds())
			p.Do(ctx, "zadd", "hand:deadlines", o.Interaction.Deadline.UnixMilli(), id)
			p.Do(ctx, "xadd", "hand:events", "*", "t", "request", "i", id)
		})
		if err != nil {
			return err
		}
		settled := make(chan error, 1)
		time.AfterFunc(settleAfter, func() {
			settled <- h.do(ctx, func(ctx context.Context, p redis.Pipeliner) {
				p.Do(ctx, "hsetnx", key, "st", "approved")
				p.Do(ctx, "hset", key, "res", response)
				p.Do(ctx, "zrem", "hand:deadlines", id)
				p.Do(ctx, "xadd", "hand:events", "*", "t", "response", "i", id)
				p.Do(ctx, "publish", "hand:wake", id)
			})
		})
		return <-settled
	}
}

// handCycles returns the number of cycles per second by hand.
func (b *harness) handCycles(ctx context.Context, callers int) (float64, error) {
	client := newClient(b.addr)
	defer client.Close()
	run, stop := context.WithCancel(ctx)
	h := &byHand{client, make(chan transaction, handBatch)}
	ended := make(chan struct{}, 2)
	for range cap(ended) { // one pipeline is sent while another waits for replies, as in the broker
		go func() { h.send(run); ended <- struct{}{} }()
	}
	rate, err := b.repeat(ctx, callers, h.cycle(b))
	stop()
	for range cap(ended) {
		<-ended
	}
	return rate, errors.Join(err, ctx.Err())
}
