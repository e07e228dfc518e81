package engine

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/journal"
	"github.com/nodbridge/nod/bridge/passkey"
)

// Signing configures the keys of people.
type Signing struct {
	Store passkey.Store
	// Site is the web site of the daemon. If it is nil, people cannot have
	// keys.
	Site *passkey.Site
	// People are the names of all people, and Administrators those of the
	// people who can invite others and revoke their keys.
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

// Passkeys keeps the keys of people.
type Passkeys struct {
	Signing
	notes   bridge.Notes
	journal *journal.Journal
	people  bridge.Directory // to tell people about their keys; may be nil
	chats   platforms
	log     *slog.Logger
}

func newPasskeys(s shared) *Passkeys {
	return &Passkeys{
		Signing: s.Signing, notes: s.Store, journal: s.journal, people: s.Directory, chats: s.platforms, log: s.Log,
	}
}

// Ready returns CodeUnsupported with a hint if people cannot have keys.
func (ps *Passkeys) Ready() error {
	if ps.Store == nil || ps.Site == nil {
		return bridge.Errorf(bridge.CodeUnsupported, "passkeys are not available").
			WithHint("turn on the console, and set console.url to an https URL or to http://localhost with a port")
	}
	return nil
}

// Of returns the keys of a person, oldest first, with revoked ones.
func (ps *Passkeys) Of(ctx context.Context, person string) ([]passkey.Credential, error) {
	if err := ps.Ready(); err != nil {
		return nil, err
	}
	return ps.Store.Passkeys(ctx, person)
}

// All returns the keys of all people, with revoked ones.
func (ps *Passkeys) All(ctx context.Context) ([]passkey.Credential, error) {
	if err := ps.Ready(); err != nil {
		return nil, err
	}
	people, err := ps.Store.PasskeyPeople(ctx)
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
func (ps *Passkeys) Has(ctx context.Context, person string) (bool, error) {
	all, err := ps.Of(ctx, person)
	return slices.ContainsFunc(all, passkey.Credential.Valid), err
}

// Use records the use of a key that [passkey.Site.Check] returned. It returns
// CodeForbidden if the key is revoked or its counter does not grow.
func (ps *Passkeys) Use(ctx context.Context, c passkey.Credential) error {
	if err := ps.Ready(); err != nil {
		return err
	}
	c.Used = now()
	return ps.Store.UsePasskey(ctx, c)
}

// now returns the time in the precision that is stored.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Administers reports whether a person can invite people and revoke any key.
func (ps *Passkeys) Administers(person string) bool {
	return person != "" && slices.Contains(ps.Administrators, person)
}

// invitation is the value of the note of an invitation.
type invitation struct {
	Person  string    `json:"person"`
	By      string    `json:"by"`
	Expires time.Time `json:"expires"`
}

// secretNote returns the key of a note about a secret, of which it has only the
// hash.
func secretNote(kind, secret string) string {
	return "passkey " + kind + ":" + bridge.HashText(secret)
}

// Invite returns the URL at which a person can add one key, and the time when
// it expires. It returns CodeForbidden unless by is an administrator, and
// CodeNotFound for an unknown person.
func (ps *Passkeys) Invite(ctx context.Context, by, person string) (url string, expires time.Time, err error) {
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
	if err := ps.audit(ctx, bridge.PasskeyChange{Action: "invited", Person: person, By: by}); err != nil {
		return "", expires, err
	}
	if _, err := ps.notes.PutNote(ctx, secretNote("invitation", secret), string(raw), InvitationTTL); err != nil {
		return "", expires, err
	}
	return ps.Site.Origins()[0] + "/console/#/enroll/" + secret, in.Expires, nil
}

// Invited returns the person of an invitation. It does not use it up. It
// returns CodeNotFound for an unknown, expired or used invitation.
func (ps *Passkeys) Invited(ctx context.Context, secret string) (person, by string, err error) {
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

// take uses up a secret. Exactly one caller succeeds.
func (ps *Passkeys) take(ctx context.Context, kind, secret string, ttl time.Duration) error {
	first, err := bridge.Claim(ctx, ps.notes, secretNote("used "+kind, secret), ttl)
	if err != nil {
		return err
	}
	if !first {
		return bridge.Errorf(bridge.CodeForbidden, "this %s was used already", kind)
	}
	return ps.notes.DropNote(ctx, secretNote(kind, secret))
}

// Begin returns the options with which the browser of a person creates a key.
// The caller must have established who the person is.
func (ps *Passkeys) Begin(ctx context.Context, person string) (options []byte, err error) {
	existing, err := ps.Of(ctx, person)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(ps.People, person) {
		return nil, bridge.Errorf(bridge.CodeNotFound, "person %q not found", person)
	}
	challenge := passkey.NewChallenge()
	if _, err := ps.notes.PutNote(ctx, secretNote("challenge", string(challenge)), person, enrollTTL); err != nil {
		return nil, err
	}
	return ps.Site.Create(person, existing, challenge)
}

// Confirm returns the options with which a person confirms a new key with one that
// they have: nil for the first key. The options are those of Begin. A token, or a
// browser that was left open, is not enough to add another key.
func (ps *Passkeys) Confirm(ctx context.Context, person string, options []byte) ([]byte, error) {
	mine, err := ps.Of(ctx, person)
	if err != nil || !slices.ContainsFunc(mine, passkey.Credential.Valid) {
		return nil, err
	}
	var made struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &made); err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "passkey options")
	}
	st := passkey.NewStatement(bridge.Statement{
		Request: "passkey", Payload: made.Challenge, Content: made.Challenge, Decision: "add", Scope: "passkey", Person: person,
	})
	raw, err := json.Marshal(st)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "passkey options")
	}
	if _, err := ps.notes.PutNote(ctx, secretNote("confirmation", made.Challenge), string(raw), enrollTTL); err != nil {
		return nil, err
	}
	return ps.Site.Request(st, mine)
}

// confirmed returns CodeForbidden unless a person without a valid key, or the
// response of one of their keys, adds a key.
func (ps *Passkeys) confirmed(ctx context.Context, e Enrollment) error {
	mine, err := ps.Of(ctx, e.Person)
	if err != nil || !slices.ContainsFunc(mine, passkey.Credential.Valid) {
		return err
	}
	refused := bridge.Errorf(bridge.CodeForbidden, "you have a passkey already, so the new one must be confirmed with it").
		WithHint("if you lost it, ask an administrator for an invitation")
	if len(e.Proof) == 0 {
		return refused
	}
	raw, err := ps.notes.Note(ctx, secretNote("confirmation", e.Challenge))
	if err != nil {
		return err
	}
	var st passkey.Statement
	if raw == "" || json.Unmarshal([]byte(raw), &st) != nil || st.Payload != e.Challenge || st.Person != e.Person {
		return refused
	}
	_, err = ps.accept(ctx, st, mine, e.Proof)
	return err
}

// usedTTL is the time for which a signature is known to be used.
const usedTTL = 2 * bridge.TicketTTL

// accept checks the response of a key to a statement, and records the use of the
// key. It returns CodeForbidden for a signature that was used before: synchronized
// passkeys have no counter that would show it, and the counter of another would say
// that the key was copied.
func (ps *Passkeys) accept(ctx context.Context, st passkey.Statement, keys []passkey.Credential, signed []byte) (passkey.Assertion, error) {
	a, used, err := ps.Site.Check(st, keys, signed)
	if a.Signature == "" {
		return a, err
	}
	first, failed := bridge.Claim(ctx, ps.notes, "signed:"+bridge.HashText(a.Signature), usedTTL)
	switch {
	case failed != nil:
		return a, failed
	case !first:
		return a, bridge.Errorf(bridge.CodeForbidden, "this signature was already used").
			WithHint("reload this page: it shows what is recorded; if nothing is, sign again")
	case err != nil:
		return a, err
	}
	return a, ps.Use(ctx, used)
}

// tellTime is the time in which a person is told about a new key.
const tellTime = 5 * time.Second

// tell sends a person a direct message. A message that no platform takes is only
// logged, because the key was added.
func (ps *Passkeys) tell(ctx context.Context, c passkey.Credential) {
	if ps.people == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	accounts, err := ps.people.Accounts(ctx, c.Person)
	text := "A passkey was added for you, which can sign approvals. If you did not add it, ask your nod administrator to revoke it at once."
	for _, a := range accounts {
		if p, ok := ps.chats[a.Platform].(bridge.DirectMessenger); ok {
			if err = p.Tell(ctx, a.User, text); err == nil {
				return
			}
		}
	}
	if err != nil {
		ps.log.Warn("person not told about a new passkey", "person", c.Person, "error", err)
	}
}

// Enrollment is a key that a browser created.
type Enrollment struct {
	Person     string // established by the caller
	Invitation string // empty after a sign-in
	Label      string
	Challenge  string // of the options, base64url
	Response   []byte // of the browser
	// Proof is the response of a key that the person has to the options of
	// [Passkeys.Confirm]. An invitation needs none.
	Proof []byte
}

// Added returns the key that an earlier call with the same challenge and response
// added, because its answer may have been lost.
func (ps *Passkeys) Added(ctx context.Context, challenge string, response []byte) (passkey.Credential, bool) {
	was, err := ps.notes.Note(ctx, secretNote("added", challenge))
	if err != nil || was == "" {
		return passkey.Credential{}, false
	}
	all, err := ps.All(ctx)
	n := slices.IndexFunc(all, func(c passkey.Credential) bool { return was == addition(c, response) })
	if err != nil || n < 0 {
		return passkey.Credential{}, false
	}
	return all[n], true
}

// addition returns the value of the note about a key that a response adds.
func addition(c passkey.Credential, response []byte) string {
	return c.Name() + " " + bridge.HashText(string(response))
}

// Enroll adds a key of a person, after the options of [Passkeys.Begin]. Each
// challenge and each invitation counts once.
func (ps *Passkeys) Enroll(ctx context.Context, e Enrollment) (passkey.Credential, error) {
	by := e.Person
	if e.Invitation != "" {
		var err error
		if e.Person, by, err = ps.Invited(ctx, e.Invitation); err != nil {
			return passkey.Credential{}, err
		}
	}
	if e.Invitation == "" {
		if err := ps.confirmed(ctx, e); err != nil {
			return passkey.Credential{}, err
		}
	}
	challenge, err := ps.challenge(ctx, e)
	if err != nil {
		return passkey.Credential{}, err
	}
	c, err := ps.Site.Enroll(e.Person, challenge, e.Response)
	if err != nil {
		return c, err
	}
	c.Label, c.Created = label(e.Label), now()
	if e.Invitation != "" {
		if err := ps.take(ctx, "invitation", e.Invitation, InvitationTTL); err != nil {
			return c, err
		}
	}
	if _, err := ps.notes.PutNote(ctx, secretNote("added", e.Challenge), addition(c, e.Response), enrollTTL); err != nil {
		return c, err
	}
	err = ps.audit(ctx, bridge.PasskeyChange{
		Action: "added", Person: c.Person, Credential: c.Name(), Label: c.Label, By: by,
		PublicKey: base64.RawURLEncoding.EncodeToString(c.PublicKey),
	})
	if err == nil {
		err = ps.Store.AddPasskey(ctx, c)
	}
	if err == nil {
		ps.tell(ctx, c)
	}
	return c, err
}

// challenge takes the challenge of an enrollment.
func (ps *Passkeys) challenge(ctx context.Context, e Enrollment) ([]byte, error) {
	if err := ps.Ready(); err != nil {
		return nil, err
	}
	stale := bridge.Errorf(bridge.CodeForbidden, "the key was not created in time or not for you").WithHint("try again")
	challenge, err := bridge.DecodeBase64(e.Challenge)
	if err != nil {
		return nil, stale
	}
	person, err := ps.notes.Note(ctx, secretNote("challenge", string(challenge)))
	if err != nil {
		return nil, err
	}
	if person == "" || person != e.Person {
		return nil, stale
	}
	return challenge, ps.take(ctx, "challenge", string(challenge), enrollTTL)
}

// label returns the name of a key on one line with a limited length.
func label(s string) string {
	r := []rune(strings.TrimSpace(bridge.OneLine(s)))
	return string(r[:min(len(r), maxLabel)])
}

// Revoke revokes a key, given by its ID in base64url. People revoke their own
// keys, except for their last one. Administrators revoke any.
func (ps *Passkeys) Revoke(ctx context.Context, by, person, id string) error {
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
	c := all[n]
	if !c.Valid() {
		return nil
	}
	others := slices.ContainsFunc(all, func(o passkey.Credential) bool { return o.Valid() && !bytes.Equal(o.ID, c.ID) })
	if !others && !ps.Administers(by) {
		return bridge.Errorf(bridge.CodeForbidden, "this is the last passkey of %s, so only an administrator can revoke it", person).
			WithHint("add another passkey first, or ask an administrator")
	}
	c.Revoked = now()
	err = ps.audit(ctx, bridge.PasskeyChange{
		Action: "revoked", Person: person, Credential: c.Name(), Label: c.Label, By: by,
	})
	if err != nil {
		return err
	}
	return ps.Store.RevokePasskey(ctx, c)
}

// Keys returns the public keys of all people, for checks offline.
func (ps *Passkeys) Keys(ctx context.Context) (passkey.Keys, error) {
	all, err := ps.All(ctx)
	if err != nil {
		return passkey.Keys{}, err
	}
	return ps.Site.Export(all)
}

// audit writes a change to the audit log. No change is made without its entry.
func (ps *Passkeys) audit(ctx context.Context, c bridge.PasskeyChange) error {
	ps.log.Info("passkeys", "action", c.Action, "person", c.Person, "by", c.By)
	return ps.journal.Write(ctx, bridge.AuditPasskey, bridge.Interaction{}, c)
}
