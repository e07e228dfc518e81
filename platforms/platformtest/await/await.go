// Package await lets tests wait for events. A test waits for an event, and then
// checks its condition. No wait depends on the speed of a machine: its limit
// only stops a test that would never end.
package await

import (
	"os"
	"reflect"
	"sync"
	"testing"
	"time"
)

// Limit is the maximum time that a test waits. It is two minutes, far more than
// any step takes even on a busy machine. The environment variable
// NOD_TEST_LIMIT sets another limit, such as 10s, for a run in which tests are
// expected to fail.
var Limit = limit()

func limit() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("NOD_TEST_LIMIT")); err == nil && d > 0 {
		return d
	}
	return 2 * time.Minute
}

// calm is the time for which a wait collects further events before it checks
// its condition, because events come in bursts.
const calm = time.Millisecond

// Events returns a channel that is closed at the next event.
type Events func() <-chan struct{}

// A Bell tells waiting tests that something happened. The zero Bell is ready to
// use. It is safe for concurrent use.
type Bell struct {
	mu   sync.Mutex
	next chan struct{}
}

// Ring announces an event.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

// Next returns a channel that is closed at the next ring.
func (b *Bell) Next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Until waits until ok returns true. It calls ok at once and after each event of
// one of the sources. The test fails after [Limit].
//
// Some conditions have no events, such as the state of another process. Without
// sources, Until calls ok every 5 ms, so ok must be cheap. With sources, it
// also calls ok every 100 ms.
func Until(t testing.TB, what string, ok func() bool, sources ...Events) {
	t.Helper()
	Clear(t, func() string {
		if ok() {
			return ""
		}
		return "it did not happen that " + what
	}, sources...)
}

// Clear waits like [Until] until a check finds no problem. The test fails with the
// last problem.
func Clear(t testing.TB, check func() (problem string), sources ...Events) {
	t.Helper()
	limit, tick := time.NewTimer(Limit), time.NewTicker(interval(sources))
	defer limit.Stop()
	defer tick.Stop()
	for {
		cases := []reflect.SelectCase{received(limit.C), received(tick.C)}
		for _, next := range sources { // before the check, so that the wait misses no event
			cases = append(cases, received(next()))
		}
		problem := check()
		if problem == "" {
			return
		}
		if chosen, _, _ := reflect.Select(cases); chosen == 0 {
			t.Fatalf("within %s: %s", Limit, problem)
		}
		<-time.After(calm)
	}
}

// interval returns the time between two checks without an event.
func interval(sources []Events) time.Duration {
	if len(sources) == 0 {
		return 5 * time.Millisecond
	}
	return 100 * time.Millisecond
}

// received returns the select case that receives from a channel.
func received(c any) reflect.SelectCase {
	return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)}
}

// Receive returns the next value of a channel. The test fails after [Limit].
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	limit := time.NewTimer(Limit)
	defer limit.Stop()
	select {
	case v := <-from:
		return v
	case <-limit.C:
		t.Fatalf("%s did not come within %s", what, Limit)
	}
	panic("unreachable")
}
