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
// of the last Join: an index of all front ends, and an index of those that can
// answer. Front ends of the empty session see every session, and count in each.
type Presence struct{ db documents.DB }

// NewPresence returns the front ends in a database.
func NewPresence(db documents.DB) Presence { return Presence{db} }

func clientsIndex(session string) string { return "clients:" + session }

func ableIndex(session string) string { return "able:" + session }

// Join records for PresenceTTL that a front end is connected, and whether it can
// answer.
func (p Presence) Join(ctx context.Context, session, client string, enabled bool) error {
	m := broker.Member{Index: clientsIndex(session), Name: client, At: p.db.Now(), IndexTTL: PresenceTTL}
	c := broker.Change{Set: []broker.Member{m}, Urgent: true}
	m.Index = ableIndex(session)
	if enabled {
		c.Set = append(c.Set, m)
	} else {
		c.Unset = append(c.Unset, m)
	}
	_, err := p.db.Do(ctx, c)
	return documents.Public(err)
}

// Leave removes a front end.
func (p Presence) Leave(ctx context.Context, session, client string) error {
	gone := []broker.Member{{Index: clientsIndex(session), Name: client}, {Index: ableIndex(session), Name: client}}
	_, err := p.db.Do(ctx, broker.Change{Unset: gone, Urgent: true})
	return documents.Public(err)
}

// Present returns the number of connected front ends, and of those that can answer.
func (p Presence) Present(ctx context.Context, session string) (clients, enabled int, err error) {
	if clients, err = p.count(ctx, session, clientsIndex); err != nil {
		return 0, 0, err
	}
	enabled, err = p.count(ctx, session, ableIndex)
	return clients, enabled, err
}

// answers reports whether a front end can answer requests of a session.
func (p Presence) answers(ctx context.Context, session string) (bool, error) {
	enabled, err := p.count(ctx, session, ableIndex)
	return enabled > 0, err
}

// count returns the number of connected front ends in an index of a session, and in
// that of the empty session, whose front ends see every session.
func (p Presence) count(ctx context.Context, session string, index func(session string) string) (int, error) {
	from, sum := p.db.Now().Add(-PresenceTTL), 0
	for _, s := range slices.Compact([]string{session, ""}) {
		n, err := p.db.Count(ctx, index(s), from)
		if err != nil {
			return 0, documents.Public(err)
		}
		sum += n
	}
	return sum, nil
}
