package broker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// TestCallersShareConnections checks that a thousand callers need few
// connections, and that one whose context ends returns although Redis does not
// respond.
func TestCallersShareConnections(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := redistest.StartProxy(t, server.Addr)
	c := impatient(t, p.Addr)
	b := newBroker(t, c, "n")
	const callers = 1000
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	ended := make(chan *bridge.Record, callers)
	ids := make(chan bridge.ID, callers)
	for range callers {
		wg.Go(func() {
			o := opening(t, b, "", nil)
			o.Awaited = true
			if _, _, err := b.Open(ctx, o); err != nil {
				t.Error(err)
			}
			ids <- o.Interaction.ID
			rec, err := b.Await(ctx, o.Interaction.ID)
			if err != nil {
				t.Error(err)
			}
			ended <- rec
		})
	}
	for range callers {
		id := <-ids
		wg.Go(func() {
			if _, won, err := b.Settle(ctx, yes(id, "U1")); err != nil || !won {
				t.Errorf("settle: %v, %v", won, err)
			}
		})
	}
	for range callers {
		if rec := <-ended; rec.State != bridge.StateApproved {
			t.Errorf("ended %s", rec.State)
		}
	}
	wg.Wait()
	if n := c.PoolStats().TotalConns; n > 10 {
		t.Errorf("%d connections", n)
	}
	id := open(t, b, nil).Interaction.ID
	p.Stall(true)
	for range 20 { // more than the queues can send at a time
		wg.Go(func() {
			short, stop := context.WithTimeout(ctx, 100*time.Millisecond)
			defer stop()
			began := time.Now()
			if _, err := b.Load(short, id); err == nil || time.Since(began) > await.Limit {
				t.Errorf("returned after %s: %v", time.Since(began), err)
			}
		})
	}
	wg.Wait()
	p.Stall(false)
	settle(t, b, id)
}

// TestWaitReplicas checks that a decision that no replica confirms is an error
// and can be repeated.
func TestWaitReplicas(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	b, err := broker.New(t.Context(), broker.Options{Client: master.Client(t), WaitReplicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	o := opening(t, b, "", nil)
	if _, _, err := b.Open(t.Context(), o); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Fatalf("without a replica: %v", err)
	}
	host, port := "127.0.0.1", master.Addr[len("127.0.0.1:"):]
	redistest.Start(t, "--replicaof", host+" "+port)
	await.Until(t, "a replica confirms", func() bool { _, _, err := b.Open(t.Context(), o); return err == nil })
	if _, won, err := b.Settle(t.Context(), yes(o.Interaction.ID, "U1")); err != nil || !won {
		t.Errorf("settle: %v, %v", won, err)
	}
}
