package desk

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/render"
)

// Suggest implements bridge.Suggester.
func (d *Desk) Suggest(ctx context.Context, c bridge.Command, n int) ([]bridge.Suggestion, error) {
	word, typed, _ := strings.Cut(strings.TrimSpace(c.Text), " ")
	switch strings.ToLower(word) {
	case "show", "cancel":
		return d.suggestRequests(ctx, c.Actor, typed, n)
	case "revoke":
		return d.suggestGrants(ctx, c, typed, n)
	}
	return nil, nil
}

// suggestRequests suggests the pending requests that a person may read, the next
// deadline first.
func (d *Desk) suggestRequests(ctx context.Context, who bridge.Actor, typed string, n int) ([]bridge.Suggestion, error) {
	of := func(r bridge.Record) bridge.Suggestion {
		i := r.Interaction
		return bridge.Suggestion{Value: string(i.ID), Label: render.Title(r), Note: render.Line(i.Agent) + ", " + i.Left(time.Now()) + " left"}
	}
	all, err := d.lately.pending(ctx, d.engine)
	if err != nil {
		return nil, err
	}
	var out []bridge.Suggestion
	for _, r := range all {
		s := of(r)
		if len(out) == n || !s.Matches(typed) {
			continue
		}
		if d.engine.People.MayRead(ctx, r.Interaction, who) {
			out = append(out, s)
		}
	}
	return out, nil
}

// latelyKept is the time for which suggestions reuse the same pending requests,
// because a client asks for suggestions at each key.
const latelyKept = 3 * time.Second

// lately caches recent pending requests.
type lately struct {
	mu   sync.Mutex
	read time.Time
	all  []bridge.Record
}

// pending returns the newest pending requests, redacted.
func (l *lately) pending(ctx context.Context, e *engine.Engine) ([]bridge.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.read) < latelyKept {
		return l.all, nil
	}
	all, _, err := e.Pending(ctx, 0, func(bridge.Record) (bool, error) { return true, nil })
	if err == nil {
		l.all, l.read = all.Items, time.Now()
	}
	return all.Items, err
}

// suggestGrants suggests the grants that a person may revoke.
func (d *Desk) suggestGrants(ctx context.Context, c bridge.Command, typed string, n int) ([]bridge.Suggestion, error) {
	if ok, _ := d.mayAnswerIn(ctx, c); !ok {
		return nil, nil
	}
	all, err := d.grants.ListFor(ctx, c.Actor)
	if err != nil {
		return nil, err
	}
	var out []bridge.Suggestion
	for _, g := range all.Items {
		s := bridge.Suggestion{Value: g.ID(), Label: g.Words(), Note: render.Line(g.Agent)}
		if len(out) < n && s.Matches(typed) {
			out = append(out, s)
		}
	}
	return out, nil
}
