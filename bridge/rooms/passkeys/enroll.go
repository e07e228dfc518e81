package passkeys

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/broker"
)

// Begin returns the options with which the browser of a person creates a key.
// The caller must have established who the person is.
func (ps *Room) Begin(ctx context.Context, person string) (options []byte, err error) {
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

// Confirm returns the options with which a person confirms a new key with an
// existing key. It returns nil for the first key. It uses the same challenge as
// Begin. A token, or a browser that was left open, is not enough to add another
// key.
func (ps *Room) Confirm(ctx context.Context, person string, options []byte) ([]byte, error) {
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

// confirmed returns CodeForbidden unless the person has no valid key, or
// confirms the new key with the response of an existing one.
func (ps *Room) confirmed(ctx context.Context, e Enrollment) error {
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

// usedTTL is the time for which nod remembers that a signature was used.
const usedTTL = 2 * bridge.TicketTTL

// accept checks the response of a key to a statement, and records the use of
// the key. It returns CodeForbidden for a signature that was used before.
// Synchronized passkeys have no counter that shows the reuse, and with any
// other passkey, the counter would wrongly indicate a copied key.
func (ps *Room) accept(ctx context.Context, st passkey.Statement, keys []passkey.Credential, signed []byte) (passkey.Assertion, error) {
	a, used, err := ps.Site.Check(st, keys, signed)
	if a.Signature == "" {
		return a, err
	}
	first, failed := ps.notes.Claim(ctx, "signed:"+bridge.HashText(a.Signature), usedTTL)
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

// tellTime is the time limit for the notification about a new key.
const tellTime = 5 * time.Second

// tell sends a person a direct message. If no platform accepts the message, it
// only logs the failure, because the key has already been added.
func (ps *Room) tell(ctx context.Context, c passkey.Credential) {
	if ps.people == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	accounts, err := ps.people.Accounts(ctx, c.Person)
	text := "A passkey that can sign approvals was added for you. If you did not add it, ask your nod administrator to revoke it at once."
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
	Challenge  string // challenge of the options, base64url
	Response   []byte // response of the browser
	// Proof is the response of an existing key to the options of
	// [Room.Confirm]. An invitation does not need a proof.
	Proof []byte
}

// Added returns the key that an earlier call with the same challenge and
// response added. The answer of that call may have been lost.
func (ps *Room) Added(ctx context.Context, challenge string, response []byte) (passkey.Credential, bool) {
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

// Enroll adds a key of a person, after the options of [Room.Begin]. Each
// challenge and each invitation counts once.
func (ps *Room) Enroll(ctx context.Context, e Enrollment) (passkey.Credential, error) {
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
	if _, err := ps.notes.PutNote(ctx, secretNote("added", e.Challenge), addition(c, e.Response), enrollTTL); err != nil {
		return c, err
	}
	entry, err := ps.entry(bridge.PasskeyChange{
		Action: "added", Person: c.Person, Credential: c.Name(), Label: c.Label, By: by,
		PublicKey: base64.RawURLEncoding.EncodeToString(c.PublicKey),
	})
	if err == nil {
		err = ps.store.AddPasskey(ctx, c, func() (broker.Change, error) {
			added := broker.Change{Journal: []broker.Entry{entry}}
			if e.Invitation == "" {
				return added, nil
			}
			left, used, err := ps.notes.Taking(ctx, secretNote("invitation", e.Invitation))
			if err == nil && left == "" {
				err = bridge.Errorf(bridge.CodeForbidden, "this invitation was used already")
			}
			return added.With(used), err
		})
	}
	if err == nil {
		ps.tell(ctx, c)
	}
	return c, err
}

// challenge uses up the challenge of an enrollment.
func (ps *Room) challenge(ctx context.Context, e Enrollment) ([]byte, error) {
	if err := ps.Ready(); err != nil {
		return nil, err
	}
	stale := bridge.Errorf(bridge.CodeForbidden, "the key was created too late, or for another person").WithHint("try again")
	challenge, err := bridge.DecodeBase64(e.Challenge)
	if err != nil {
		return nil, stale
	}
	key := secretNote("challenge", string(challenge))
	person, err := ps.notes.Note(ctx, key)
	if err == nil && person == e.Person {
		person, err = ps.notes.TakeNote(ctx, key)
	}
	if err == nil && (person == "" || person != e.Person) {
		err = stale
	}
	return challenge, err
}

// label returns the name of a key on one line with a limited length.
func label(s string) string {
	r := []rune(strings.TrimSpace(bridge.OneLine(s)))
	return string(r[:min(len(r), maxLabel)])
}
