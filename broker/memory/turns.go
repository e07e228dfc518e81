package memory

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// The numbers are those of lua/turn.lua, which implements the same rules.
const (
	classSpan = 1 << 50                // a score consists of a class, the time in ms, and nine bits of a number
	lostAfter = 15 * time.Second       // time after which a call that did not ask again is dropped
	orderGap  = 200 * time.Millisecond // interval between calls to a channel that waited, so that they arrive in order
)

// limit is the state of a rate limit. Times are in ms.
type limit struct {
	held, tat    float64
	posted       bool
	number       int64
	turns        []float64 // start of the period
	posts, edits map[string]float64
	asks         map[string]float64
}

var _ bridge.Turns = (*Store)(nil)

// limitOf returns the state of a limit. The caller must hold s.mu.
func (s *Store) limitOf(c bridge.Call, n int) *limit {
	name := c.Platform + ":" + c.Limits[n].Line
	l := s.limits[name]
	if l == nil {
		l = &limit{posts: map[string]float64{}, edits: map[string]float64{}, asks: map[string]float64{}}
		s.limits[name] = l
	}
	return l
}

func (l *limit) forget(key string) {
	delete(l.posts, key)
	delete(l.edits, key)
	delete(l.asks, key)
}

func (l *limit) waiting(edit bool) map[string]float64 {
	if edit {
		return l.edits
	}
	return l.posts
}

// turn is the place of a call under one of its limits.
type turn struct {
	*limit
	bridge.Limit
	first bool // whether it is the limit of the channel
	queue float64
	ahead float64
	waits float64 // its score, or NaN
	at    float64 // time when the limit allows it
}

// Turn implements bridge.Turns.
func (s *Store) Turn(_ context.Context, c bridge.Call) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, score := float64(s.Now().UnixMilli()), math.NaN()
	calls := float64(max(1, c.Calls))
	all := make([]*turn, len(c.Limits))
	for n := range c.Limits {
		t := &turn{limit: s.limitOf(c, n), Limit: c.Limits[n], first: n == 0, waits: math.NaN()}
		for key, at := range t.asks {
			if at <= now-float64(lostAfter.Milliseconds()) {
				t.forget(key)
			}
		}
		if at, ok := t.waiting(c.Edit)[c.Key]; ok {
			t.waits = at
			if math.IsNaN(score) {
				score = at
			}
		}
		all[n] = t
	}
	if len(all) == 0 {
		return 0, nil
	}
	due, last := now, all[len(all)-1]
	for _, t := range all {
		t.place(c, score, last.posted, calls)
		t.at = t.earliest(c, now)
		due = max(due, t.at)
	}
	due = math.Ceil(due)
	if due-now <= float64(bridge.WaitForTurn.Milliseconds()) {
		for _, t := range all {
			t.use(c, due, calls)
		}
	} else {
		wait := due - now
		if wait >= float64(bridge.HalfwayFrom.Milliseconds()) {
			wait = math.Floor(wait / 2)
		}
		for n, t := range all {
			if n > 0 && t.at < all[0].at {
				t.forget(c.Key)
				continue
			}
			if math.IsNaN(score) {
				last.number++
				score = float64(c.Class)*classSpan + now*512 + float64(last.number%512)
			}
			t.waiting(c.Edit)[c.Key], t.asks[c.Key] = score, now+wait
		}
	}
	return time.Duration(due-now) * time.Millisecond, nil
}

// place sets the number of calls before the last call of this turn.
func (t *turn) place(c bridge.Call, score float64, posted bool, calls float64) {
	if len(t.asks) == 0 {
		t.ahead = calls - 1
		return
	}
	before := score
	if math.IsNaN(before) {
		before = float64(c.Class+1) * classSpan
	}
	ahead := 0.0
	for _, at := range t.waiting(c.Edit) {
		if at < before {
			ahead++
		}
	}
	others := float64(len(t.waiting(!c.Edit)))
	if c.Edit == posted {
		others = min(others, ahead)
	} else {
		others = min(others, ahead+1)
	}
	t.queue = ahead + others
	t.ahead = calls - 1 + t.queue
}

// earliest returns the time when the limit allows the call.
func (t *turn) earliest(c bridge.Call, now float64) float64 {
	at := max(now, t.held)
	if t.Calls == 0 {
		return at
	}
	calls, period := float64(t.Calls), float64((t.Period + t.Margin).Milliseconds())
	if t.Steady {
		period = float64(t.Period.Milliseconds())
		early := max(0, period-period/calls-float64(t.Margin.Milliseconds()))
		return max(at, max(at, t.tat)+t.ahead*period/calls-early)
	}
	t.turns = slices.DeleteFunc(t.turns, func(at float64) bool { return at <= now-period })
	free := t.Calls - len(t.turns)
	allowed := func(n int) float64 { // n calls after the next one
		if n < free {
			return at
		}
		return max(at, t.turns[min(n-free, len(t.turns)-1)]+period)
	}
	n, later := int(t.ahead)%t.Calls, math.Floor(t.ahead/calls)*period
	due := allowed(n) + later
	if len(t.asks) == 0 || !t.first { // only calls to a channel have to arrive in order
		return due
	}
	gap := min(float64(orderGap.Milliseconds()), period/calls/2)
	if free > 0 {
		if asked, ok := t.asks[c.Key]; ok && !math.IsNaN(t.waits) {
			return max(due, asked)
		}
		return due
	}
	following := gap
	if len(t.turns) > 0 {
		following += t.turns[len(t.turns)-1]
	}
	return max(due, max(allowed(0)+later, following)+math.Mod(t.queue, calls)*gap)
}

// use records that the call is made at a time.
func (t *turn) use(c bridge.Call, due, calls float64) {
	t.forget(c.Key)
	if t.Calls == 0 {
		return
	}
	period := float64((t.Period + t.Margin).Milliseconds())
	if t.Steady {
		period = float64(t.Period.Milliseconds())
	}
	t.posted, t.tat = !c.Edit, max(t.tat, due)+calls*period/float64(t.Calls)
	if !t.Steady {
		for range max(1, c.Calls) {
			t.turns = append(t.turns, due)
		}
		slices.Sort(t.turns)
	}
}

// HoldTurns implements bridge.Turns.
func (s *Store) HoldTurns(_ context.Context, c bridge.Call, n int, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := float64(s.Now().UnixMilli())
	held := s.limitOf(c, n)
	held.held = max(held.held, now+float64(d.Milliseconds()))
	if c.Key == "" {
		return nil
	}
	for k := range c.Limits {
		l := s.limitOf(c, k)
		l.waiting(c.Edit)[c.Key] = float64(c.Class) * classSpan // before all calls of its class
		l.asks[c.Key] = now + float64(bridge.AskAgain(d).Milliseconds())
	}
	return nil
}
