package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// lineupWait is the longest time that a card waits for earlier cards of its agent
// before it gives back its job, which leaves enough of jobTimeout to post it. It is
// also the time after which it checks whether the first card of its line is lost.
// An opening joins a line shortly before it has a record.
const lineupWait = jobLease

// lineupKept is the time after its last try for which a card of this process
// counts as one that will be tried again. A busy process may take longer than
// lineupWait.
const lineupKept = jobTimeout + jobLease

// A card that waits for a card of another daemon is woken when it is its turn. In
// case that daemon dies before, the card tries again after lineStep for each card
// ahead of it, but not sooner than linePoll or later than linePause, which is less
// than lineupKept.
const (
	linePoll  = time.Second
	linePause = 20 * time.Second
	lineStep  = 100 * time.Millisecond
)

// errTurn means that earlier cards are not posted yet. The card keeps its place.
var errTurn = errors.New("earlier cards are not posted yet")

// lineup lets the cards of one agent appear in a channel in the order of their
// requests, although several jobs run at the same time. The order across daemons
// is that of the lines in the store. A card that is in no line waits for the
// earlier cards that this process works on. No card waits for one that is to be
// retried later, unless the platform refused it because of a rate limit, which
// holds up the other cards as well.
type lineup struct {
	mu      sync.Mutex
	entries []*place
	changed chan struct{}    // closed and replaced at each change
	since   map[waiter]stuck // the cards that left their place without being posted
}

// place is the position of a post job in the lineup.
type place struct {
	id bridge.ID
	// key identifies the agent and the channel. It is empty until the record is
	// loaded, and all later places wait until then.
	key string
	// line is the line of the store that the card is in. It is empty until
	// the line is read, and if the card is in none.
	line string
	// behind is the number of cards of other daemons ahead of it.
	behind int
}

// waiter is a card in a line.
type waiter struct {
	id   bridge.ID
	line string
}

// stuck is the first card of a line, and when another card saw it first and last.
type stuck struct {
	head     bridge.ID
	at, last time.Time
}

func newLineup() *lineup {
	return &lineup{changed: make(chan struct{}), since: map[waiter]stuck{}}
}

// enter adds the post jobs among those that were claimed together. It must be
// called before any of them runs.
func (l *lineup) enter(jobs []bridge.Job) map[string]*place {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]*place{}
	for _, j := range jobs {
		if j.Kind == bridge.JobPost {
			p := &place{id: j.Interaction}
			l.entries = append(l.entries, p)
			out[j.ID] = p
		}
	}
	return out
}

// await sets the agent and channel of a place, and waits until no earlier card
// for them is being posted. It reports whether it had to wait. IDs are in the
// order of creation.
func (l *lineup) await(ctx context.Context, p *place, r bridge.Record, destination int) (waited bool) {
	if p == nil {
		return false
	}
	l.name(p, r.Interaction.Line(destination))
	limit := time.NewTimer(lineupWait)
	defer limit.Stop()
	for {
		l.mu.Lock()
		blocked := slices.ContainsFunc(l.entries, func(o *place) bool {
			return o.id < p.id && (o.key == "" || o.key == p.key)
		})
		changed := l.changed
		l.mu.Unlock()
		if !blocked {
			return waited
		}
		waited = true
		select {
		case <-changed:
		case <-limit.C:
			return true
		case <-ctx.Done():
			return true
		}
	}
}

// name sets the agent and the channel of a place.
func (l *lineup) name(p *place, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.key = key
	l.signal()
}

// follow waits until this process has posted the cards ahead of a place in its
// line. It returns the cards that are still ahead, and whether it had to wait. It
// does not wait for those that this process does not work on, and for others at
// most for lineupWait.
func (l *lineup) follow(ctx context.Context, p *place, ahead []bridge.ID) (others []bridge.ID, waited bool) {
	l.name(p, p.line)
	limit := time.NewTimer(lineupWait)
	defer limit.Stop()
	here := map[bridge.ID]bool{}
	for {
		var own []bridge.ID
		others = nil
		l.mu.Lock()
		for _, id := range ahead {
			_, waits := l.since[waiter{id, p.key}]
			has := func(key string) bool {
				return slices.ContainsFunc(l.entries, func(o *place) bool { return o.id == id && o.key == key })
			}
			switch {
			case has(p.key):
				here[id] = true
				own = append(own, id)
			case has(""):
				own = append(own, id)
			case !here[id] || waits:
				others = append(others, id)
			}
		}
		changed := l.changed
		l.mu.Unlock()
		if len(own) == 0 || len(others) > 0 {
			return others, waited
		}
		waited = true
		select {
		case <-changed:
		case <-limit.C:
			return own, true
		case <-ctx.Done():
			return own, true
		}
	}
}

// forget notes that a card is posted now.
func (l *lineup) forget(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, waiter{p.id, p.key})
}

// keep lets a card keep its place in its line until it is tried again. It returns
// false if the card has none.
func (l *lineup) keep(p *place) bool {
	if p == nil || p.line == "" {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since[waiter{p.id, p.key}] = stuck{head: p.id, at: time.Now(), last: time.Now()}
	return true
}

// tired notes that a card waits for the first card of its line, and reports whether
// it has waited for so long that the first card may be lost.
func (l *lineup) tired(p *place, head bridge.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.since, func(_ waiter, s stuck) bool { return time.Since(s.last) > lineupKept })
	w := waiter{p.id, p.key}
	s, ok := l.since[w]
	if !ok || s.head != head {
		s = stuck{head: head, at: time.Now()}
	}
	s.last = time.Now()
	l.since[w] = s
	return time.Since(s.at) >= lineupWait
}

// again returns the delay until a card tries again if it is not woken.
func (p *place) again() time.Duration {
	return min(max(time.Duration(p.behind)*lineStep, linePoll), linePause)
}

// leave removes a place.
func (l *lineup) leave(p *place) {
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(o *place) bool { return o == p })
	l.signal()
}

// signal wakes all waiting jobs. The caller must hold l.mu.
func (l *lineup) signal() {
	close(l.changed)
	l.changed = make(chan struct{})
}
