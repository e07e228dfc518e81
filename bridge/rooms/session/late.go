package session

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Mailbox stores the late answers of sessions until their agents acknowledge
// them. Delivery is at least once and in order. It is safe for concurrent use.
type Mailbox struct {
	db      documents.DB
	records core.Interactions
}

// NewMailbox returns the late answers among the interactions in a database.
func NewMailbox(db documents.DB, records core.Interactions) *Mailbox { return &Mailbox{db, records} }

// late is a late answer. Its ID consists of its time, and a number that is
// derived from the interaction.
type late struct {
	ms, seq int64
	id      bridge.ID
}

func (l late) String() string { return fmt.Sprintf("%d-%d", l.ms, l.seq) }

func (l late) compare(o late) int { return cmp.Or(cmp.Compare(l.ms, o.ms), cmp.Compare(l.seq, o.seq)) }

// acknowledged is the name of a member of the index of late answers. Its time
// is the time of the last answer that the agent acknowledged. Each new answer
// gets a later time, even if the clock of another master is behind, so a
// repeated acknowledgment removes no new answer.
const acknowledged = ""

// all returns the late answers of a session, oldest first.
func (mb *Mailbox) all(ctx context.Context, agent, session string) ([]late, error) {
	found, err := mb.db.Range(ctx, broker.Query{Index: life.LateIndex(agent, session)})
	if err != nil {
		return nil, documents.Public(err)
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

// Messages returns up to limit late answers, oldest first.
func (mb *Mailbox) Messages(ctx context.Context, agent, session string, limit int) ([]bridge.Message, error) {
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
		rec, err := mb.records.Load(ctx, l.id)
		if bridge.ErrorCode(err) == bridge.CodeNotFound { // the retention of the record has ended
			gone.Unset = append(gone.Unset, broker.Member{Index: life.LateIndex(agent, session), Name: string(l.id)})
			continue
		}
		if err != nil {
			return nil, err
		}
		if i := rec.Interaction; i.Agent != agent || i.Session != session || !rec.State.Final() { // the index is wrong
			mb.db.Log.Error("late answer refers to a record of another session", "id", i.ID, "agent", agent)
			continue
		}
		out = append(out, bridge.NewMessage(l.String(), rec))
	}
	if !gone.Empty() { // so that the next reads of a busy session skip them
		if _, err := mb.db.Do(ctx, gone); err != nil {
			mb.db.Log.Warn("index of late answers not tidied", "error", err)
		}
	}
	return out, nil
}

func checkMessage(id string) error {
	if !documents.IsID(id) {
		return bridge.Errorf(bridge.CodeInvalid, "through: invalid message ID %q", id)
	}
	return nil
}

// Acknowledge deletes all messages through the given one, and returns the interactions
// that they answered.
func (mb *Mailbox) Acknowledge(ctx context.Context, agent, session, through string) ([]bridge.ID, error) {
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
			c.Set = []broker.Member{{Index: index, Name: acknowledged, At: time.UnixMilli(l.ms), IndexTTL: mb.records.Retention() + 3*bridge.MaxTimeout}}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	_, err = mb.db.Do(ctx, c)
	return ids, documents.Public(err)
}
