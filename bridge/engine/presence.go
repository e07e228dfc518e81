package engine

import (
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

// PresenceTTL is the time that a front end counts as connected after its last
// Join.
const PresenceTTL = 30 * time.Second

// Presence tracks the front ends of sessions in two indexes, sorted by the time
// when each front end counts as disconnected: an index of all front ends, and
// an index of those that can answer. Front ends of the empty session see every
// session, and count in each.
type Presence struct{ db documents.DB }

// NewPresence returns the front ends in a database.
func NewPresence(db documents.DB) Presence { return Presence{db} }

func presenceIndexes(session string) (all, able string) {
	return "clients:" + session, "able:" + session
}

// Join records for PresenceTTL that a front end is connected, and whether it can
// answer.
func (p Presence) Join(ctx context.Context, session, client string, enabled bool) error {
	all, able := presenceIndexes(session)
	now := p.db.Now()
	c := broker.Change{Urgent: true}
	for _, index := range []string{all, able} {
		gone, err := p.db.Range(ctx, broker.Query{Index: index, To: now})
		if err != nil {
			return documents.Public(err)
		}
		c.Unset = append(c.Unset, gone...)
	}
	m := broker.Member{Index: all, Name: client, At: now.Add(PresenceTTL), IndexTTL: 2 * PresenceTTL}
	c.Set = append(c.Set, m)
	m.Index = able
	if enabled {
		c.Set = append(c.Set, m)
	} else {
		c.Unset = append(c.Unset, m)
	}
	// A front end that left and came back is not removed.
	c.Unset = slices.DeleteFunc(c.Unset, func(u broker.Member) bool {
		return slices.ContainsFunc(c.Set, func(s broker.Member) bool { return s.Index == u.Index && s.Name == u.Name })
	})
	_, err := p.db.Do(ctx, c)
	return documents.Public(err)
}

// Leave removes a front end.
func (p Presence) Leave(ctx context.Context, session, client string) error {
	all, able := presenceIndexes(session)
	_, err := p.db.Do(ctx, broker.Change{Unset: []broker.Member{{Index: all, Name: client}, {Index: able, Name: client}}, Urgent: true})
	return documents.Public(err)
}

// Present returns the number of connected front ends, and of those that can answer.
func (p Presence) Present(ctx context.Context, session string) (clients, enabled int, err error) {
	where := []string{session}
	if session != "" {
		where = append(where, "") // the front ends of the empty session see every session
	}
	now := p.db.Now()
	for _, s := range where {
		all, able := presenceIndexes(s)
		n, err := p.count(ctx, all, now)
		if err != nil {
			return 0, 0, err
		}
		m, err := p.count(ctx, able, now)
		if err != nil {
			return 0, 0, err
		}
		clients, enabled = clients+n, enabled+m
	}
	return clients, enabled, nil
}

func (p Presence) count(ctx context.Context, index string, now time.Time) (int, error) {
	n, err := p.db.Count(ctx, index, now)
	return n, documents.Public(err)
}

// answers reports whether a front end of a session, or of every session, can answer.
func (p Presence) answers(ctx context.Context, session string) (bool, error) {
	_, enabled, err := p.Present(ctx, session)
	return enabled > 0, err
}
