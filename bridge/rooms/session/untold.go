package session

import (
	"context"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/broker"
)

// steeringGrace is the time after which nod reports to the author that a message
// still waits.
const steeringGrace = 2 * time.Second

// untoldIndex is the index of the messages whose authors need a report, by
// time.
const untoldIndex = "untold"

// untold schedules a report to the author of the message.
func untold(id string, at time.Time) broker.Member {
	return broker.Member{Index: untoldIndex, Name: id, At: at}
}

// Untold returns up to limit messages whose authors must get a new
// status, and leases them to the caller.
func (b *Inbox) Untold(ctx context.Context, limit int, lease time.Duration) ([]bridge.Steering, error) {
	now := b.db.Now()
	due, err := b.db.Range(ctx, broker.Query{Index: untoldIndex, To: now, N: limit})
	if err != nil {
		return nil, documents.Public(err)
	}
	var out []bridge.Steering
	for _, due := range due {
		m, mine, err := b.lease(ctx, due.Name, now, lease)
		if err != nil {
			return out, err
		}
		if mine {
			out = append(out, m.public())
		}
	}
	return out, nil
}

// lease leases a message that is due, and reports whether no one else holds the
// lease. An old message expires.
func (b *Inbox) lease(ctx context.Context, id string, now time.Time, lease time.Duration) (m message, mine bool, err error) {
	m, d, err := messageDocs.Get(ctx, b.db, id)
	forged := isForged(err)
	switch {
	case forged:
		b.db.Refused(err)
	case errors.As(err, new(*broker.NewerError)): // a newer daemon reports to its author
		b.db.Refused(err)
		return m, false, nil
	case err != nil:
		return m, false, documents.Public(err)
	}
	if forged || !d.Exists() {
		_, err := b.db.Do(ctx, broker.Change{Unset: []broker.Member{untold(id, now)}, Urgent: true})
		return m, false, documents.Public(err)
	}
	if now.Before(m.Leased) {
		return m, false, nil
	}
	c := broker.Change{Urgent: true}
	if m.Fate == bridge.FateWaiting && now.Sub(m.Put) >= bridge.SteeringTTL {
		m.Fate, m.Done = bridge.FateExpired, now
		c.Unset, c.Replicated = []broker.Member{b.member(m.Agent, m.Session, id)}, true
	}
	m.Leased, d.Keep = now.Add(lease), messageKeep
	next, err := messageDocs.Encode(d, &m)
	if err != nil {
		return m, false, documents.Public(err)
	}
	c.Put, c.Set = []broker.Doc{next}, []broker.Member{untold(id, m.Leased)}
	_, err = b.db.Do(ctx, c)
	if errors.As(err, new(*broker.Stale)) {
		return m, false, nil // another process was first
	}
	return m, err == nil, documents.Public(err)
}

// Told records Told and Note of a message.
func (b *Inbox) Told(ctx context.Context, s bridge.Steering) error {
	_, err := messageDocs.Update(ctx, b.db, s.ID, func(m *message, d *broker.Doc) (broker.Change, error) {
		if !d.Exists() {
			return broker.Change{}, broker.ErrUnchanged
		}
		m.Told, m.Note, m.Leased, d.Keep = s.Told, s.Note, time.Time{}, messageKeep
		c := broker.Change{Urgent: true}
		switch {
		case m.Fate != s.Told: // the message has changed in the meantime
			c.Set = []broker.Member{untold(m.ID, b.db.Now())}
		case m.Fate == bridge.FateWaiting:
			c.Set = []broker.Member{untold(m.ID, m.Put.Add(bridge.SteeringTTL))}
		default:
			c.Unset = []broker.Member{untold(m.ID, time.Time{})}
		}
		return c, nil
	})
	return documents.Public(err)
}
