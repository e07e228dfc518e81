package turns

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	// lostAfter is the time after which a call that did not ask again loses its
	// place, in ms.
	lostAfter = 15_000
	// orderGap is the time between calls to a channel that waited, in ms. It lets
	// them arrive in order.
	orderGap = 200
	// mostPlaces is the maximum number of posts, and of edits, with a place in a
	// line. It keeps the document small. Further calls ask again without a
	// place, in no order. The last call loses its place to one that goes before it.
	mostPlaces = 256
	// clockBack is the maximum time by which the clock is behind the last change
	// although no one has set it back, in ms.
	clockBack = 1000
)

// line is the document of a limit. Its times are in ms after At, and negative
// before it.
type line struct {
	At     int64   `json:"at"`               // time of the last change, in ms since 1970
	Held   int64   `json:"held,omitempty"`   // the platform allows no call until then
	Unused int64   `json:"unused,omitempty"` // when all calls of a steady limit are available again
	Turns  []int64 `json:"turns,omitempty"`  // turns of the last period, if the limit is not steady
	Posted bool    `json:"posted,omitempty"` // the last turn went to a post
	Posts  []place `json:"posts,omitempty"`  // calls that wait, in their order
	Edits  []place `json:"edits,omitempty"`
}

// place is the place of a call that waits.
type place struct {
	Key   string `json:"key"`
	Class int    `json:"class,omitempty"`
	// Since is the time when the call first asked, in ms since 1970. It is the
	// same in all lines, so that no two calls wait for each other. Zero stands
	// for a call that the platform refused.
	Since int64 `json:"since,omitempty"`
	Asks  int64 `json:"asks"` // time when the call asks again
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.Class, o.Class), cmp.Compare(p.Since, o.Since))
}

// limit is a limit during a change.
type limit struct {
	bridge.Limit
	line
	changed bool
	queue   int64 // calls that wait before this one; -1 if no call waits
	at      int64 // time when the limit allows the call
}

// move sets At to now, and adjusts the times that count from it. Calls that did not ask
// again in time lose their places. If the clock was set back, all calls lose them, because
// they ask again by the earlier clock.
func (l *line) move(now time.Time) {
	passed := now.UnixMilli() - l.At
	if passed < -clockBack {
		passed, l.Posts, l.Edits = 0, nil, nil
	}
	l.At, l.Held, l.Unused = now.UnixMilli(), max(0, l.Held-passed), max(0, l.Unused-passed)
	for n := range l.Turns {
		l.Turns[n] -= passed
	}
	for _, all := range []*[]place{&l.Posts, &l.Edits} {
		for n := range *all {
			(*all)[n].Asks -= passed
		}
		*all = slices.DeleteFunc(*all, func(p place) bool { return p.Asks <= -lostAfter })
	}
}

// waiting returns the edits or the posts that wait.
func (l *line) waiting(edit bool) *[]place {
	if edit {
		return &l.Edits
	}
	return &l.Posts
}

// take gives a call its turn within all limits, or its place in their lines. It
// returns the time in ms until its turn. Posts and edits alternate in the same
// order in all lines. For example, the last turn went to a post, and the posts
// a and b and the edit c wait. Their order is c, a, b. With one call a second,
// and the last turn at 10.0 s, their turns are at 11.0, 12.0 and 13.0 s.
func take(c bridge.Call, all []*limit) int64 {
	me, due := myPlace(c, all), int64(0)
	for n, l := range all {
		l.queue = l.ahead(me, c.Edit, all[len(all)-1].Posted)
		l.at = l.earliest(c, n == 0)
		due = max(due, l.at)
	}
	if due <= bridge.WaitForTurn.Milliseconds() {
		for _, l := range all {
			l.use(c, due)
		}
		return due
	}
	if me.Asks = due; due >= bridge.HalfwayFrom.Milliseconds() {
		me.Asks = due / 2
	}
	for n, l := range all {
		// The call waits in the line of its channel, and in that of any other limit
		// that allows it no earlier.
		if l.leave(c.Key); n == 0 || l.at >= all[0].at {
			l.join(me, c.Edit)
		}
	}
	return due
}

// hold stops the calls of a limit for d ms. The call that the platform refused goes
// first after that.
func hold(c bridge.Call, all []*limit, which int, d time.Duration) {
	held := all[which]
	held.Held, held.changed = max(held.Held, d.Milliseconds()), true
	if c.Key == "" {
		return
	}
	for _, l := range all {
		l.leave(c.Key)
		l.join(place{Key: c.Key, Class: c.Class, Asks: bridge.AskAgain(d).Milliseconds()}, c.Edit)
	}
}

// myPlace returns the place that a call has, or the one after all calls of its class.
func myPlace(c bridge.Call, all []*limit) place {
	me := place{Key: c.Key, Class: c.Class, Since: all[0].At}
	for _, l := range all {
		for _, p := range *l.waiting(c.Edit) {
			if p.Key == c.Key {
				me.Since = p.Since
				return me
			}
			if p.Class == c.Class {
				me.Since = max(me.Since, p.Since+1)
			}
		}
	}
	return me
}

// ahead returns the number of calls that wait before a place, or -1 if no call
// waits. Posted means that the last turn went to a post.
func (l *limit) ahead(me place, edit, posted bool) int64 {
	if len(l.Posts)+len(l.Edits) == 0 {
		return -1
	}
	n, _ := slices.BinarySearchFunc(*l.waiting(edit), me, place.compare)
	others := n + 1
	if edit == posted { // this kind is next
		others = n
	}
	return int64(n + min(others, len(*l.waiting(!edit))))
}

// earliest returns the time when a limit allows the call. channel means that it is
// the limit of a channel.
func (l *limit) earliest(c bridge.Call, channel bool) int64 {
	at, calls := l.Held, int64(l.Calls)
	if calls == 0 {
		return at
	}
	ahead := max(0, l.queue) + max(1, int64(c.Calls)) - 1 // before the last call of this turn
	if l.Steady {
		early := max(0, l.period()-l.pace()-l.Margin.Milliseconds())
		return max(at, max(at, l.Unused)+ahead*l.pace()-early)
	}
	period := l.period()
	l.Turns = slices.DeleteFunc(l.Turns, func(turn int64) bool { return turn <= -period })
	free := calls - int64(len(l.Turns))
	allowed := func(n int64) int64 { // the call after the next n
		if n < free {
			return at
		}
		return max(at, l.Turns[n-free]+period)
	}
	later := ahead / calls * period
	due := allowed(ahead%calls) + later
	if l.queue < 0 || !channel { // only the calls to a channel have to arrive in order
		return due
	}
	if free > 0 {
		// A call that waits keeps its time, because those ahead of it may ask later.
		own := *l.waiting(c.Edit)
		if n := find(own, c.Key); n >= 0 {
			return max(due, own[n].Asks)
		}
		return due
	}
	gap := min(orderGap, period/calls/2) // at most half of the pace of the limit, so that no turn is wasted
	following := l.Turns[len(l.Turns)-1] + gap
	return max(due, max(allowed(0)+later, following)+l.queue%calls*gap)
}

// period returns the time in which the limit allows its calls, in ms.
func (l *limit) period() int64 {
	if l.Steady {
		return l.Period.Milliseconds()
	}
	return (l.Period + l.Margin).Milliseconds()
}

// pace returns the time after which a steady limit allows another call, in ms.
func (l *limit) pace() int64 { return (l.period() + int64(l.Calls) - 1) / int64(l.Calls) }

// use records that the call is made at a time.
func (l *limit) use(c bridge.Call, at int64) {
	l.leave(c.Key)
	if l.Calls == 0 {
		return
	}
	calls := max(1, c.Calls)
	l.Posted, l.changed = !c.Edit, true
	if l.Steady {
		l.Unused = max(l.Unused, at) + int64(calls)*l.pace()
		return
	}
	l.Turns = append(l.Turns, slices.Repeat([]int64{at}, calls)...)
	slices.Sort(l.Turns)
}

func find(all []place, key string) int {
	return slices.IndexFunc(all, func(p place) bool { return p.Key == key })
}

// leave removes a call from the line.
func (l *limit) leave(key string) {
	for _, all := range []*[]place{&l.Posts, &l.Edits} {
		if n := find(*all, key); n >= 0 {
			*all, l.changed = slices.Delete(*all, n, n+1), true
		}
	}
}

// join adds a call to the line, unless it would be last in a full line.
func (l *limit) join(me place, edit bool) {
	all := l.waiting(edit)
	n, _ := slices.BinarySearchFunc(*all, me, place.compare)
	if n == mostPlaces {
		return
	}
	*all, l.changed = slices.Insert(*all, n, me), true
	*all = (*all)[:min(len(*all), mostPlaces)]
}
