package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// lineupWait is the longest time that a card waits for earlier cards of its
// agent. It matters only if a platform is slow to respond.
const lineupWait = 5 * time.Second

// lineup lets the cards of one agent appear in a channel in the order of their
// requests, although several jobs run at the same time. A card waits for the
// earlier cards that this process works on. It does not wait for a card that is
// to be retried later.
type lineup struct {
	mu      sync.Mutex
	entries []*place
	changed chan struct{} // closed and replaced at each change
}

// place is the position of a post job in the lineup.
type place struct {
	id bridge.ID
	// key identifies the agent and the channel. It is empty until the record is
	// loaded, and all later places wait until then.
	key string
}

func newLineup() *lineup { return &lineup{changed: make(chan struct{})} }

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
	d := r.Interaction.Destinations[destination]
	l.mu.Lock()
	p.key = strings.Join([]string{r.Interaction.Agent, d.Platform, d.Channel, d.Thread}, "\x00")
	l.signal()
	l.mu.Unlock()
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
