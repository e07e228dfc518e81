package platforms

import (
	"maps"
	"sync"
	"time"
)

// Seen remembers keys for a limited time, so that an event that a service
// delivers twice counts once. The zero value is ready to use. It is safe for
// concurrent use.
type Seen struct {
	mu    sync.Mutex
	until map[string]time.Time
	swept time.Time
}

// First reports whether a key is new, and remembers it for d.
func (s *Seen) First(key string, d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.until == nil {
		s.until = map[string]time.Time{}
	}
	if now.Sub(s.swept) > d {
		maps.DeleteFunc(s.until, func(_ string, until time.Time) bool { return now.After(until) })
		s.swept = now
	}
	if until, known := s.until[key]; known && now.Before(until) {
		return false
	}
	s.until[key] = now.Add(d)
	return true
}
