package platforms_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/nodbridge/nod/platforms"
)

// TestLanes checks that work with the same key keeps its order, and that other
// work does not wait for it.
func TestLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, keepsOrder)
}

func keepsOrder(t *testing.T) {
	var lanes platforms.Lanes
	var wg sync.WaitGroup
	var mu sync.Mutex
	var order []int
	hold := make(chan struct{})
	for n := range 50 {
		wait, leave := lanes.Enter("ana")
		wg.Go(func() {
			defer leave()
			wait()
			if n == 0 {
				<-hold
			}
			mu.Lock()
			defer mu.Unlock()
			order = append(order, n)
		})
	}
	for _, key := range []string{"bo", "", ""} {
		wait, leave := lanes.Enter(key)
		wait()
		defer leave()
	}
	synctest.Wait()
	mu.Lock()
	if len(order) > 0 {
		t.Errorf("%v did not wait", order)
	}
	mu.Unlock()
	close(hold)
	wg.Wait()
	if len(order) != 50 || !slices.IsSorted(order) {
		t.Errorf("the order is %v", order)
	}
}

// TestWork checks that talks which a service holds up do not delay what other
// people do, that their number is bounded, and that what has begun is finished
// although the caller has left.
func TestWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const clicks = 500
		var wg sync.WaitGroup
		var recorded, talking, talked atomic.Int64
		work := platforms.NewWork(&wg)
		ctx, leave := context.WithCancel(t.Context())
		hold, queue := make(chan struct{}), make(chan struct{})
		talk := func(ctx context.Context) {
			talking.Add(1)
			<-hold
			talking.Add(-1)
			talked.Add(1)
			if err := ctx.Err(); err != nil {
				t.Errorf("a talk ends with its caller: %v", err)
			}
		}
		click := func(wait func(), then func(context.Context)) {
			work.Do(ctx, wait, func(context.Context) func(context.Context) { return then }, func() { recorded.Add(1) })
		}
		for range clicks {
			click(func() {}, talk)
			click(func() { <-queue }, nil)
		}
		synctest.Wait()
		if got := recorded.Load(); got != clicks {
			t.Errorf("%d clicks are recorded while the service is slow, want %d", got, clicks)
		}
		if got := talking.Load(); got == 0 || got == clicks {
			t.Errorf("%d talks at once", got)
		}
		leave()
		close(queue)
		close(hold)
		work.Go(func() { talked.Add(1) })
		wg.Wait()
		if recorded.Load() != 2*clicks || talked.Load() != clicks+1 {
			t.Errorf("%d clicks and %d talks in the end, want %d and %d", recorded.Load(), talked.Load(), 2*clicks, clicks+1)
		}
	})
}
