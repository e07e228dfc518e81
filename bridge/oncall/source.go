package oncall

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	// fresh is the lifetime of a cached schedule result, and stale that of a
	// cached failure, so that a click never waits for the same failure again.
	fresh = 5 * time.Second
	stale = 15 * time.Second
	// evaluation limits one evaluation, which continues after its callers have
	// stopped waiting. Only one evaluation runs at a time.
	evaluation = 5 * time.Second
)

// source is one schedule, which is evaluated independently of its callers.
type source struct {
	kind string
	from Source

	mu      sync.Mutex
	running chan struct{} // closed at the end of the evaluation; nil if none is running
	entries []Entry
	err     error
	until   time.Time // when the last result expires
}

// now returns who is on call. It waits at most until ctx ends.
func (s *source) now(ctx context.Context) ([]Entry, error) {
	s.mu.Lock()
	if time.Now().Before(s.until) {
		defer s.mu.Unlock()
		return s.entries, s.err
	}
	if s.running == nil {
		s.running = make(chan struct{})
		go s.evaluate(s.running)
	}
	running := s.running
	s.mu.Unlock()
	select {
	case <-running:
	case <-ctx.Done():
		return nil, bridge.Errorf(bridge.CodeUnavailable, "the schedule did not respond in time")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries, s.err
}

func (s *source) evaluate(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), evaluation)
	defer cancel()
	entries, err := s.ask(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries, s.err, s.running = entries, err, nil
	s.until = time.Now().Add(fresh)
	if err != nil {
		s.entries, s.until = nil, time.Now().Add(stale)
	}
	close(done)
}

// ask evaluates the schedule. It recovers from a panic, because a calendar from
// elsewhere must not stop the daemon.
func (s *source) ask(ctx context.Context) (entries []Entry, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = bridge.Errorf(bridge.CodeUnavailable, "the schedule cannot be evaluated: %v", r)
		}
	}()
	return s.from.OnCall(ctx, time.Now())
}
