package api

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAttended checks that a session is checked once in an interval, however
// many callers wait in it, that it is not checked once they have left, and that
// nothing runs while no one waits.
func TestAttended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closing, end := context.WithCancel(t.Context())
		var mu sync.Mutex
		checked := map[string]int{}
		at := newAttended(closing, func(_ context.Context, session string) {
			mu.Lock()
			defer mu.Unlock()
			checked[session]++
		})
		at.enter("")() // a caller without a session has no front ends
		one, two, other := at.enter("a"), at.enter("a"), at.enter("b")
		wait := func() {
			<-time.After(attendEvery + attendEvery/2)
			synctest.Wait()
		}
		wait()
		if checked["a"] != 1 || checked["b"] != 1 || len(checked) != 2 {
			t.Errorf("after an interval: %v", checked)
		}
		one()
		other()
		wait()
		if checked["a"] < 2 || checked["b"] != 1 {
			t.Errorf("while one caller waits: %v", checked)
		}
		two()
		n := checked["a"]
		wait()
		wait()
		if at.running || checked["a"] != n {
			t.Errorf("without callers: %v, running: %t", checked, at.running)
		}
		defer at.enter("a")()
		end()
		wait()
		if checked["a"] != n {
			t.Errorf("after the end: %v", checked)
		}
	})
}
