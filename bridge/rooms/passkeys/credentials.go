package passkeys

import (
	"bytes"
	"context"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/broker"
)

// Credentials stores the keys of people. It is safe for concurrent use.
type Credentials struct{ db documents.DB }

// NewCredentials returns the keys in a database.
func NewCredentials(db documents.DB) *Credentials { return &Credentials{db} }

var passkeyDocs = broker.NewDocs[passkey.Credential]("passkey", 1)

// passkeyIndex is the index of the keys of people.
const passkeyIndex = "passkeys"

// all returns all keys, oldest first.
func (ps *Credentials) all(ctx context.Context) ([]passkey.Credential, error) {
	members, err := ps.db.Range(ctx, broker.Query{Index: passkeyIndex})
	if err != nil {
		return nil, documents.Public(err)
	}
	page, err := documents.List(ctx, ps.db, passkeyDocs, documents.Names(members))
	out := page.Items // no one can sign or sign in with a key that nod cannot read
	slices.SortFunc(out, func(a, b passkey.Credential) int {
		if n := a.Created.Compare(b.Created); n != 0 {
			return n
		}
		return bytes.Compare(a.ID, b.ID)
	})
	return out, err
}

// Passkeys returns the keys of a person, including revoked keys, oldest first.
func (ps *Credentials) Passkeys(ctx context.Context, person string) ([]passkey.Credential, error) {
	all, err := ps.all(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c passkey.Credential) bool { return c.Person != person }), nil
}

// PasskeyPeople returns the names of people with keys, sorted.
func (ps *Credentials) PasskeyPeople(ctx context.Context) ([]string, error) {
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

// Enrolled returns the number of valid passkeys of each person in a database.
func Enrolled(ctx context.Context, db documents.DB) (map[string]int, error) {
	all, err := NewCredentials(db).all(ctx)
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

// AddPasskey adds a key, together with other changes, which are read again after
// concurrent ones. It returns CodeConflict if any person has or had a key with this
// ID, or if the person already has MaxKeys valid keys. Two concurrent calls may
// exceed MaxKeys by one.
func (ps *Credentials) AddPasskey(ctx context.Context, c passkey.Credential, also ...func() (broker.Change, error)) error {
	mine, err := ps.Passkeys(ctx, c.Person)
	if err != nil {
		return err
	}
	mine = slices.DeleteFunc(mine, func(c passkey.Credential) bool { return !c.Valid() })
	if len(mine) >= passkey.MaxKeys {
		return bridge.Errorf(bridge.CodeConflict, "%s has %d passkeys already", c.Person, len(mine)).
			WithHint("revoke one that is no longer used")
	}
	return ps.update(ctx, c, func(stored *passkey.Credential, known bool) (more broker.Change, err error) {
		if known {
			return more, bridge.Errorf(bridge.CodeConflict, "this passkey is registered already")
		}
		*stored = c
		for _, f := range also {
			other, err := f()
			if err != nil {
				return more, err
			}
			more = more.With(other)
		}
		return more, nil
	})
}

// update changes a key with a rule, which also returns further parts of the change.
func (ps *Credentials) update(
	ctx context.Context, c passkey.Credential, rule func(stored *passkey.Credential, known bool) (broker.Change, error),
) error {
	_, err := passkeyDocs.Update(ctx, ps.db, c.Name(), func(stored *passkey.Credential, d *broker.Doc) (broker.Change, error) {
		more, err := rule(stored, d.Exists())
		member := broker.Member{Index: passkeyIndex, Name: c.Name(), At: stored.Created}
		return more.With(broker.Change{Set: []broker.Member{member}, Replicated: true, Urgent: true}), err
	})
	return documents.Public(err)
}

// same reports whether a stored key is the same as another one.
func same(stored *passkey.Credential, known bool, c passkey.Credential) bool {
	return known && stored.Person == c.Person && bytes.Equal(stored.PublicKey, c.PublicKey)
}

// UsePasskey stores Counter, BackedUp and Used of a key that [passkey.Site.Check]
// returned, in one atomic step. It returns CodeForbidden and changes nothing if the key is
// unknown or revoked, or if the stored counter does not grow.
func (ps *Credentials) UsePasskey(ctx context.Context, c passkey.Credential) error {
	return ps.update(ctx, c, func(stored *passkey.Credential, known bool) (more broker.Change, err error) {
		switch {
		case !same(stored, known, c):
			return more, bridge.Errorf(bridge.CodeForbidden, "passkey: not known for this person")
		case !stored.Valid():
			return more, errRevoked()
		case !passkey.Grows(stored.Counter, c.Counter):
			return more, bridge.Errorf(bridge.CodeForbidden, "passkey: the counter of this passkey decreased, so a copy of it may exist")
		}
		*stored = c
		return more, nil
	})
}

func errRevoked() error {
	return bridge.Errorf(bridge.CodeForbidden, "passkey: this passkey was revoked")
}

// unrevoked returns the condition that a key is valid. It returns CodeForbidden if it
// is not.
func (ps *Credentials) unrevoked(ctx context.Context, name string) (broker.Change, error) {
	c, d, err := passkeyDocs.Get(ctx, ps.db, name)
	if err == nil && !(d.Exists() && c.Valid()) {
		err = errRevoked()
	}
	return broker.Change{If: []broker.Version{d.At()}}, err
}

// RevokePasskey revokes a key, with entries of the audit log. It returns CodeNotFound for an
// unknown key, and nil if the key is already revoked. Unless last is true, it returns
// CodeForbidden for the last valid key of its person.
func (ps *Credentials) RevokePasskey(ctx context.Context, c passkey.Credential, last bool, entries ...broker.Entry) error {
	return ps.update(ctx, c, func(stored *passkey.Credential, known bool) (more broker.Change, err error) {
		switch {
		case !same(stored, known, c):
			return more, bridge.Errorf(bridge.CodeNotFound, "passkey %s of %s not found", c.Name(), c.Person)
		case !stored.Valid():
			return more, nil // the key is stored again, so that the replicas confirm it
		case !last:
			more, err = ps.other(ctx, c)
		}
		stored.Revoked, more.Journal = now(), entries
		return more, err
	})
}

// other returns the condition that the person of a key has another valid key. It returns
// CodeForbidden if there is none.
func (ps *Credentials) other(ctx context.Context, c passkey.Credential) (broker.Change, error) {
	mine, err := ps.Passkeys(ctx, c.Person)
	if err != nil {
		return broker.Change{}, err
	}
	n := slices.IndexFunc(mine, func(o passkey.Credential) bool { return o.Valid() && !bytes.Equal(o.ID, c.ID) })
	if n < 0 {
		return broker.Change{}, bridge.Errorf(bridge.CodeForbidden, "this is the last passkey of %s, so only an administrator can revoke it", c.Person).
			WithHint("add another passkey first, or ask an administrator")
	}
	return ps.unrevoked(ctx, mine[n].Name())
}
