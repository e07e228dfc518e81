package core

import (
	"testing"
	"time"
)

// TestAgenda checks that a process without due jobs rests until the next one that
// it knows of, and that it does not claim too often.
func TestAgenda(t *testing.T) {
	t.Parallel()
	var a agenda
	now := time.Now()
	rests := func(what string, at time.Time, most, least time.Duration) {
		t.Helper()
		if m, l := a.rest(at, time.Second); m != most || l != least {
			t.Errorf("%s, it rests for %s and at least %s, want %s and %s", what, m, l, most, least)
		}
	}
	rests("before the first claim", now, time.Second, 0)
	a.claim(now)
	rests("after a claim", now.Add(time.Millisecond), time.Second, claimEvery-time.Millisecond)
	a.expect(now.Add(300 * time.Millisecond))
	a.expect(now.Add(400 * time.Millisecond))
	rests("until a job", now.Add(100*time.Millisecond), 200*time.Millisecond, 0)
	rests("with a job that is due", now.Add(time.Second), 0, 0)
	a.expect(now)
	rests("right after the claim", now, claimEvery, claimEvery)
	a.claim(now.Add(time.Second))
	rests("after the next claim", now.Add(2*time.Second), time.Second, 0)
}
