package api

import (
	"context"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

const (
	// attendEvery is the interval between two checks of a session.
	attendEvery = engine.PresenceTTL / 2
	// attendPause is the shortest time between the checks of two sessions. It
	// limits the cost of the checks, regardless of the number of sessions.
	attendPause = 5 * time.Millisecond
)

// attended checks whether someone can still answer the requests of sessions whose
// callers wait, because a front end whose daemon was killed cannot report that it
// left. One goroutine checks all sessions, and ends when none waits. It is safe
// for concurrent use.
type attended struct {
	check func(ctx context.Context, session string)
	// closing ends the checks.
	closing context.Context
	every   time.Duration

	mu      sync.Mutex
	callers map[string]int // by session
	running bool
}

func newAttended(closing context.Context, check func(ctx context.Context, session string)) *attended {
	return &attended{check: check, closing: closing, every: attendEvery, callers: map[string]int{}}
}

// enter adds a caller that waits in a session, and returns a function that
// removes it. A caller without a session is not added.
func (at *attended) enter(session string) (leave func()) {
	if session == "" {
		return func() {}
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	at.callers[session]++
	if !at.running {
		at.running = true
		go at.run()
	}
	return func() {
		at.mu.Lock()
		defer at.mu.Unlock()
		if at.callers[session]--; at.callers[session] == 0 {
			delete(at.callers, session)
		}
	}
}

// run checks the sessions until no session has a waiting caller, or closing ends.
func (at *attended) run() {
	for bridge.Pause(at.closing, at.every) {
		at.mu.Lock()
		sessions := make([]string, 0, len(at.callers))
		for s := range at.callers {
			sessions = append(sessions, s)
		}
		at.running = len(sessions) > 0
		at.mu.Unlock()
		if len(sessions) == 0 {
			return
		}
		for _, s := range sessions {
			if at.waits(s) {
				at.check(at.closing, s)
			}
			if !bridge.Pause(at.closing, attendPause) {
				return
			}
		}
	}
}

func (at *attended) waits(session string) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.callers[session] > 0
}
