package redis

import (
	"time"

	"github.com/nodbridge/nod/broker"
)

// A change with jobs counts only if the clock of the server differs little from
// the time that its rule used: less than clockBack behind, and less than
// clockAhead ahead. After a jump of the clock, its jobs would be due at the
// wrong time.
const (
	clockBack  = 5 * time.Second
	clockAhead = time.Minute
)

// timed adds these conditions to a change, if the change requests jobs.
func (s *Store) timed(c broker.Change) broker.Change {
	if len(c.Request) == 0 {
		return c
	}
	now := c.At
	if now.IsZero() {
		now = s.Now()
	}
	if from := now.Add(-clockBack); c.From.Before(from) {
		c.From = from
	}
	if until := now.Add(clockAhead); c.Until.IsZero() || until.Before(c.Until) {
		c.Until = until
	}
	return c
}

// learn corrects the difference to the server's clock. The server read its clock
// after the call was sent, and before now. A reply that takes long says little about
// the difference, and so changes little.
func (s *Store) learn(at, sent time.Time) {
	least, most := at.Sub(time.Now().Round(0)), at.Add(time.Millisecond).Sub(sent.Round(0))
	s.offset.Store(int64(max(least, min(most, time.Duration(s.offset.Load())))))
}

// Now implements broker.Store.
func (s *Store) Now() time.Time {
	return time.Now().Add(time.Duration(s.offset.Load())).Truncate(time.Millisecond)
}
