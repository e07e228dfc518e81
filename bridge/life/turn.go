package life

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Turn is one transition of an interaction. It begins with the documents that
// were read. A rule changes the documents and records the consequences. Change
// returns the result. The store applies the change only if the documents have
// not changed since.
type Turn struct {
	Docs
	// EndsWait means that the turn has resolved or deferred the interaction, so its
	// callers stop waiting.
	EndsWait bool
	// TimedOut means that it did so because the deadline has passed.
	TimedOut bool

	now       time.Time
	retention time.Duration
	change    broker.Change
	// changedLife, changedBody and changedCards state which documents the turn
	// changed.
	changedLife, changedBody bool
	changedCards             map[int]bool
	guardedCards             map[int]bool // cards that must not be created in the meantime
	fresh                    bool         // the interaction is being opened
	notes                    []note       // for the journal
}

// note is an entry of the journal. If it is also an entry of the audit log, audit
// is its type there. Otherwise, audit is "". Change writes the data of a decision.
type note struct {
	kind  bridge.EventType
	state bridge.State
	data  string
	audit bridge.AuditType
}

// Begin begins a turn at a time of the store. Documents are kept for the
// retention after the deadline.
func (d *Docs) Begin(now time.Time, retention time.Duration) *Turn {
	return &Turn{Docs: d.clone(), now: now, retention: retention}
}

// The indexes over interactions, by ID.
const (
	// Deadlines contains the pending interactions, by deadline.
	Deadlines = "deadlines"
)

// SessionIndex is the index of the interactions of a session, by creation.
func SessionIndex(agent, session string) string { return "session:" + Owner(agent, session) }

// SessionPending is the index of the pending interactions of a session, by creation.
func SessionPending(agent, session string) string { return "open:" + Owner(agent, session) }

// pendingMost is the longest time for which an interaction is pending: its timeout
// and its hold time. A second deferral sets the members of the indexes again.
const pendingMost = 2 * bridge.MaxTimeout

// CardIndex is the index of the messages of pending interactions on a platform.
func CardIndex(platform string) string { return "cards:" + platform }

// ParseCard returns the interaction and the message of a member of [CardIndex].
func ParseCard(name string) (id bridge.ID, ref bridge.MessageRef) {
	parts := append(strings.Split(name, cardSeparator), "", "", "", "")
	return bridge.ID(parts[0]), bridge.MessageRef{Channel: parts[2], Message: parts[3], Thread: parts[4]}
}

const cardSeparator = "\x00"

// inIndex returns the member of [CardIndex] for the message of a card, if it has one.
func (t *Turn) inIndex(destination int, c Card) []broker.Member {
	if c.Message == nil {
		return nil
	}
	ref := *c.Message
	name := strings.Join([]string{string(t.ID), strconv.Itoa(destination), ref.Channel, ref.Message, ref.Thread}, cardSeparator)
	return []broker.Member{{Index: CardIndex(t.Body.Destinations[destination].Platform), Name: name, At: t.now, IndexTTL: pendingMost}}
}

// whilePending returns the members of indexes that the interaction has while it is
// pending, apart from that of the limit of its agent.
func (t *Turn) whilePending() []broker.Member {
	out := []broker.Member{{Index: Deadlines, Name: string(t.ID), At: t.Life.Deadline}}
	if l := t.Life; l.Session != "" {
		out = append(out, broker.Member{Index: SessionPending(l.Agent, l.Session), Name: string(t.ID), At: t.now, IndexTTL: pendingMost})
	}
	for n, c := range t.Cards {
		out = append(out, t.inIndex(n, c)...)
	}
	return out
}

// PendingIndex is the index of the pending interactions of an agent with a limit.
func PendingIndex(agent string) string { return "pending:" + agent }

// InboxIndex is the index of the messages that wait for a session, in the order
// in which they were stored. A late answer has the ID of its interaction.
func InboxIndex(agent, session string) string { return "inbox:" + Owner(agent, session) }

// InboxKept is the time for which that index is kept after each message.
func InboxKept(retention time.Duration) time.Duration { return retention + 3*bridge.MaxTimeout }

// Owner returns the name of a session of an agent. Neither name contains the
// separator.
func Owner(agent, session string) string { return agent + "\x00" + session }

// clockMargin is the time for which the other documents are kept longer than the life,
// because the clock of the daemon that wrote them may be ahead.
const clockMargin = time.Minute

// Signer signs the receipts and the entries of the audit log. Package proof
// implements it.
type Signer interface {
	Receipt(i bridge.Interaction, r bridge.Response, votes []bridge.Vote, had string) (string, error)
	ProveEntry(*bridge.AuditEntry) error
}

// Sign signs the data that the turn recorded, before the change of the turn is
// created. It returns CodeForbidden if a person signed another decision.
func (t *Turn) Sign(s Signer) (err error) {
	for n := range t.notes {
		e := &t.notes[n]
		switch e.audit {
		case bridge.AuditDecision:
			t.Life.Receipt, err = s.Receipt(t.Body, *t.Life.Response, t.Life.Votes, t.Life.Receipt)
		case bridge.AuditVote, bridge.AuditHandOver:
			a := bridge.AuditEntry{Type: e.audit, ID: t.ID, Agent: t.Life.Agent, Session: t.Life.Session, State: e.state, Data: json.RawMessage(e.data)}
			err = s.ProveEntry(&a)
			e.data = string(a.Data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Change returns the change that stores the turn. It is empty if the turn changed
// nothing. When the database is out of memory, it refuses a new question, but takes
// whatever happens to a stored one, such as an answer, a posted card or a follow-up.
func (t *Turn) Change() (broker.Change, error) {
	c := t.change
	c.At, c.Urgent = t.now, !t.fresh || !t.pending()
	ttl := max(t.Life.KeptUntil.Sub(t.now), time.Second)
	noted := 0 // the entry of the resolution, counted from 1; 0 if there is none
	for n, e := range t.notes {
		if e.audit == bridge.AuditDecision {
			noted, e.data = n+1, data(&bridge.DecisionEntry{Response: *t.Life.Response, Receipt: t.Life.Receipt})
		}
		c.Journal = append(c.Journal, Entry(e.kind, t.ID, t.Life, e.state, e.data, e.audit))
	}
	var failed error
	if t.changedBody {
		d := broker.Doc{Key: t.BodyDoc.Key, Version: t.BodyDoc.Version, Keep: ttl + clockMargin, Fresh: t.fresh}
		d.Next = d.NextVersion()
		t.Life.Body, t.changedLife = d.Next, true
		body := stated(t.Body)
		failed = putDoc(&c, bodies, d, &body)
	}
	if t.changedLife {
		d := broker.Doc{Key: t.LifeDoc.Key, Version: t.LifeDoc.Version, Keep: ttl, Entry: t.LifeDoc.Entry, Noted: noted}
		failed = errors.Join(failed, putDoc(&c, lives, d, &t.Life))
	} else if len(t.changedCards) > 0 {
		c.If = append(c.If, t.LifeDoc.At())
	}
	for n := range t.changedCards {
		at, card := t.cardAt(n), t.Cards[n]
		failed = errors.Join(failed, putDoc(&c, cards, broker.Doc{Key: at.Key, Version: at.Version, Keep: ttl + clockMargin, Fresh: t.fresh}, &card))
	}
	for n := range t.guardedCards {
		if !t.changedCards[n] {
			c.If = append(c.If, t.cardAt(n))
		}
	}
	return c, failed
}

// putDoc adds the document with a value to a change.
func putDoc[T any](c *broker.Change, kind broker.Docs[T], d broker.Doc, v *T) error {
	d, err := kind.Encode(d, v)
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "document %s", d.Key)
	}
	c.Put = append(c.Put, d)
	return nil
}

// Stored marks the change of the turn as stored. Before another turn, the cards
// have to be read again.
func (t *Turn) Stored(c broker.Change, done broker.Done) {
	for n, d := range c.Put {
		d.Version = done.Versions[n]
		if d.Noted > 0 {
			d.Entry = done.Entries[d.Noted-1]
		}
		switch d.Key {
		case t.LifeDoc.Key:
			t.LifeDoc = d
		case t.BodyDoc.Key:
			t.BodyDoc = d
		}
	}
}

// pending reports whether the interaction is pending.
func (t *Turn) pending() bool { return t.Life.State == "" }

// journal adds a transition to the journal.
func (t *Turn) journal(kind bridge.EventType, state bridge.State, data string, audit bridge.AuditType) {
	t.notes = append(t.notes, note{kind, state, data, audit})
}

// Entry returns an entry of the journal. All entries have the same fields in the
// same order.
func Entry(kind bridge.EventType, id bridge.ID, l Life, state bridge.State, data string, audit bridge.AuditType) broker.Entry {
	return broker.Entry{Fields: []string{
		"t", string(kind), "i", string(id), "a", l.Agent, "s", l.Session, "st", string(state), "x", l.Correlation, "k", string(audit), "d", data,
	}}
}

func (t *Turn) event(kind bridge.EventType, state bridge.State, data string) {
	t.journal(kind, state, data, "")
}

// state returns the state for events.
func (t *Turn) state() bridge.State {
	if t.pending() {
		return bridge.StatePending
	}
	return t.Life.State
}

// bump counts a change that affects messages.
func (t *Turn) bump() { t.changedLife, t.Life.Revision = true, t.Life.Revision+1 }

// edit requests an edit of the message at a destination. All edits of one
// message share one job, named after the first interaction that was posted
// there, regardless of the round that the message shows.
func (t *Turn) edit(destination int, due time.Time) {
	root := t.Life.Root
	if root == "" {
		root = t.ID
	}
	t.change.Request = append(t.change.Request, broker.Job{Name: jobName(JobEdit, root, destination), Due: due})
}

// editAll requests edits of all messages. The edits wait a moment, so that one
// edit also shows changes that follow immediately, such as the delivery to the
// agent. If a message is being posted in the meantime, the store refuses the
// change, and the next attempt sees the message.
func (t *Turn) editAll(delay time.Duration) {
	for n := range t.Body.Destinations {
		if t.Cards[n].Message != nil {
			t.edit(n, t.now.Add(delay))
		} else {
			put(&t.guardedCards, n, true)
		}
	}
}

// show changes the card at a destination.
func (t *Turn) show(destination int, change func(*Card)) {
	c := t.Cards[destination]
	was := t.inIndex(destination, c)
	change(&c)
	if is := t.inIndex(destination, c); t.pending() && !slices.Equal(was, is) {
		t.change.Unset, t.change.Set = append(t.change.Unset, was...), append(t.change.Set, is...)
	}
	put(&t.Cards, destination, c)
	put(&t.changedCards, destination, true)
}

// request requests a job of the interaction.
func (t *Turn) request(kind JobKind, index int, due time.Time) {
	t.change.Request = append(t.change.Request, broker.Job{Name: jobName(kind, t.ID, index), Due: due, Exact: kind == JobStep})
}
