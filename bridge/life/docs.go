package life

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Life is the document with the state of an interaction. All times are times of
// the store's clock.
type Life struct {
	Agent   string `json:"agent"`
	Session string `json:"session,omitempty"`
	// State is the final state. It is empty while the interaction is pending.
	State    bridge.State `json:"state,omitempty"`
	Created  time.Time    `json:"created"`
	Deadline time.Time    `json:"deadline"`
	// KeptUntil is the time until which the documents are kept.
	KeptUntil time.Time `json:"until"`
	// FrontEnds means that front ends can answer even if no destination can be
	// reached. Limited means that the interaction counts toward the pending
	// interactions of its agent. Hooks is the number of webhooks to call when
	// it closes.
	FrontEnds bool `json:"front_ends,omitempty"`
	Limited   bool `json:"limited,omitempty"`
	Hooks     int  `json:"hooks,omitempty"`
	// Correlation is the JSON of the IDs that the agent attached to its events.
	Correlation string `json:"correlation,omitempty"`
	// Root is the first round, whose messages show this one. Next is the next
	// round. Head is the last round, and is set only in the first
	// round.
	Root bridge.ID `json:"root,omitempty"`
	Next bridge.ID `json:"next,omitempty"`
	Head bridge.ID `json:"head,omitempty"`

	// Body is the version of the body. It prevents the use of an earlier body.
	Body int64 `json:"body"`

	Response *bridge.Response `json:"response,omitempty"`
	// Receipt is the signed receipt of the response. Only decisions have a
	// receipt.
	Receipt string        `json:"receipt,omitempty"`
	At      time.Time     `json:"at,omitzero"`     // time when it was resolved
	Nonce   string        `json:"nonce,omitempty"` // nonce of the resolution that won
	Votes   []bridge.Vote `json:"votes,omitempty"`
	Callers []Caller      `json:"callers,omitempty"`
	// Sent is the time when the response was first sent to a caller. If
	// this is the first interaction of a message, SoleCaller is the only caller that
	// gets the approvals of the message.
	Sent       time.Time `json:"sent,omitzero"`
	SoleCaller string    `json:"taker,omitempty"`
	Delivered  time.Time `json:"delivered,omitzero"`
	// Queued is the time when the interaction was deferred. Acknowledged means
	// that the agent has acknowledged the late answer.
	Queued       time.Time `json:"queued,omitzero"`
	Acknowledged bool      `json:"acknowledged,omitempty"`

	Completion *bridge.Completion `json:"completion,omitempty"`
	Joined     int                `json:"joined,omitempty"`
	Amendments []string           `json:"amendments,omitempty"` // the nonces of the amendments
	Step       int                `json:"step,omitempty"`       // next step of its escalation
	Reminders  []bridge.Reminder  `json:"reminders,omitempty"`
	// Failures holds the reasons why destinations could not be reached.
	Failures map[int]string `json:"failures,omitempty"`
	// Revision is the number of changes that affect messages. The opening is
	// the first.
	Revision int64 `json:"revision"`
}

// Caller is a caller that waits for an interaction. A Caller without a name
// stands for all unnamed callers of a daemon.
type Caller struct {
	Name string `json:"name"` // see bridge.CallerName
	// Node is the daemon to which the caller is connected, if known.
	Node string `json:"node,omitempty"`
	// More is the number of other unnamed callers that this entry stands for.
	More int `json:"more,omitempty"`
}

// Card is the document of the message of an interaction at a destination.
type Card struct {
	Message *bridge.MessageRef `json:"message,omitempty"`
	// Late is the expected time of a message that waits for a rate limit.
	Late time.Time `json:"late,omitzero"`
	// Shown is the digest of the content that the message shows in full.
	Shown string `json:"shown,omitempty"`
	// SentParts holds the parts of a text that is too long for the message.
	SentParts *bridge.SentParts `json:"sending,omitempty"`
}

// The kinds of documents of interactions. A body is an Interaction as it
// was opened or last amended. Its times are not updated later.
var (
	lives  = broker.NewDocs[Life]("life", 1)
	bodies = broker.NewDocs[bridge.Interaction]("body", 1)
	cards  = broker.NewDocs[Card]("card", 1)
)

// Stops is the kind of documents of stopped sessions, by [Owner]. Package session
// writes them.
var Stops = broker.NewDocs[bridge.Stop]("stop", 1)

// usualCards is the number of destinations whose cards are read together with
// the other documents. Most interactions do not have more.
const usualCards = 3

// Keys returns the keys of the documents of an interaction, with the cards of the
// first destinations.
func Keys(id bridge.ID) []broker.Key {
	out := []broker.Key{lives.Key(string(id)), bodies.Key(string(id))}
	for n := range usualCards {
		out = append(out, CardKey(id, n))
	}
	return out
}

// CardKey returns the key of the card at a destination.
func CardKey(id bridge.ID, destination int) broker.Key {
	return cards.Key(string(id) + "/" + strconv.Itoa(destination))
}

// Docs are the documents of an interaction.
type Docs struct {
	ID    bridge.ID
	Life  Life
	Body  bridge.Interaction
	Cards map[int]Card
	// LifeDoc and BodyDoc are the documents as they are stored. LifeDoc has the ID of
	// the journal entry about the resolution.
	LifeDoc, BodyDoc broker.Doc
	// Problem is the reason why a document does not verify.
	Problem string

	readCards []broker.Doc // by destination
	stop      broker.Doc   // of the session; see answersByDefault
}

// Read returns the documents of an interaction, which were found under its [Keys]. It
// returns CodeNotFound if there is no such interaction. Documents that do not verify
// are returned for inspection, with their Problem, as far as they can be read.
func Read(id bridge.ID, found []broker.Doc) (*Docs, error) {
	d := &Docs{ID: id, LifeDoc: found[0], BodyDoc: found[1]}
	if !d.LifeDoc.Exists() || !d.BodyDoc.Exists() {
		return d, bridge.NotFound(id)
	}
	var err error
	if d.Life, err = decode(d, lives, d.LifeDoc); err != nil {
		return d, err
	}
	if d.Body, err = decode(d, bodies, d.BodyDoc); err != nil {
		return d, err
	}
	if d.Body.ID != id { // the body belongs to another interaction, or cannot be decoded
		d.Problem = cmp.Or(d.Problem, problemMixed)
		d.Body = bridge.Interaction{ID: id, Agent: d.Life.Agent, Ask: bridge.Ask{Session: d.Life.Session}}
	}
	if d.Problem == "" && d.Life.Body != d.BodyDoc.Version {
		d.Problem = problemMixed
	}
	d.Body.Stated = bridge.Times{Created: d.Body.Created, Deadline: d.Body.Deadline}
	d.Body.Created, d.Body.Deadline = d.Life.Created, d.Life.Deadline // the clock of the store decides
	return d, d.Add(found[2:])
}

// problemMixed is the problem with documents that were not stored together.
const problemMixed = "part of it was replaced by an earlier version"

// decode decodes a document. If the document does not verify, decode records the
// problem, and decodes as much as it can.
func decode[T any](d *Docs, kind broker.Docs[T], doc broker.Doc) (T, error) {
	problem := doc.Problem
	doc.Problem = ""
	v, err := kind.Decode(doc)
	switch {
	case problem != "":
		d.Problem, err = problem, nil
	case err != nil:
		err = bridge.Wrap(bridge.CodeInternal, err, "stored document of interaction %s", d.ID).
			WithHint("run the version of nod that wrote it, or a newer one")
	}
	return v, err
}

// More returns the keys of further documents: of the cards that were not read yet,
// and of the stop of the session if the deadline may answer the interaction.
func (d *Docs) More() []broker.Key {
	var out []broker.Key
	for n := len(d.readCards); n < len(d.Body.Destinations); n++ {
		out = append(out, CardKey(d.ID, n))
	}
	if d.answersByDefault() {
		out = append(out, d.stopKey())
	}
	return out
}

// Add adds further documents. A card that does not verify shows nothing.
func (d *Docs) Add(found []broker.Doc) error {
	for _, doc := range found {
		if Stops.Is(doc.Key) {
			d.stop = doc
			continue
		}
		n := len(d.readCards)
		d.readCards = append(d.readCards, doc)
		if !doc.Exists() || n >= len(d.Body.Destinations) {
			continue
		}
		var c Card
		if doc.Problem == "" {
			var err error
			if c, err = decode(d, cards, doc); err != nil {
				return err
			}
		}
		put(&d.Cards, n, c)
	}
	return nil
}

// cardAt returns the version of the card of a destination.
func (d *Docs) cardAt(n int) broker.Version {
	if n < len(d.readCards) {
		return d.readCards[n].At()
	}
	return broker.Version{Key: CardKey(d.ID, n)}
}

// Key returns the key of the life of an interaction.
func Key(id bridge.ID) broker.Key { return lives.Key(string(id)) }

// Decode returns the life of an interaction.
func Decode(d broker.Doc) (Life, error) { return lives.Decode(d) }

// Record returns the record that the documents describe.
func (d *Docs) Record(now time.Time) *bridge.Record {
	l := d.Life
	r := &bridge.Record{
		Interaction: d.Body, State: bridge.StatePending, Response: l.Response, Failures: l.Failures, Delivered: l.Delivered,
		Sent: l.Sent, Queued: l.Queued, Acknowledged: l.Acknowledged, Step: l.Step, Amended: len(l.Amendments), Reminders: l.Reminders, Joined: l.Joined, Next: l.Next, Head: l.Head,
		Completion: l.Completion, Votes: l.Votes, Receipt: l.Receipt, Revision: l.Revision,
	}
	if d.Problem != "" {
		r.Unverified = bridge.WhyAltered
	}
	if l.State != "" {
		r.State = l.State
		r.Unawaited = l.State.Decided() && l.Queued.IsZero() && l.Delivered.IsZero() && l.Sent.IsZero() && now.Sub(l.At) > unclaimedAfter
		if d.LifeDoc.Entry != "" {
			r.Audit = &bridge.AuditRef{Entry: d.LifeDoc.Entry}
		}
	}
	for n, c := range d.Cards {
		if c.Message != nil {
			put(&r.Messages, n, *c.Message)
		}
		if !c.Late.IsZero() {
			put(&r.Late, n, c.Late)
		}
		if c.Shown != "" {
			put(&r.Shown, n, c.Shown)
		}
		if c.SentParts != nil {
			put(&r.SentParts, n, *c.SentParts)
		}
	}
	return r
}

// unclaimedAfter is the time after which an answer counts as unclaimed if no
// caller has taken it.
const unclaimedAfter = 2 * time.Second

// put sets an element of a map that may be nil.
func put[V any](m *map[int]V, n int, v V) {
	if *m == nil {
		*m = map[int]V{}
	}
	(*m)[n] = v
}

// clone returns a copy of the documents that can be changed without changing d.
func (d *Docs) clone() Docs {
	out := *d
	out.Cards, out.Life.Failures = maps.Clone(d.Cards), maps.Clone(d.Life.Failures)
	out.Life.Votes, out.Life.Callers, out.Life.Reminders = slices.Clone(d.Life.Votes), slices.Clone(d.Life.Callers), slices.Clone(d.Life.Reminders)
	out.Life.Amendments = slices.Clone(d.Life.Amendments)
	return out
}

// data returns v as JSON. It must be a plain struct of nod, so encoding never
// fails.
func data(v any) string {
	out, _ := bridge.EncodeJSON(v)
	return string(out)
}

// correlation returns the IDs that an agent attaches to its events, as JSON. It
// returns "" if the agent attached none.
func correlation(i *bridge.Interaction) string {
	c := CorrelationIDs{i.ToolCall, i.Turn, i.ResponseID}
	if c == (CorrelationIDs{}) {
		return ""
	}
	return data(c)
}

// CorrelationIDs are the IDs in the field "x" of an entry of the journal.
type CorrelationIDs struct {
	ToolCall   string `json:"tc,omitempty"`
	Turn       string `json:"tu,omitempty"`
	ResponseID string `json:"ri,omitempty"`
}

// stated returns a body with its stated times.
func stated(i bridge.Interaction) bridge.Interaction {
	if i.Stated != (bridge.Times{}) {
		i.Created, i.Deadline = i.Stated.Created, i.Stated.Deadline
	}
	return i
}
