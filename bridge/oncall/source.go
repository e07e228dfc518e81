package oncall

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	// fresh is the time for which one evaluation is valid. All questions about
	// the same time get the same answer.
	fresh = 5 * time.Second
	// stale is the lifetime of a failure, so that clicks do not wait repeatedly
	// for the same failure.
	stale = 15 * time.Second
	// kept is the lifetime of an answer about the past.
	kept = time.Minute
	// evaluation limits one evaluation, which continues after its callers have
	// stopped waiting. Only one evaluation runs at a time.
	evaluation = 5 * time.Second
)

// source is a schedule that is evaluated independently of its callers.
type source struct {
	kind string
	from Source

	mu      sync.Mutex
	running chan struct{} // closed at the end of the evaluation; nil if none is running
	answers map[time.Time]answer
	failure answer // the last answer
}

// answer holds the people on call at a time, or the reason why they are
// unknown.
type answer struct {
	entries []Entry
	err     error
	until   time.Time
}

// at returns the people on call at a time, with the precision of fresh. It
// waits at most until ctx ends.
func (s *source) at(ctx context.Context, t time.Time) ([]Entry, error) {
	if r, ok := s.from.(Rotation); ok { // this schedule reads nothing
		return r.OnCall(ctx, t)
	}
	t = t.UTC().Truncate(fresh)
	for {
		a, running := s.answer(t)
		if running == nil {
			return a.entries, a.err
		}
		select {
		case <-running:
		case <-ctx.Done():
			return nil, bridge.Errorf(bridge.CodeUnavailable, "the schedule did not respond in time")
		}
	}
}

// answer returns the answer about a time if it is known. Otherwise, it returns
// a channel that is closed when the answer may be known.
func (s *source) answer(t time.Time) (answer, chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if a, ok := s.answers[t]; ok && now.Before(a.until) {
		return a, nil
	}
	if now.Before(s.failure.until) {
		return s.failure, nil
	}
	if s.running == nil {
		s.running = make(chan struct{})
		go s.evaluate(t, s.running)
	}
	return answer{}, s.running
}

func (s *source) evaluate(t time.Time, done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), evaluation)
	defer cancel()
	entries, err := s.ask(ctx, t)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(s.answers, func(_ time.Time, a answer) bool { return !now.Before(a.until) })
	if err != nil {
		s.failure = answer{err: err, until: now.Add(stale)}
	} else {
		if s.answers == nil {
			s.answers = map[time.Time]answer{}
		}
		s.answers[t] = answer{entries: entries, until: now.Add(kept)}
	}
	s.running = nil
	close(done)
}

// ask evaluates the schedule. It recovers from a panic, because an external
// calendar must not stop the daemon.
func (s *source) ask(ctx context.Context, t time.Time) (entries []Entry, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = bridge.Errorf(bridge.CodeUnavailable, "the schedule cannot be evaluated: %v", r)
		}
	}()
	return s.from.OnCall(ctx, t)
}
