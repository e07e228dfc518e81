// Package passkeys handles the keys with which people prove their approvals: it
// adds and revokes keys, and creates the tickets that ask for a proof. Package
// passkey decides what a signature covers. Start with [Room.Decide], which asks
// for a proof, and [Room.Sign].
package passkeys

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/broker"
)

// Signing configures the keys of people.
type Signing struct {
	// Site is the web site of the daemon. If it is nil, people cannot have
	// keys.
	Site *passkey.Site
	// People lists the names of all people. Administrators lists the people who
	// can invite others and revoke the keys of others.
	People, Administrators []string
}

const (
	// InvitationTTL is the lifetime of an invitation.
	InvitationTTL = 24 * time.Hour
	// enrollTTL is the time that a person has to confirm a new key.
	enrollTTL = 5 * time.Minute
	// maxLabel is the limit of the name of a key in characters.
	maxLabel = 60
)

// Room manages the keys of people. It is safe for concurrent use.
type Room struct {
	Signing
	engine  *engine.Engine
	store   *Credentials
	notes   documents.Notes
	records core.Interactions
	people  bridge.Directory // to tell people about their keys; may be nil
	chats   map[string]bridge.Platform
	log     *slog.Logger
}

// New returns the room of an engine.
func New(e *engine.Engine, o engine.Options, s Signing) *Room {
	return &Room{Signing: s, engine: e, store: NewCredentials(documents.DB{Store: o.DB, Log: o.Log}), notes: e.Notes, records: o.Store, people: o.Directory, chats: engine.ByName(o.Platforms), log: o.Log}
}

// Ready returns CodeUnsupported with a hint if people cannot have keys.
func (ps *Room) Ready() error {
	if ps.Site == nil {
		return bridge.Errorf(bridge.CodeUnsupported, "passkeys are not available").
			WithHint("turn on the console, and set console.url to an https URL or to http://localhost with a port")
	}
	return nil
}

// Of returns the keys of a person, including revoked ones, oldest first.
func (ps *Room) Of(ctx context.Context, person string) ([]passkey.Credential, error) {
	if err := ps.Ready(); err != nil {
		return nil, err
	}
	return ps.store.Passkeys(ctx, person)
}

// All returns the keys of all people, including revoked ones.
func (ps *Room) All(ctx context.Context) ([]passkey.Credential, error) {
	if err := ps.Ready(); err != nil {
		return nil, err
	}
	people, err := ps.store.PasskeyPeople(ctx)
	if err != nil {
		return nil, err
	}
	var out []passkey.Credential
	for _, person := range people {
		mine, err := ps.Of(ctx, person)
		if err != nil {
			return nil, err
		}
		out = append(out, mine...)
	}
	return out, nil
}

// Has reports whether a person has a key that is not revoked.
func (ps *Room) Has(ctx context.Context, person string) (bool, error) {
	all, err := ps.Of(ctx, person)
	return slices.ContainsFunc(all, passkey.Credential.Valid), err
}

// Use records the use of a key that [passkey.Site.Check] returned. It returns
// CodeForbidden if the key is revoked or its counter does not grow.
func (ps *Room) Use(ctx context.Context, c passkey.Credential) error {
	if err := ps.Ready(); err != nil {
		return err
	}
	c.Used = now()
	return ps.store.UsePasskey(ctx, c)
}

// now returns the time with the precision of the store.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Administers reports whether a person can invite people and revoke any key.
func (ps *Room) Administers(person string) bool {
	return person != "" && slices.Contains(ps.Administrators, person)
}

// invitation is the stored form of an invitation.
type invitation struct {
	Person  string    `json:"person"`
	By      string    `json:"by"`
	Expires time.Time `json:"expires"`
}

// secretNote returns the key of the note about a secret. The key contains only
// the hash of the secret.
func secretNote(kind, secret string) string {
	return "passkey " + kind + ":" + bridge.HashText(secret)
}

// Invite returns the URL at which a person can add one key, and the time when
// it expires. It returns CodeForbidden unless by is an administrator, and
// CodeNotFound for an unknown person.
func (ps *Room) Invite(ctx context.Context, by, person string) (url string, expires time.Time, err error) {
	if err := ps.Ready(); err != nil {
		return "", expires, err
	}
	if !ps.Administers(by) {
		return "", expires, bridge.Errorf(bridge.CodeForbidden, "only administrators can invite people").
			WithHint("set administrator for the person under people in the config")
	}
	if !slices.Contains(ps.People, person) {
		return "", expires, bridge.Errorf(bridge.CodeNotFound, "person %q not found", person).
			WithHint("the people are those under people in the config")
	}
	secret, in := bridge.NewSecret(), invitation{person, by, now().Add(InvitationTTL)}
	raw, err := json.Marshal(in)
	if err != nil {
		return "", expires, bridge.Wrap(bridge.CodeInternal, err, "invitation")
	}
	entry, err := ps.entry(bridge.PasskeyChange{Action: "invited", Person: person, By: by})
	if err != nil {
		return "", expires, err
	}
	if _, err := ps.notes.PutNoteWith(ctx, secretNote("invitation", secret), string(raw), InvitationTTL, entry); err != nil {
		return "", expires, err
	}
	return ps.Site.Origins()[0] + "/console/#/enroll/" + secret, in.Expires, nil
}

// Invited returns the person of an invitation. It does not use up the
// invitation. It returns CodeNotFound for an unknown, expired or used
// invitation.
func (ps *Room) Invited(ctx context.Context, secret string) (person, by string, err error) {
	if err := ps.Ready(); err != nil {
		return "", "", err
	}
	raw, err := ps.notes.Note(ctx, secretNote("invitation", secret))
	if err != nil {
		return "", "", err
	}
	var in invitation
	if raw == "" || json.Unmarshal([]byte(raw), &in) != nil || time.Now().After(in.Expires) ||
		!slices.Contains(ps.People, in.Person) || !ps.Administers(in.By) {
		return "", "", bridge.Errorf(bridge.CodeNotFound, "this invitation is unknown, used or expired").
			WithHint("ask an administrator for another one")
	}
	return in.Person, in.By, nil
}

// Revoke revokes a key by its ID in base64url. People can revoke their own
// keys, except for their last one. Administrators can revoke any key.
func (ps *Room) Revoke(ctx context.Context, by, person, id string) error {
	if by != person && !ps.Administers(by) {
		return bridge.Errorf(bridge.CodeForbidden, "only administrators can revoke a key of another person")
	}
	all, err := ps.Of(ctx, person)
	if err != nil {
		return err
	}
	raw, derr := bridge.DecodeBase64(id)
	n := slices.IndexFunc(all, func(c passkey.Credential) bool { return derr == nil && bytes.Equal(c.ID, raw) })
	if n < 0 {
		return bridge.Errorf(bridge.CodeNotFound, "passkey %s of %s not found", id, person).
			WithHint("nod passkey list prints the IDs")
	}
	entry, err := ps.entry(bridge.PasskeyChange{
		Action: "revoked", Person: person, Credential: all[n].Name(), Label: all[n].Label, By: by,
	})
	if err != nil {
		return err
	}
	return ps.store.RevokePasskey(ctx, all[n], ps.Administers(by), entry)
}

// Keys returns the public keys of all people, for checks offline.
func (ps *Room) Keys(ctx context.Context) (passkey.Keys, error) {
	all, err := ps.All(ctx)
	if err != nil {
		return passkey.Keys{}, err
	}
	return ps.Site.Export(all)
}

// entry returns the entry of the audit log about a change. It is stored with the
// change.
func (ps *Room) entry(c bridge.PasskeyChange) (broker.Entry, error) {
	ps.log.Info("passkeys", "action", c.Action, "person", c.Person, "by", c.By)
	return ps.engine.Journal.Entry(bridge.AuditPasskey, bridge.Interaction{}, c)
}
