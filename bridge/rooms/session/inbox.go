package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

const (
	// steeringGrace is the time after which nod reports to the author that a
	// message still waits.
	steeringGrace = 2 * time.Second
	// steeringKept is the time for which a message is kept after nod has
	// reported its outcome to the author.
	steeringKept = time.Hour
	steeringKeep = 2 * bridge.SteeringTTL
)

// Steerings stores the messages from people for sessions until their agents
// have taken them, and the status that the authors know. It is safe for
// concurrent use.
type Steerings struct{ db documents.DB }

// NewSteerings returns the messages in a database.
func NewSteerings(db documents.DB) *Steerings { return &Steerings{db} }

// inbox holds the messages that wait in a session, and their reader.
type inbox struct {
	Waiting   []string  `json:"waiting,omitempty"` // IDs, oldest first
	Last      int64     `json:"last,omitempty"`    // time of the last ID, in ms
	Reader    string    `json:"reader,omitempty"`
	Until     time.Time `json:"until,omitzero"`      // end of the reader's lease
	Continued int       `json:"continued,omitempty"` // number of times in a row that the reader's turn was continued
}

// steered is a message from a person.
type steered struct {
	bridge.Steering
	Put    time.Time          `json:"put"`
	Told   bridge.Fate        `json:"told,omitempty"`
	Note   *bridge.MessageRef `json:"note,omitempty"`
	Reader string             `json:"reader,omitempty"` // last reader that took the message
	Leased time.Time          `json:"leased,omitzero"`  // end of the lease of the daemon that reports to its author
}

var (
	inboxDocs    = broker.NewDocs[inbox]("inbox", 1)
	steeringDocs = broker.NewDocs[steered]("steering", 1)
	// steeringKeys map the key of a message to its ID.
	steeringKeys = broker.NewDocs[string]("steering-key", 1)
)

// untoldIndex is the index of the messages whose authors need a report, by
// time.
const untoldIndex = "untold"

// message returns the message in its public form.
func (s steered) message() bridge.Steering {
	out := s.Steering
	out.Told, out.Note = s.Told, s.Note
	return out
}

// untold schedules a report to the author of the message.
func untold(id string, at time.Time) broker.Member {
	return broker.Member{Index: untoldIndex, Name: id, At: at}
}

// PutSteering appends a message to the messages of its session, and returns it
// with its ID. If an earlier message has the same nonempty key, it returns that
// message. It returns CodeRateLimited if bridge.MaxSteerings messages are
// waiting.
func (ss *Steerings) PutSteering(ctx context.Context, s bridge.Steering, key string) (bridge.Steering, error) {
	if err := documents.RequireSession(s.Session); err != nil {
		return s, err
	}
	sum := sha256.Sum256([]byte(life.Owner(s.Agent, s.Session) + "\x00" + key))
	out := s
	_, err := inboxDocs.Update(ctx, ss.db, life.Owner(s.Agent, s.Session), func(in *inbox, d *broker.Doc) (broker.Change, error) {
		var c broker.Change
		known, keyDoc, err := steeringKeys.Get(ctx, ss.db, hex.EncodeToString(sum[:]))
		if err == nil && key != "" && known != "" {
			var first steered
			var doc broker.Doc
			if first, doc, err = steeringDocs.Get(ctx, ss.db, known); err == nil && doc.Exists() {
				out = first.message()
				return c, cmp.Or(ss.db.Confirm(ctx, doc.At()), broker.ErrUnchanged) // the message may not be on the replicas yet
			}
		}
		if err != nil {
			return c, err
		}
		if len(in.Waiting) >= bridge.MaxSteerings {
			return c, bridge.Errorf(bridge.CodeRateLimited, "too many messages wait for this session (at most %d)", bridge.MaxSteerings)
		}
		now := ss.db.Now()
		in.Last = max(now.UnixMilli(), in.Last+1)
		out.ID, out.Fate = fmt.Sprintf("%d-%d", in.Last, rand.IntN(1e9)), bridge.FateWaiting
		in.Waiting, d.Keep = append(in.Waiting, out.ID), steeringKeep
		m, err := steeringDocs.Encode(broker.Doc{Key: steeringDocs.Key(out.ID), Keep: steeringKeep}, &steered{Steering: out, Put: now})
		c = broker.Change{Put: []broker.Doc{m}, Set: []broker.Member{untold(out.ID, now.Add(steeringGrace))}, Replicated: true}
		if err == nil && key != "" {
			keyDoc.Keep = steeringKeep
			keyDoc, err = steeringKeys.Encode(keyDoc, &out.ID)
			c.Put = append(c.Put, keyDoc)
		}
		return c, err
	})
	return out, documents.Public(err)
}

// waiting returns at most n waiting messages, and the IDs without those of
// deleted messages.
func (ss *Steerings) waiting(ctx context.Context, ids []string) (all []steered, docs []broker.Doc, rest []string, err error) {
	if len(ids) == 0 {
		return nil, nil, nil, nil
	}
	keys := make([]broker.Key, len(ids))
	for n, id := range ids {
		keys[n] = steeringDocs.Key(id)
	}
	found, err := ss.db.Get(ctx, keys...)
	if err != nil {
		return nil, nil, nil, err
	}
	for n, d := range found {
		m, err := steeringDocs.Decode(d)
		var forged *broker.ForgedError
		if errors.As(err, &forged) {
			ss.db.Refused(err)
			continue
		}
		if err != nil {
			return nil, nil, nil, err
		}
		if d.Exists() {
			all, docs, rest = append(all, m), append(docs, d), append(rest, ids[n])
		}
	}
	return all, docs, rest, nil
}

// TakeSteerings returns the oldest waiting messages, unless another reader has
// a lease on them.
func (ss *Steerings) TakeSteerings(ctx context.Context, t bridge.Taking) ([]bridge.Steering, error) {
	if err := documents.RequireSession(t.Session); err != nil {
		return nil, err
	}
	var out []bridge.Steering
	_, err := inboxDocs.Update(ctx, ss.db, life.Owner(t.Agent, t.Session), func(in *inbox, d *broker.Doc) (broker.Change, error) {
		out = []bridge.Steering{}
		var c broker.Change
		now, before := ss.db.Now(), *in
		d.Keep = steeringKeep
		if t.Continued != nil {
			in.Continued++
			if !*t.Continued {
				in.Continued = 0
			}
		}
		if in.Continued >= bridge.MaxContinued && t.Continued != nil || in.Reader != "" && in.Reader != t.Reader && now.Before(in.Until) {
			return c, unchanged(in.Continued == before.Continued)
		}
		all, docs, rest, err := ss.waiting(ctx, in.Waiting[:min(t.Limit, len(in.Waiting))])
		if err != nil {
			return c, err
		}
		in.Waiting = append(rest, in.Waiting[min(t.Limit, len(in.Waiting)):]...)
		for n, m := range all {
			s := m.message()
			if t.Reader != "" {
				s.Again = m.Reader != ""
				m.Reader, docs[n].Keep = t.Reader, steeringKeep
				next, err := steeringDocs.Encode(docs[n], &m)
				if err != nil {
					return c, err
				}
				c.Put = append(c.Put, next)
			}
			out = append(out, s)
		}
		if len(all) > 0 && t.Reader != "" {
			in.Reader, in.Until = t.Reader, now.Add(t.Lease)
		}
		return c, unchanged(len(c.Put) == 0 && in.Continued == before.Continued && len(in.Waiting) == len(before.Waiting))
	})
	return out, documents.Public(err)
}

// EndSteerings ends the wait of the messages of a session, up to and including
// the given one, or of all its messages if through is empty. It returns their
// number.
func (ss *Steerings) EndSteerings(ctx context.Context, agent, session, through string, f bridge.Fate) (int, error) {
	if err := documents.RequireSession(session); err != nil {
		return 0, err
	}
	if through != "" {
		if err := checkMessage(through); err != nil {
			return 0, err
		}
	}
	done := 0
	_, err := inboxDocs.Update(ctx, ss.db, life.Owner(agent, session), func(in *inbox, d *broker.Doc) (broker.Change, error) {
		c := broker.Change{Urgent: true, Replicated: true}
		n := 0
		for n < len(in.Waiting) && (through == "" || bridge.CompareMessages(in.Waiting[n], through) <= 0) {
			n++
		}
		all, docs, _, err := ss.waiting(ctx, in.Waiting[:n])
		if err != nil {
			return c, err
		}
		now := ss.db.Now()
		for k, m := range all {
			m.Fate, m.Done, docs[k].Keep = f, now, steeringKeep
			next, err := steeringDocs.Encode(docs[k], &m)
			if err != nil {
				return c, err
			}
			c.Put, c.Set = append(c.Put, next), append(c.Set, untold(m.ID, now))
		}
		done = len(all)
		reader := in.Reader
		in.Waiting, in.Reader, in.Until, d.Keep = in.Waiting[n:], "", time.Time{}, steeringKeep
		return c, unchanged(n == 0 && reader == "")
	})
	return done, documents.Public(err)
}

// Steering returns a message. It returns CodeNotFound if it is unknown or was delivered
// long ago.
func (ss *Steerings) Steering(ctx context.Context, session, id string) (bridge.Steering, error) {
	m, d, err := steeringDocs.Get(ctx, ss.db, id)
	if err == nil && (!d.Exists() || m.Session != session) {
		return bridge.Steering{}, bridge.Errorf(bridge.CodeNotFound, "message %q not found", id)
	}
	return m.message(), documents.Public(err)
}

// UntoldSteerings returns up to limit messages whose authors must get a new
// status, and leases them to the caller. It expires old messages.
func (ss *Steerings) UntoldSteerings(ctx context.Context, limit int, lease time.Duration) ([]bridge.Steering, error) {
	now := ss.db.Now()
	due, err := ss.db.Range(ctx, broker.Query{Index: untoldIndex, To: now, N: limit})
	if err != nil {
		return nil, documents.Public(err)
	}
	var out []bridge.Steering
	for _, due := range due {
		m, mine, err := ss.lease(ctx, due.Name, now, lease)
		if err != nil {
			return out, err
		}
		if !mine {
			continue
		}
		if m.Fate == bridge.FateWaiting && now.Sub(m.Put) >= bridge.SteeringTTL {
			if _, err := ss.EndSteerings(ctx, m.Agent, m.Session, m.ID, bridge.FateExpired); err != nil {
				return out, err
			}
			continue // the expired message is due again
		}
		out = append(out, m.message())
	}
	return out, nil
}

// lease leases a message that is due, and reports whether no one else holds the
// lease.
func (ss *Steerings) lease(ctx context.Context, id string, now time.Time, lease time.Duration) (m steered, mine bool, err error) {
	m, d, err := steeringDocs.Get(ctx, ss.db, id)
	var forged *broker.ForgedError
	if errors.As(err, &forged) {
		ss.db.Refused(err)
	} else if err != nil {
		return m, false, documents.Public(err)
	}
	if forged != nil || !d.Exists() {
		_, err := ss.db.Do(ctx, broker.Change{Unset: []broker.Member{untold(id, now)}, Urgent: true})
		return m, false, documents.Public(err)
	}
	if now.Before(m.Leased) {
		return m, false, nil
	}
	m.Leased, d.Keep = now.Add(lease), steeringKeep
	next, err := steeringDocs.Encode(d, &m)
	if err != nil {
		return m, false, documents.Public(err)
	}
	_, err = ss.db.Do(ctx, broker.Change{Put: []broker.Doc{next}, Set: []broker.Member{untold(id, m.Leased)}, Urgent: true})
	var stale *broker.Stale
	if errors.As(err, &stale) {
		return m, false, nil // another process was first
	}
	return m, err == nil, documents.Public(err)
}

// ToldSteering records Told and Note of a message.
func (ss *Steerings) ToldSteering(ctx context.Context, s bridge.Steering) error {
	_, err := steeringDocs.Update(ctx, ss.db, s.ID, func(m *steered, d *broker.Doc) (broker.Change, error) {
		if !d.Exists() {
			return broker.Change{}, broker.ErrUnchanged
		}
		m.Told, m.Note, m.Leased, d.Keep = s.Told, s.Note, time.Time{}, steeringKeep
		c := broker.Change{Urgent: true}
		switch {
		case m.Fate != s.Told: // the message has changed in the meantime
			c.Set = []broker.Member{untold(m.ID, ss.db.Now())}
		case m.Fate == bridge.FateWaiting:
			c.Set = []broker.Member{untold(m.ID, m.Put.Add(bridge.SteeringTTL))}
		default:
			c.Unset, d.Keep = []broker.Member{untold(m.ID, time.Time{})}, steeringKept
		}
		return c, nil
	})
	return documents.Public(err)
}

// unchanged returns ErrUnchanged if the argument is true, and nil otherwise.
func unchanged(is bool) error {
	if is {
		return broker.ErrUnchanged
	}
	return nil
}
