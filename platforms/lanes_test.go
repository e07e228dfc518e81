package platforms_test

import (
	"slices"
	"sync"
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
