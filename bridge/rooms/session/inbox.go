package session

import (
	"cmp"
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Inbox holds the late answers to the requests of sessions, and the messages of
// people, until the agents acknowledge them. Each session has one order of both.
// Delivery is at least once. It is safe for concurrent use.
//
// The index of a session lists both in the order in which they were stored. It
// is a hint: the document of a message, and the life of an interaction, say
// whether the agent has acknowledged it.
type Inbox struct {
	db      documents.DB
	records core.Interactions
	stops   *Stops
	reports *Reports
}

// NewInbox returns the inboxes of the sessions of interactions.
func NewInbox(db documents.DB, records core.Interactions) *Inbox {
	return &Inbox{db, records, NewStops(db), NewReports(db)}
}

// inbox is the document of a session with waiting messages from people.
type inbox struct {
	Last      time.Time `json:"last,omitzero"` // position of the last message
	Reader    string    `json:"reader,omitempty"`
	Until     time.Time `json:"until,omitzero"`      // end of the reader's lease
	Continued int       `json:"continued,omitempty"` // number of times in a row that the reader's turn was continued
}

// message is a message from a person.
type message struct {
	bridge.Steering
	// Put is the time of the message, and its position among the messages of
	// people for the session.
	Put  time.Time          `json:"put"`
	Told bridge.Fate        `json:"told,omitempty"`
	Note *bridge.MessageRef `json:"note,omitempty"`
	// Given means that the last reader that took it also got the late answers.
	// Such a reader has no name. Reader is the last one with a name.
	Given  bool      `json:"given,omitempty"`
	Reader string    `json:"reader,omitempty"`
	Leased time.Time `json:"leased,omitzero"` // end of the lease of the daemon that reports to its author
}

var (
	inboxDocs   = broker.NewDocs[inbox]("inbox", 1)
	messageDocs = broker.NewDocs[message]("message", 1)
)

// messageKeep is the time for which messages from people are kept.
const messageKeep = 2 * bridge.SteeringTTL

// item is a message that waits in an inbox. If said is nil, it is the late
// answer to the interaction with its ID.
type item struct {
	id    string
	said  *message
	doc   broker.Doc
	again bool // a reader has taken it before
}

// member returns the member of the index of a session for the message with an ID.
func (b *Inbox) member(agent, session, id string) broker.Member {
	return broker.Member{Index: life.InboxIndex(agent, session), Name: id, IndexTTL: life.InboxKept(b.records.Retention())}
}

// Put appends a message to the inbox of its session, and returns it with its
// ID. If an earlier message has the same nonempty key, it returns that message.
// It returns CodeConflict for a session that is stopped or has finished, and
// CodeRateLimited if bridge.MaxSteerings messages are waiting.
func (b *Inbox) Put(ctx context.Context, s bridge.Steering, key string) (bridge.Steering, error) {
	if err := documents.RequireSession(s.Session); err != nil {
		return s, err
	}
	owner, out := life.Owner(s.Agent, s.Session), s
	out.ID, out.Fate = messageID(owner, key), bridge.FateWaiting
	_, err := inboxDocs.Update(ctx, b.db, owner, func(in *inbox, d *broker.Doc) (broker.Change, error) {
		first, doc, err := messageDocs.Get(ctx, b.db, out.ID)
		if err == nil && doc.Exists() {
			out = first.public()
			return broker.Change{}, cmp.Or(b.db.Confirm(ctx, doc.At()), broker.ErrUnchanged) // the message may not be on the replicas yet
		}
		if err != nil {
			return broker.Change{}, err
		}
		open, err := b.open(ctx, s.Agent, s.Session)
		if err != nil {
			return broker.Change{}, err
		}
		all, gone, err := b.view(ctx, s.Agent, s.Session, 0)
		if err != nil {
			return broker.Change{}, err
		}
		if len(texts(all)) >= bridge.MaxSteerings {
			return broker.Change{}, bridge.Errorf(bridge.CodeRateLimited, "too many messages wait for this session (at most %d)", bridge.MaxSteerings)
		}
		m := message{Steering: out, Put: in.next(b.db.Now())}
		d.Keep = messageKeep
		doc, err = messageDocs.Encode(broker.Doc{Key: messageDocs.Key(out.ID), Keep: messageKeep}, &m)
		return broker.Change{
			If: open, Put: []broker.Doc{doc}, Unset: gone, Replicated: true,
			Set: []broker.Member{b.member(s.Agent, s.Session, out.ID), untold(out.ID, m.Put.Add(steeringGrace))},
		}, err
	})
	return out, documents.Public(err)
}

// open returns the conditions that a session is neither stopped nor finished. It
// returns CodeConflict if they do not hold.
func (b *Inbox) open(ctx context.Context, agent, session string) ([]broker.Version, error) {
	unstopped, err := b.stops.unstopped(ctx, agent, session)
	if err != nil {
		return nil, err
	}
	unfinished, err := b.reports.unfinished(ctx, agent, session)
	return []broker.Version{unstopped, unfinished}, err
}

// view returns up to n messages that wait in an inbox, in order, and the members
// of its index without a waiting message from a person. Zero means all. It does
// not read the late answers.
func (b *Inbox) view(ctx context.Context, agent, session string, n int) (all []item, gone []broker.Member, err error) {
	found, err := b.db.Range(ctx, broker.Query{Index: life.InboxIndex(agent, session), N: n})
	if err != nil {
		return nil, nil, err
	}
	waiting := map[string]item{}
	if keys := said(found); len(keys) > 0 {
		docs, err := b.db.Get(ctx, keys...)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range docs {
			m, err := messageDocs.Decode(d)
			if isForged(err) {
				b.db.Refused(err)
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			if m.Agent == agent && m.Session == session && m.Fate == bridge.FateWaiting {
				waiting[d.ID] = item{id: d.ID, said: &m, doc: d, again: m.Given || m.Reader != ""}
			}
		}
	}
	for _, f := range found {
		i, ok := waiting[f.Name]
		switch {
		case !isSaid(f.Name):
			all = append(all, item{id: f.Name})
		case ok:
			all = append(all, i)
		default:
			gone = append(gone, f)
		}
	}
	return inOrder(all), gone, nil
}

// take returns the first messages that wait in an inbox, unless the session is
// stopped. A named reader gets a lease. With answers, take also returns late
// answers. Without either, it changes nothing.
func (b *Inbox) take(ctx context.Context, t bridge.Taking, answers bool, most int) (out []item, err error) {
	if err := documents.RequireSession(t.Session); err != nil {
		return nil, err
	}
	n := 0
	if answers { // more than most of them are never needed, because at most MaxSteerings may be reserved
		n = most + bridge.MaxSteerings
	}
	if t.Continued == nil { // almost always, nothing waits
		if all, gone, err := b.view(ctx, t.Agent, t.Session, n); err != nil || len(all)+len(gone) == 0 {
			return nil, documents.Public(err)
		}
	}
	_, err = inboxDocs.Update(ctx, b.db, life.Owner(t.Agent, t.Session), func(in *inbox, d *broker.Doc) (broker.Change, error) {
		out = nil
		all, gone, err := b.view(ctx, t.Agent, t.Session, n)
		if err != nil {
			return broker.Change{}, err
		}
		unstopped, err := b.stops.unstopped(ctx, t.Agent, t.Session) // last, because a peek does not store the condition
		if bridge.ErrorCode(err) == bridge.CodeConflict {
			err = broker.ErrUnchanged
		}
		if err != nil {
			return broker.Change{}, err
		}
		before, now := *in, b.db.Now()
		c := broker.Change{If: []broker.Version{unstopped}, Unset: gone}
		out = in.take(t, all, answers, most, now)
		for k := range out {
			if !out[k].marks(t.Reader, answers) {
				continue
			}
			next, err := messageDocs.Encode(out[k].doc, out[k].said)
			if err != nil {
				return c, err
			}
			next.Keep = messageKeep
			c.Put = append(c.Put, next)
		}
		d.Keep = messageKeep
		return c, unchanged(len(c.Put)+len(gone) == 0 && *in == before)
	})
	return out, documents.Public(err)
}

// end gives chosen messages an outcome, so that they no longer wait. It returns
// the number of messages from people among them.
func (b *Inbox) end(ctx context.Context, agent, session string, f bridge.Fate, chosen func([]item) []item) (int, error) {
	if err := documents.RequireSession(session); err != nil {
		return 0, err
	}
	done := 0
	_, err := inboxDocs.Update(ctx, b.db, life.Owner(agent, session), func(in *inbox, d *broker.Doc) (broker.Change, error) {
		all, gone, err := b.view(ctx, agent, session, 0)
		if err != nil {
			return broker.Change{}, err
		}
		done, d.Keep = 0, messageKeep
		c := broker.Change{Unset: gone, Urgent: true, Replicated: true}
		for _, i := range chosen(all) {
			c.Unset = append(c.Unset, b.member(agent, session, i.id))
			if i.said == nil {
				continue
			}
			done++
			i.said.Fate, i.said.Done = f, b.db.Now()
			in.release(i.said.Reader)
			next, err := messageDocs.Encode(i.doc, i.said)
			if err != nil {
				return c, err
			}
			next.Keep = messageKeep
			c.Put, c.Set = append(c.Put, next), append(c.Set, untold(i.id, i.said.Done))
		}
		return c, unchanged(len(c.Unset) == 0)
	})
	return done, documents.Public(err)
}

// Acknowledge ends the messages that an acknowledgment covers, and records that
// their agent has them; see [covered]. It returns the number of messages of
// people among them.
func (b *Inbox) Acknowledge(ctx context.Context, agent, session, through string) (int, error) {
	if !isSaid(through) {
		if _, err := bridge.ParseID(through); err != nil {
			return 0, bridge.Errorf(bridge.CodeInvalid, "through: invalid message ID %q", through)
		}
	}
	all, _, err := b.view(ctx, agent, session, 0)
	if err != nil {
		return 0, documents.Public(err)
	}
	// First, the lives record it: an answer that leaves the index before would be lost.
	answers := map[string]bool{}
	for _, i := range covered(all, through) {
		if i.said == nil {
			answers[i.id] = true
			if err := b.answered(ctx, agent, session, bridge.ID(i.id)); err != nil {
				return 0, err
			}
		}
	}
	return b.end(ctx, agent, session, bridge.FateDelivered, func(all []item) (out []item) {
		for _, i := range covered(all, through) {
			if i.said != nil || answers[i.id] {
				out = append(out, i)
			}
		}
		return out
	})
}

// Ended ends the waiting messages from people.
func (b *Inbox) Ended(ctx context.Context, agent, session string) (int, error) {
	return b.end(ctx, agent, session, bridge.FateEnded, texts)
}

// Steering returns a message from a person. It returns CodeNotFound if it is
// unknown or ended long ago.
func (b *Inbox) Steering(ctx context.Context, session, id string) (bridge.Steering, error) {
	m, d, err := messageDocs.Get(ctx, b.db, id)
	if err == nil && (!d.Exists() || m.Session != session) {
		return bridge.Steering{}, bridge.Errorf(bridge.CodeNotFound, "message %q not found", id)
	}
	return m.public(), documents.Public(err)
}
