package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// stops implements bridge.Stops.
type stops struct{ *shared }

var stopDocs = broker.NewDocs[bridge.Stop]("stop", 1)

// stopIndex is the index of the stopped sessions.
const stopIndex = "stops"

// sessionEvent is the entry of the journal about a change of a session.
func sessionEvent(kind bridge.EventType, agent, session string, by bridge.Actor) broker.Entry {
	raw, _ := bridge.EncodeJSON(&by) // encoding a plain struct never fails
	return life.Entry(kind, "", life.Life{Agent: agent, Session: session}, "", string(raw), "")
}

// PutStop implements bridge.Stops.
func (ss stops) PutStop(ctx context.Context, s bridge.Stop) (bridge.Stop, error) {
	if err := requireSession(s.Session); err != nil {
		return bridge.Stop{}, err
	}
	name, now := life.Owner(s.Agent, s.Session), s
	_, err := stopDocs.Update(ctx, ss.db, name, func(stored *bridge.Stop, d *broker.Doc) (broker.Change, error) {
		if d.Exists() {
			now = *stored
			return broker.Change{}, broker.ErrUnchanged
		}
		*stored, now = s, s
		return broker.Change{
			Below: []broker.Bound{{Index: stopIndex, Max: bridge.MaxStopped}}, Set: []broker.Member{{Index: stopIndex, Name: name}},
			Journal: []broker.Entry{sessionEvent(bridge.EventStopped, s.Agent, s.Session, s.By)}, Replicated: true, Urgent: true,
		}, nil
	})
	var full broker.Full
	if errors.As(err, &full) {
		return bridge.Stop{}, bridge.Errorf(bridge.CodeRateLimited, "too many stopped sessions (at most %d)", bridge.MaxStopped).
			WithHint("resume the sessions that no longer exist: list them with nod sessions list")
	}
	return now, public(err)
}

// DropStop implements bridge.Stops.
func (ss stops) DropStop(ctx context.Context, agent, session string, by bridge.Actor) (stopped bool, err error) {
	if err := requireSession(session); err != nil {
		return false, err
	}
	name := life.Owner(agent, session)
	err = broker.Retry(ctx, func() error {
		docs, err := ss.db.Get(ctx, stopDocs.Key(name))
		if err != nil {
			return err
		}
		if !docs[0].Exists() {
			return nil
		}
		stopped = true
		_, err = ss.db.Do(ctx, broker.Change{
			Drop: []broker.Version{docs[0].At()}, Unset: []broker.Member{{Index: stopIndex, Name: name}},
			Journal: []broker.Entry{sessionEvent(bridge.EventResumed, agent, session, by)}, Replicated: true, Urgent: true,
		})
		return err
	})
	return stopped, public(err)
}

// Stopped implements bridge.Stops.
func (ss stops) Stopped(ctx context.Context, agent, session string) (bridge.Stop, bool, error) {
	if session == "" {
		return bridge.Stop{}, false, nil
	}
	s, d, err := stopDocs.Get(ctx, ss.db, life.Owner(agent, session))
	return s, d.Exists() && err == nil, public(err)
}

// ListStops implements bridge.Stops.
func (ss stops) ListStops(ctx context.Context, agent string) ([]bridge.Stop, error) {
	all, err := ss.db.Range(ctx, broker.Query{Index: stopIndex})
	if err != nil {
		return nil, public(err)
	}
	out, err := stopDocs.List(ctx, ss.db, owned(names(all), agent), ss.refused)
	return out, public(err)
}

// presence implements bridge.Presence. The connected front ends of a session
// are in two indexes: one of all front ends, and one of the front ends that can
// answer. Both are ordered by the time when a front end counts as disconnected.
// Front ends of every session are in the indexes of the empty session.
type presence struct{ *shared }

func presenceIndexes(session string) (all, able string) {
	return "clients:" + session, "able:" + session
}

// Join implements bridge.Presence.
func (ps presence) Join(ctx context.Context, session, client string, enabled bool) error {
	all, able := presenceIndexes(session)
	now := ps.db.Now()
	c := broker.Change{Urgent: true}
	for _, index := range []string{all, able} {
		gone, err := ps.db.Range(ctx, broker.Query{Index: index, To: now})
		if err != nil {
			return public(err)
		}
		c.Unset = append(c.Unset, gone...)
	}
	m := broker.Member{Index: all, Name: client, At: now.Add(bridge.PresenceTTL), IndexTTL: 2 * bridge.PresenceTTL}
	c.Set = append(c.Set, m)
	m.Index = able
	if enabled {
		c.Set = append(c.Set, m)
	} else {
		c.Unset = append(c.Unset, m)
	}
	// The removal does not affect a front end that left and came back.
	c.Unset = slices.DeleteFunc(c.Unset, func(u broker.Member) bool {
		return slices.ContainsFunc(c.Set, func(s broker.Member) bool { return s.Index == u.Index && s.Name == u.Name })
	})
	_, err := ps.db.Do(ctx, c)
	return public(err)
}

// Leave implements bridge.Presence.
func (ps presence) Leave(ctx context.Context, session, client string) error {
	all, able := presenceIndexes(session)
	_, err := ps.db.Do(ctx, broker.Change{Unset: []broker.Member{{Index: all, Name: client}, {Index: able, Name: client}}, Urgent: true})
	return public(err)
}

// Present implements bridge.Presence.
func (ps presence) Present(ctx context.Context, session string) (clients, enabled int, err error) {
	where := []string{session}
	if session != "" {
		where = append(where, "") // these front ends see every session
	}
	now := ps.db.Now()
	for _, s := range where {
		all, able := presenceIndexes(s)
		n, err := ps.db.Count(ctx, all, now)
		if err != nil {
			return 0, 0, public(err)
		}
		m, err := ps.db.Count(ctx, able, now)
		if err != nil {
			return 0, 0, public(err)
		}
		clients, enabled = clients+n, enabled+m
	}
	return clients, enabled, nil
}

// mailbox implements bridge.Mailbox.
type mailbox struct{ in *interactions }

// late is a late answer. Its ID consists of its time and a number that is
// derived from the interaction.
type late struct {
	ms, seq int64
	id      bridge.ID
}

func (l late) String() string { return fmt.Sprintf("%d-%d", l.ms, l.seq) }

func (l late) compare(o late) int { return cmp.Or(cmp.Compare(l.ms, o.ms), cmp.Compare(l.seq, o.seq)) }

// acknowledged is the name of a member of the index of late answers. Its score
// is the time of the last answer that the agent acknowledged. Later answers are
// placed after it, even if the clock of another master is behind, so a repeated
// acknowledgment does not remove them.
const acknowledged = ""

// all returns the late answers of a session, oldest first.
func (mb mailbox) all(ctx context.Context, agent, session string) ([]late, error) {
	found, err := mb.in.db.Range(ctx, broker.Query{Index: life.LateIndex(agent, session)})
	if err != nil {
		return nil, public(err)
	}
	var out []late
	for _, m := range found {
		if m.Name == acknowledged {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(m.Name))
		out = append(out, late{m.At.UnixMilli(), int64(h.Sum64() % 1e12), bridge.ID(m.Name)})
	}
	slices.SortFunc(out, late.compare)
	return out, nil
}

// Messages implements bridge.Mailbox.
func (mb mailbox) Messages(ctx context.Context, agent, session string, limit int) ([]bridge.Message, error) {
	all, err := mb.all(ctx, agent, session)
	if err != nil {
		return nil, err
	}
	out := []bridge.Message{}
	var gone broker.Change
	for _, l := range all {
		if len(out) == limit {
			break
		}
		rec, err := mb.in.Load(ctx, l.id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound { // its retention has passed
			gone.Unset = append(gone.Unset, broker.Member{Index: life.LateIndex(agent, session), Name: string(l.id)})
			continue
		}
		if err != nil {
			return nil, err
		}
		if i := rec.Interaction; i.Agent != agent || i.Session != session || !rec.State.Final() { // the index contains a wrong entry
			mb.in.log.Error("late answer refers to a record of another session", "id", i.ID, "agent", agent)
			continue
		}
		out = append(out, bridge.NewMessage(l.String(), rec))
	}
	if !gone.Empty() { // a busy session must not read them each time
		if _, err := mb.in.db.Do(ctx, gone); err != nil {
			mb.in.log.Warn("index of late answers not tidied", "error", err)
		}
	}
	return out, nil
}

// messageForm is the form of the ID of a message: a time in ms, and a number.
var messageForm = lazyregexp.New(`^\d{1,15}-\d{1,15}$`)

func checkMessage(id string) error {
	if !messageForm.MatchString(id) {
		return bridge.Errorf(bridge.CodeInvalid, "through: invalid message ID %q", id)
	}
	return nil
}

// Acknowledge implements bridge.Mailbox.
func (mb mailbox) Acknowledge(ctx context.Context, agent, session, through string) ([]bridge.ID, error) {
	if err := checkMessage(through); err != nil {
		return nil, err
	}
	all, err := mb.all(ctx, agent, session)
	if err != nil {
		return nil, err
	}
	index := life.LateIndex(agent, session)
	c := broker.Change{Urgent: true}
	var ids []bridge.ID
	for _, l := range all {
		if bridge.CompareMessages(l.String(), through) <= 0 {
			ids = append(ids, l.id)
			c.Unset = append(c.Unset, broker.Member{Index: index, Name: string(l.id)})
			c.Set = []broker.Member{{Index: index, Name: acknowledged, At: time.UnixMilli(l.ms), IndexTTL: mb.in.retention + 3*bridge.MaxTimeout}}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	_, err = mb.in.db.Do(ctx, c)
	return ids, public(err)
}
