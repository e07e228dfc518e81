// Path of a request: open.go of bridge/core → this file → do.go of
// broker/redis.

package life

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
)

// Name is the document under the name of a call. It holds the last interaction
// that was opened under this name, and the digest of its content.
type Name struct {
	ID     bridge.ID `json:"id"`
	Digest string    `json:"digest"`
}

// Retried is the document under the name of the retries of a caller. Again
// means that another caller opened the interaction.
type Retried struct {
	ID    bridge.ID `json:"id"`
	Again bool      `json:"again,omitempty"`
}

// Twin is the document of the pending request that duplicates join.
type Twin struct {
	ID bridge.ID `json:"id"`
}

var (
	names   = broker.NewDocs[Name]("call", 1)
	retries = broker.NewDocs[Retried]("retry", 1)
	twins   = broker.NewDocs[Twin]("twin", 1)
)

// Opening is a request to open, with the documents that exist under its names.
type Opening struct {
	bridge.Opening
	// Node is the daemon to which the caller is connected.
	Node string
	// Life, Name, Retried and Twin are the documents under the keys of
	// NameKeys, in that order. Any of them may be missing.
	Life, Name, Retried, Twin broker.Doc
	// First is the interaction that Name or Retried refers to, Second is the
	// interaction that Twin refers to, Previous is the previous round, and Root
	// is the first round. Nil means that the interaction does not exist.
	First, Second, Previous, Root *Docs
}

// NameKeys returns the keys of the documents that an opening depends on: its
// own document, and the documents under its names. A key that the opening does
// not use has no ID.
func NameKeys(o bridge.Opening) [4]broker.Key {
	i := o.Interaction
	out := [4]broker.Key{lives.Key(string(i.ID))}
	if o.Identity.Name != "" {
		out[1] = names.Key(o.Identity.Name)
	}
	if o.Identity.Retry != "" {
		out[2] = retries.Key(o.Identity.Retry)
	}
	if i.Join {
		sum := sha256.Sum256([]byte(data(i.Approval) + i.Digest))
		out[3] = twins.Key(Owner(i.Agent, i.Session) + "\x00" + i.Route + "\x00" + hex.EncodeToString(sum[:]))
	}
	return out
}

// Found returns the interactions that the documents under the names refer to.
// Each is empty if it does not exist.
func (o Opening) Found() (first, second bridge.ID, err error) {
	name, err := names.Decode(o.Name)
	if err != nil {
		return "", "", err
	}
	retried, err := retries.Decode(o.Retried)
	if err != nil {
		return "", "", err
	}
	twin, err := twins.Decode(o.Twin)
	first = retried.ID
	if first == "" {
		first = name.ID
	}
	return first, twin.ID, err
}

// Opened is the outcome of an opening.
type Opened struct {
	// Turn is the turn of the interaction that the caller gets. If Created is
	// set, this is a new interaction. Otherwise, it is the interaction that the
	// opening repeats or joins. Nil means that this opening is already stored,
	// so there is no change.
	Turn    *Turn
	Created bool
	// Repeated means that an earlier call opened the interaction, for another caller.
	Repeated bool
	// Others are the turns of other interactions that the opening changes.
	Others []*Turn
	Puts   []broker.Doc // new documents under names
}

// Open opens an interaction, unless it repeats a call or joins a pending
// duplicate. A follow-up takes over the messages of the previous interaction.
// Open returns CodeConflict, CodeNotFound or a [bridge.RepeatedError] if the
// opening is not possible.
func Open(o Opening, now time.Time, retention time.Duration) (Opened, error) {
	var out Opened
	i, id := o.Interaction, o.Identity
	name, err := names.Decode(o.Name)
	if err != nil {
		return out, err
	}
	retried, err := retries.Decode(o.Retried)
	if err != nil {
		return out, err
	}
	keep := i.Deadline.Sub(i.Created) + retention
	call := func(found bridge.ID, again bool) {
		if id.Name != "" {
			out.put(names, o.Name, NameKeys(o.Opening)[1], Name{found, id.Digest}, keep)
		}
		if id.Retry != "" {
			out.put(retries, o.Retried, NameKeys(o.Opening)[2], Retried{found, again}, keep)
		}
	}
	me := Caller{cmpOr(id.Caller, bridge.Anyone), o.Node}
	if retried.ID != "" && o.First != nil {
		out.Turn, out.Repeated = o.First.Begin(now, retention), retried.Again
		if out.Turn.pending() { // the caller is now connected to this daemon
			out.Turn.Join(me, false)
		}
		return out, nil
	}
	if o.Name.Exists() && name.Digest != id.Digest {
		return out, bridge.Errorf(bridge.CodeConflict, "Idempotency-Key: already used for a different request").
			WithHint("use another key, or repeat the request of interaction %s unchanged", name.ID)
	}
	if name.ID != "" && o.First != nil {
		switch id.Repeat(o.First.Record(now), now) {
		case bridge.Spent:
			return out, &bridge.RepeatedError{Interaction: o.First.Body}
		case bridge.Joins:
			out.Turn, out.Repeated = o.First.Begin(now, retention), true
			out.Turn.Join(me, false)
			call(name.ID, true)
			return out, nil
		}
	}
	if p := o.Previous; i.Previous != "" {
		switch {
		case p == nil:
			return out, bridge.NotFound(i.Previous)
		case p.Life.Next == i.ID && o.Life.Exists():
			return out, nil // the opening is already stored
		case p.Life.Next != "":
			return out, bridge.Errorf(bridge.CodeConflict, "interaction %s already has a follow-up", i.Previous).
				WithHint("use the follow-up, %s", p.Life.Next)
		}
	}
	if o.Life.Exists() {
		return out, nil
	}
	if s := o.Second; s != nil && s.Life.State == "" && s.Life.Queued.IsZero() && s.Life.Next == "" && now.Before(s.Life.Deadline) {
		out.Turn = s.Begin(now, retention)
		out.Turn.Join(me, true)
		call(s.ID, false)
		return out, nil
	}
	out.create(o, now, retention)
	call(i.ID, false)
	return out, nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// put adds a document under a name.
func (out *Opened) put(kind any, d broker.Doc, k broker.Key, v any, keep time.Duration) {
	d.Key, d.Keep = k, keep
	switch v := v.(type) {
	case Name:
		d, _ = names.Encode(d, v) // encoding these plain structs never fails
	case Retried:
		d, _ = retries.Encode(d, v)
	case Twin:
		d, _ = twins.Encode(d, v)
	}
	out.Puts = append(out.Puts, d)
}

// create creates the turn that stores a new interaction, with its deadline,
// jobs and event.
func (out *Opened) create(o Opening, now time.Time, retention time.Duration) {
	i := o.Interaction
	timeout := i.Deadline.Sub(i.Created)
	t := &Turn{
		Docs: Docs{ID: i.ID, Body: i, Cards: map[int]Card{}, read: map[broker.Key]broker.Doc{}}, now: now, keep: retention,
		cards: map[int]bool{}, guarded: map[int]bool{}, lives: true, body: true, fresh: true,
	}
	t.Body.Stated = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	t.Body.Created, t.Body.Deadline = now, now.Add(timeout)
	t.Life = Life{
		Agent: i.Agent, Session: i.Session, Created: now, Deadline: t.Body.Deadline, KeptUntil: t.Body.Deadline.Add(retention), AtDeadline: o.Timeout.State, Timeout: &o.Timeout,
		Hold: time.Duration(i.Hold), FrontEnds: o.FrontEnds, Limited: o.MaxPending > 0, Hooks: i.Closings(), Correlation: correlation(i), Root: i.Root,
		Failures: maps.Clone(o.Failures), Revision: 1, Callers: []Caller{{cmpOr(o.Identity.Caller, bridge.Anyone), o.Node}},
	}
	if i.Session != "" || o.Timeout.State == bridge.StatePending { // only interactions of a session can be deferred
		t.Life.AfterHold = &o.AfterHold
	}
	t.change.Replicated = true
	if i.Session != "" {
		t.change.Set = append(t.change.Set, broker.Member{
			Index: SessionIndex(i.Agent, i.Session), Name: string(i.ID), At: now, IndexTTL: timeout + bridge.MaxTimeout + retention,
		})
	}
	out.Turn, out.Created = t, true
	out.follow(o, t)
	t.event(bridge.EventRequest, bridge.StatePending, "")
	if o.Response != nil {
		t.resolve(*o.Response, now, "open")
		return
	}
	t.change.Set = append(t.change.Set, broker.Member{Index: Deadlines, Name: string(i.ID), At: t.Life.Deadline})
	if o.MaxPending > 0 {
		t.change.Set = append(t.change.Set, broker.Member{Index: PendingIndex(i.Agent), Name: string(i.ID), At: now})
		if !slices.ContainsFunc(out.Others, func(o *Turn) bool { return o.Over && o.Life.Limited }) { // it does not replace another document
			t.change.Below = append(t.change.Below, broker.Bound{Index: PendingIndex(i.Agent), Max: o.MaxPending})
		}
	}
	if len(i.Steps) > 0 {
		t.request(bridge.JobStep, 0, now.Add(time.Duration(i.Steps[0].After)))
	}
	if i.Join {
		out.put(twins, o.Twin, NameKeys(o.Opening)[3], Twin{i.ID}, timeout)
	}
	for n := range i.Destinations {
		if t.Cards[n].Message != nil {
			t.edit(n, now.Add(after)) // sent after the reply to the click that caused the follow-up
		} else if _, failed := t.Life.Failures[n]; !failed {
			t.change.Request = append(t.change.Request, post(t.Body, n, now.Add(time.Duration(i.Grace))))
		}
	}
	if o.Queued {
		t.deferAt(now, t.Life.Hold)
	}
}

// follow makes a new interaction the next round of the previous one.
func (out *Opened) follow(o Opening, t *Turn) {
	if o.Previous == nil || o.Interaction.Previous == "" {
		return
	}
	prev := o.Previous.Begin(t.now, t.keep)
	prev.due()
	prev.Life.Next, prev.lives = t.ID, true
	prev.editAll(after) // no such document may appear in the meantime
	if o.Interaction.Root != "" {
		for n, c := range prev.Cards {
			if c.Message == nil {
				continue
			}
			ref := *c.Message
			t.card(n, func(c *Card) { c.Message = &ref })
			delete(t.Life.Failures, n)
		}
	}
	if prev.pending() {
		superseded := o.Superseded
		superseded.State = bridge.StateSuperseded
		prev.resolve(superseded, t.now, "reprompt")
	} else if o.Interaction.Root == "" {
		prev.bump() // its messages show that a follow-up exists
	}
	prev.event(bridge.EventReprompted, prev.state(), data(string(t.ID)))
	out.Others = append(out.Others, prev)
	if o.Interaction.Root == "" {
		return
	}
	root := prev
	if o.Root != nil && o.Root.ID != prev.ID {
		root = o.Root.Begin(t.now, t.keep)
		out.Others = append(out.Others, root)
	}
	root.Life.Head, root.lives = t.ID, true
	root.keepUntil(t.Body.Deadline.Add(bridge.MaxTimeout + t.keep)) // it refers to the round that its messages show
}

// Sign is [Turn.Sign] for all turns of an opening.
func (out *Opened) Sign(s Signer) error {
	for _, t := range append(out.Others, out.Turn) {
		if err := t.Sign(s); err != nil {
			return err
		}
	}
	return nil
}

// Changes returns the change that stores an opening.
func (out *Opened) Changes() (broker.Change, error) {
	c, err := out.Turn.Change()
	if err != nil {
		return c, err
	}
	for _, t := range out.Others {
		more, err := t.Change()
		if err != nil {
			return c, err
		}
		c = c.With(more)
	}
	c.Put = append(c.Put, out.Puts...)
	return c, nil
}
