package await_test

import (
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/platforms/platformtest/await"
)

func TestUntilChecksAfterEachEvent(t *testing.T) {
	var bell await.Bell
	var happened atomic.Bool
	checks := 0
	await.Until(t, "the bell rings", func() bool {
		checks++
		if checks == 1 { // an event between the check and the wait is not missed
			happened.Store(true)
			bell.Ring()
			return false
		}
		return happened.Load()
	}, bell.Next)
	if checks != 2 {
		t.Errorf("%d checks, want 2: one at once and one after the event", checks)
	}
}

func TestUntilAsksWhereNothingIsAnnounced(t *testing.T) {
	checks := 0
	await.Until(t, "it was asked three times", func() bool { checks++; return checks == 3 })
}

func TestReceive(t *testing.T) {
	c := make(chan int, 1)
	c <- 7
	if got := await.Receive(t, "a number", c); got != 7 {
		t.Errorf("got %d, want 7", got)
	}
}
