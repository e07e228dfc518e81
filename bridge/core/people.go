package core

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/broker"
)

// links implements bridge.Links.
type links struct{ *shared }

var linkDocs = broker.NewDocs[bridge.Link]("link", 1)

// linkIndex is the index of the linked accounts.
const linkIndex = "links"

// Linked implements bridge.Links.
func (ls links) Linked(ctx context.Context, platform, user string) (bridge.Link, error) {
	l, _, err := linkDocs.Get(ctx, ls.db, platform+"/"+user)
	var forged *broker.ForgedError
	if errors.As(err, &forged) { // the account has to be linked again
		ls.refused(err)
		return bridge.Link{}, nil
	}
	return l, public(err)
}

// PutLink implements bridge.Links.
func (ls links) PutLink(ctx context.Context, l bridge.Link) error {
	name := l.Platform + "/" + l.User
	_, err := linkDocs.Update(ctx, ls.db, name, func(stored *bridge.Link, _ *broker.Doc) (broker.Change, error) {
		*stored = l
		return broker.Change{Set: []broker.Member{{Index: linkIndex, Name: name}}}, nil
	})
	return public(err)
}

// DropLink implements bridge.Links.
func (ls links) DropLink(ctx context.Context, platform, user string) (bool, error) {
	return drop(ctx, ls.db, linkDocs.Key(platform+"/"+user), linkIndex)
}

// drop removes a document and its member of an index. Both have the same name.
// It reports whether the document existed. If the index is empty, it removes
// only the document.
func drop(ctx context.Context, db broker.Store, k broker.Key, index string) (existed bool, err error) {
	err = broker.Retry(ctx, func() error {
		docs, err := db.Get(ctx, k)
		if err != nil {
			return err
		}
		if !docs[0].Exists() {
			return nil
		}
		existed = true
		c := broker.Change{Drop: []broker.Version{docs[0].At()}, Replicated: true, Urgent: true}
		if index != "" {
			c.Unset = []broker.Member{{Index: index, Name: k.ID}}
		}
		_, err = db.Do(ctx, c)
		return err
	})
	return existed, public(err)
}

// Links implements bridge.Links.
func (ls links) Links(ctx context.Context) ([]bridge.Link, error) {
	all, err := ls.db.Range(ctx, broker.Query{Index: linkIndex})
	if err != nil {
		return nil, public(err)
	}
	ids := names(all)
	slices.Sort(ids)
	out, err := linkDocs.List(ctx, ls.db, ids, ls.refused)
	if out == nil {
		out = []bridge.Link{}
	}
	return out, public(err)
}

// passkeys implements passkey.Store.
type passkeys struct{ *shared }

var _ passkey.Store = (*Store)(nil)

var passkeyDocs = broker.NewDocs[passkey.Credential]("passkey", 1)

// passkeyIndex is the index of the passkeys of people.
const passkeyIndex = "passkeys"

// all returns all passkeys, oldest first.
func (ps passkeys) all(ctx context.Context) ([]passkey.Credential, error) {
	members, err := ps.db.Range(ctx, broker.Query{Index: passkeyIndex})
	if err != nil {
		return nil, public(err)
	}
	out, err := passkeyDocs.List(ctx, ps.db, names(members), ps.refused)
	slices.SortFunc(out, func(a, b passkey.Credential) int {
		if n := a.Created.Compare(b.Created); n != 0 {
			return n
		}
		return bytes.Compare(a.ID, b.ID)
	})
	return out, public(err)
}

// Passkeys implements passkey.Store.
func (ps passkeys) Passkeys(ctx context.Context, person string) ([]passkey.Credential, error) {
	all, err := ps.all(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c passkey.Credential) bool { return c.Person != person }), nil
}

// PasskeyPeople implements passkey.Store.
func (ps passkeys) PasskeyPeople(ctx context.Context) ([]string, error) {
	all, err := ps.all(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range all {
		out = append(out, c.Person)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Enrolled returns the number of valid passkeys of each person in a store.
func Enrolled(ctx context.Context, db broker.Store) (map[string]int, error) {
	all, err := (passkeys{&shared{db: db}}).all(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, c := range all {
		if c.Valid() {
			out[c.Person]++
		}
	}
	return out, nil
}

// AddPasskey implements passkey.Store. Two calls at the same moment may exceed
// MaxKeys by one.
func (ps passkeys) AddPasskey(ctx context.Context, c passkey.Credential) error {
	mine, err := ps.Passkeys(ctx, c.Person)
	if err != nil {
		return err
	}
	mine = slices.DeleteFunc(mine, func(c passkey.Credential) bool { return !c.Valid() })
	if len(mine) >= passkey.MaxKeys {
		return bridge.Errorf(bridge.CodeConflict, "%s has %d passkeys already", c.Person, len(mine)).
			WithHint("revoke one that is no longer used")
	}
	return ps.update(ctx, c, func(stored *passkey.Credential, known bool) error {
		if known {
			return bridge.Errorf(bridge.CodeConflict, "this passkey is registered already")
		}
		*stored = c
		return nil
	})
}

// update changes a passkey with a rule.
func (ps passkeys) update(ctx context.Context, c passkey.Credential, rule func(stored *passkey.Credential, known bool) error) error {
	_, err := passkeyDocs.Update(ctx, ps.db, c.Name(), func(stored *passkey.Credential, d *broker.Doc) (broker.Change, error) {
		err := rule(stored, d.Exists())
		return broker.Change{Set: []broker.Member{{Index: passkeyIndex, Name: c.Name(), At: stored.Created}}, Replicated: true, Urgent: true}, err
	})
	return public(err)
}

// same reports whether a stored passkey equals another passkey.
func same(stored *passkey.Credential, known bool, c passkey.Credential) bool {
	return known && stored.Person == c.Person && bytes.Equal(stored.PublicKey, c.PublicKey)
}

// UsePasskey implements passkey.Store.
func (ps passkeys) UsePasskey(ctx context.Context, c passkey.Credential) error {
	return ps.update(ctx, c, func(stored *passkey.Credential, known bool) error {
		switch {
		case !same(stored, known, c):
			return bridge.Errorf(bridge.CodeForbidden, "passkey: not known for this person")
		case !stored.Valid():
			return bridge.Errorf(bridge.CodeForbidden, "passkey: this passkey was revoked")
		case !passkey.Grows(stored.Counter, c.Counter):
			return bridge.Errorf(bridge.CodeForbidden, "passkey: the counter of this passkey went back, so a copy of it may exist")
		}
		*stored = c
		return nil
	})
}

// RevokePasskey implements passkey.Store.
func (ps passkeys) RevokePasskey(ctx context.Context, c passkey.Credential) error {
	if c.Valid() {
		return bridge.Errorf(bridge.CodeInternal, "passkey: the time of the revocation is missing")
	}
	return ps.update(ctx, c, func(stored *passkey.Credential, known bool) error {
		switch {
		case !same(stored, known, c):
			return bridge.Errorf(bridge.CodeNotFound, "passkey %s of %s not found", c.Name(), c.Person)
		case !stored.Valid():
			return broker.ErrUnchanged
		}
		*stored = c
		return nil
	})
}

// notes implements bridge.Notes.
type notes struct{ *shared }

// note is a note. Its expiry is in the document, because the time to live is
// not sealed. A zero expiry means that it does not expire.
type note struct {
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"`
}

// newNote returns a note with a time to live. Zero means that it does not
// expire.
func newNote(value string, now time.Time, ttl time.Duration) note {
	if ttl == 0 {
		return note{Value: value}
	}
	return note{value, now.Add(ttl)}
}

// lives reports whether a note has not expired.
func (n note) lives(now time.Time) bool { return n.Until.IsZero() || now.Before(n.Until) }

var noteDocs = broker.NewDocs[note]("note", 1)

// at returns the value of a note at a time. After the expiry of the note, it
// returns "".
func (n note) at(now time.Time) string {
	if n.lives(now) {
		return n.Value
	}
	return ""
}

// ReadNote returns a note in its stored form.
func ReadNote(ctx context.Context, db broker.Store, key string) (string, error) {
	n, _, err := noteDocs.Get(ctx, db, key)
	return n.Value, public(err)
}

// PutNote implements bridge.Notes.
func (ns notes) PutNote(ctx context.Context, key, value string, ttl time.Duration) (string, error) {
	kept := value
	_, err := noteDocs.Update(ctx, ns.db, key, func(n *note, d *broker.Doc) (broker.Change, error) {
		now := ns.db.Now()
		if d.Exists() && n.lives(now) {
			kept = n.Value
			return broker.Change{}, broker.ErrUnchanged
		}
		*n, kept, d.Keep = newNote(value, now, ttl), value, ttl
		return broker.Change{Urgent: true}, nil
	})
	return kept, public(err)
}

// SetNote implements bridge.Notes.
func (ns notes) SetNote(ctx context.Context, key, value string, ttl time.Duration) error {
	_, err := noteDocs.Update(ctx, ns.db, key, func(n *note, d *broker.Doc) (broker.Change, error) {
		*n, d.Keep = newNote(value, ns.db.Now(), ttl), ttl
		return broker.Change{Urgent: true}, nil
	})
	return public(err)
}

// Note implements bridge.Notes.
func (ns notes) Note(ctx context.Context, key string) (string, error) {
	n, _, err := noteDocs.Get(ctx, ns.db, key)
	var forged *broker.ForgedError
	if errors.As(err, &forged) {
		ns.refused(err)
		return "", nil
	}
	return n.at(ns.db.Now()), public(err)
}

// DropNote implements bridge.Notes.
func (ns notes) DropNote(ctx context.Context, key string) error {
	_, err := drop(ctx, ns.db, noteDocs.Key(key), "")
	return err
}

// leases implements bridge.Leases.
type leases struct{ *shared }

var leaseDocs = broker.NewDocs[string]("lease", 1)

// Hold implements bridge.Leases.
func (le leases) Hold(ctx context.Context, name, holder string, ttl time.Duration) (bool, error) {
	held := false
	_, err := leaseDocs.Update(ctx, le.db, name, func(by *string, d *broker.Doc) (broker.Change, error) {
		if held = !d.Exists() || *by == holder; !held {
			return broker.Change{}, broker.ErrUnchanged
		}
		*by, d.Keep = holder, ttl
		return broker.Change{Urgent: true}, nil
	})
	return held && err == nil, public(err)
}

// Release implements bridge.Leases.
func (le leases) Release(ctx context.Context, name, holder string) error {
	by, d, err := leaseDocs.Get(ctx, le.db, name)
	if err != nil || by != holder {
		return public(err)
	}
	_, err = le.db.Do(ctx, broker.Change{Drop: []broker.Version{d.At()}, Urgent: true})
	var stale *broker.Stale
	if errors.As(err, &stale) {
		return nil // the lease has expired
	}
	return public(err)
}

// drafts implements bridge.Drafts.
type drafts struct{ *shared }

// drafted holds the drafts of an interaction by account. For each destination,
// it holds the account whose draft the card shows.
type drafted struct {
	Of    map[string]bridge.Draft `json:"of"`
	Shown map[int]string          `json:"shown"`
}

var draftDocs = broker.NewDocs[drafted]("draft", 1)

// draftKeep is the time for which drafts are kept after the last change. It is
// longer than the lifetime of an interaction.
const draftKeep = bridge.MaxTimeout + time.Hour

func account(a bridge.Actor) string { return a.Platform + "/" + a.User }

// Draft implements bridge.Drafts.
func (ds drafts) Draft(ctx context.Context, id bridge.ID, destination int, actor bridge.Actor) (mine, shown *bridge.Draft, err error) {
	all, _, err := draftDocs.Get(ctx, ds.db, string(id))
	var forged *broker.ForgedError
	if errors.As(err, &forged) {
		ds.refused(err)
		return nil, nil, nil
	}
	of := func(who string) *bridge.Draft {
		if d, ok := all.Of[who]; ok {
			return &d
		}
		return nil
	}
	return of(account(actor)), of(all.Shown[destination]), public(err)
}

// SaveDraft implements bridge.Drafts.
func (ds drafts) SaveDraft(ctx context.Context, id bridge.ID, destination int, d bridge.Draft) error {
	_, err := draftDocs.Update(ctx, ds.db, string(id), func(all *drafted, doc *broker.Doc) (broker.Change, error) {
		if all.Of == nil {
			*all = drafted{map[string]bridge.Draft{}, map[int]string{}}
		}
		all.Of[account(d.Actor)], all.Shown[destination], doc.Keep = d, account(d.Actor), draftKeep
		return broker.Change{}, nil
	})
	return public(err)
}

// limits implements bridge.Limits.
type limits struct{ *shared }

// Count implements bridge.Limits.
func (lm limits) Count(ctx context.Context, agent string, at time.Time) (int, error) {
	n, err := lm.db.Tally(ctx, "requests:"+agent+":"+strings.ReplaceAll(at.UTC().Format("15:04"), ":", ""), 2*time.Minute)
	return n, public(err)
}
