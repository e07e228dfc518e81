package documents

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/nodbridge/nod/broker"
)

// Notes are small values for a limited time. They are safe for concurrent use.
type Notes struct{ db DB }

// NewNotes returns the notes in a database.
func NewNotes(db DB) Notes { return Notes{db} }

// note is a stored note. The document contains the end of its lifetime, because
// the seal does not cover the time to live. Zero means that the note has no
// end.
type note struct {
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"`
}

// newNote returns a note with a time to live. Zero means forever.
func newNote(value string, now time.Time, ttl time.Duration) note {
	if ttl == 0 {
		return note{Value: value}
	}
	return note{value, now.Add(ttl)}
}

// lives reports whether a note has not ended.
func (n note) lives(now time.Time) bool { return n.Until.IsZero() || now.Before(n.Until) }

var noteDocs = broker.NewDocs[note]("note", 1)

// at returns the value of a note at a time: "" after its end.
func (n note) at(now time.Time) string {
	if n.lives(now) {
		return n.Value
	}
	return ""
}

// ReadNote returns a note from a store without checking its seal.
func ReadNote(ctx context.Context, db broker.Store, key string) (string, error) {
	n, _, err := noteDocs.Get(ctx, db, key)
	return n.Value, Public(err)
}

// PutNote stores a value unless the key has one, and returns the stored value.
func (ns Notes) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	return ns.PutNoteWith(ctx, key, value, ttl)
}

// PutNoteWith is PutNote with entries of the journal, which are part of the change.
func (ns Notes) PutNoteWith(ctx context.Context, key, value string, ttl time.Duration, entries ...broker.Entry) (string, error) {
	kept := value
	_, err := noteDocs.Update(ctx, ns.db, key, func(n *note, d *broker.Doc) (broker.Change, error) {
		now := ns.db.Now()
		if d.Exists() && n.lives(now) {
			kept = n.Value
			return broker.Change{}, broker.ErrUnchanged
		}
		*n, kept, d.Keep = newNote(value, now, ttl), value, ttl
		return broker.Change{Journal: entries, Urgent: true}, nil
	})
	return kept, Public(err)
}

// Claim reports whether the caller is the first one to claim a key within ttl. The claims
// of all daemons count.
func (ns Notes) Claim(ctx context.Context, key string, ttl time.Duration) (bool, error) {
	mark := rand.Text()
	kept, err := ns.PutNote(ctx, key, mark, ttl)
	return err == nil && kept == mark, err
}

// unclaimTime limits the time to undo a claim.
const unclaimTime = 5 * time.Second

// Unclaim undoes a claim, so that the next caller is the first one again. It works even
// if ctx has ended, because what was claimed usually fails for that reason.
func (ns Notes) Unclaim(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unclaimTime)
	defer cancel()
	return ns.DropNote(ctx, key)
}

// SetNote stores a value and replaces an earlier value of the key.
func (ns Notes) SetNote(ctx context.Context, key, value string, ttl time.Duration) error {
	_, err := noteDocs.Update(ctx, ns.db, key, func(n *note, d *broker.Doc) (broker.Change, error) {
		*n, d.Keep = newNote(value, ns.db.Now(), ttl), ttl
		return broker.Change{Urgent: true}, nil
	})
	return Public(err)
}

// Note returns a value. It returns "" if the key has none, or if the value does
// not verify.
func (ns Notes) Note(ctx context.Context, key string) (string, error) {
	n, _, err := ns.get(ctx, key)
	return n.at(ns.db.Now()), Public(err)
}

// get returns a note and its document. A note that does not verify counts as
// missing.
func (ns Notes) get(ctx context.Context, key string) (note, broker.Doc, error) {
	n, d, err := noteDocs.Get(ctx, ns.db, key)
	if errors.As(err, new(*broker.ForgedError)) {
		ns.db.Refused(err)
		return note{}, broker.Doc{}, nil
	}
	return n, d, err
}

// TakeNote removes a value and returns it. Of several callers, only one gets the value. If
// the reply of the store was lost, no one does.
func (ns Notes) TakeNote(ctx context.Context, key string) (string, error) {
	n, d, err := ns.get(ctx, key)
	if err != nil || !d.Exists() {
		return "", Public(err)
	}
	_, err = ns.db.Do(ctx, broker.Change{Drop: []broker.Version{d.At()}, Replicated: true, Urgent: true})
	if errors.As(err, new(*broker.Stale)) {
		return "", nil // another caller was first
	}
	if err != nil {
		return "", Public(err)
	}
	return n.at(ns.db.Now()), nil
}

// Taking is TakeNote as a part of another change, which fails if another caller
// was first.
func (ns Notes) Taking(ctx context.Context, key string) (string, broker.Change, error) {
	n, d, err := ns.get(ctx, key)
	return n.at(ns.db.Now()), broker.Change{Drop: []broker.Version{d.At()}}, Public(err)
}

// onceFor is longer than any attempt to send a change.
const onceFor = time.Minute

// Once applies a change without a document. It adds a note to the change, so
// that the change counts only once even if it is sent twice.
func (ns Notes) Once(ctx context.Context, c broker.Change) error {
	d := broker.Doc{Key: noteDocs.Key("once:" + rand.Text()), Keep: onceFor}
	d, err := noteDocs.Encode(d, new(newNote("", ns.db.Now(), onceFor)))
	if err == nil {
		c.Put = append(c.Put, d)
		_, err = ns.db.Do(ctx, c)
	}
	return Public(err)
}

// DropNote deletes a value.
func (ns Notes) DropNote(ctx context.Context, key string) error {
	_, err := ns.db.Drop(ctx, noteDocs.Key(key), "")
	return err
}
