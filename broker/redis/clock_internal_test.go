package redis

import (
	"testing"
	"time"

	"github.com/nodbridge/nod/broker"
)

// TestTimed checks that the jobs of a change count only near the time with which it
// was made, even if the store has learned of a jump of the clock since.
func TestTimed(t *testing.T) {
	t.Parallel()
	var s Store
	made := s.Now()
	s.learn(time.Now().Add(time.Hour), time.Now())
	c := s.timed(broker.Change{At: made, Request: []broker.Job{{Name: "x"}}})
	if c.From.After(made) || !c.Until.Before(s.Now()) {
		t.Errorf("the change counts from %s until %s, and was made at %s", c.From, c.Until, made)
	}
}

// TestClock checks that each reply corrects the time of the server, and that a late reply
// does not make it worse.
func TestClock(t *testing.T) {
	t.Parallel()
	var s Store
	for _, x := range []struct {
		what  string
		ahead time.Duration // the server's clock when it answered
		ago   time.Duration // time when the call was sent
		want  time.Duration
	}{
		{"a prompt reply", time.Hour, 0, time.Hour},
		{"a late reply", time.Hour - 2*time.Minute, 5 * time.Minute, time.Hour},
		{"the clock was set back", -time.Hour, 0, -time.Hour},
		{"set back, and a late reply", -3 * time.Hour, time.Hour, -2 * time.Hour},
	} {
		s.learn(time.Now().Add(x.ahead), time.Now().Add(-x.ago))
		if got := time.Until(s.Now()); (got - x.want).Abs() > 30*time.Second {
			t.Errorf("%s: the server is ahead by %s, want %s", x.what, got, x.want)
		}
	}
}
