package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/passkey/passkeytest"
	"github.com/nodbridge/nod/bridge/rooms/audit"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/broker"
)

// office is a world with keys of ana, bo and the administrator cy.
type office struct {
	*testing.T
	*world
	keys *passkeys.Room
	held map[string]*passkeytest.Authenticator // by person
}

func newOffice(t *testing.T) office {
	t.Helper()
	site, err := passkey.NewSite(publicURL)
	if err != nil {
		t.Fatal(err)
	}
	s := newSetup()
	s.signer, s.site, s.admins = newSigner(t), &site, []string{"cy"}
	w := newWorld(t, s)
	return office{t, w, w.engine.Passkeys, map[string]*passkeytest.Authenticator{}}
}

// add creates a key of a person, or of the person of an invitation.
func (o office) add(person, invitation string) (passkey.Credential, error) {
	o.Helper()
	whose := person
	if invitation != "" {
		var err error
		if whose, _, err = o.keys.Invited(o.Context(), invitation); err != nil {
			return passkey.Credential{}, err
		}
	}
	options, err := o.keys.Begin(o.Context(), whose)
	if err != nil {
		return passkey.Credential{}, err
	}
	return o.finish(passkeytest.New(o, publicURL), options, person, invitation)
}

func (o office) finish(a *passkeytest.Authenticator, options []byte, person, invitation string) (passkey.Credential, error) {
	var made struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &made); err != nil {
		o.Fatal(err)
	}
	e := passkeys.Enrollment{
		Person: person, Invitation: invitation, Label: "  Phone\nof ana ", Challenge: made.Challenge, Response: a.Create(o, options),
	}
	confirm, err := o.keys.Confirm(o.Context(), person, options)
	if err != nil {
		o.Fatal(err)
	}
	if confirm != nil {
		_, err := o.keys.Enroll(o.Context(), e)
		o.wants("another key without a signature", err, bridge.CodeForbidden)
		e.Proof = o.held[person].Get(o, confirm)
	}
	c, err := o.keys.Enroll(o.Context(), e)
	if err == nil {
		o.held[person] = a
	}
	return c, err
}

func (o office) wants(what string, err error, code bridge.Code) {
	o.Helper()
	if bridge.ErrorCode(err) != code {
		o.Errorf("%s: %v, want %q", what, err, code)
	}
}

// invite returns the secret of an invitation.
func (o office) invite(by, person string) (string, error) {
	url, _, err := o.keys.Invite(o.Context(), by, person)
	secret, ok := strings.CutPrefix(url, publicURL+"/console/#/enroll/")
	if err == nil && !ok {
		o.Errorf("the URL is %s", url)
	}
	return secret, err
}

// TestInvitation checks that only administrators invite, that an invitation
// adds one key of its person, and that looking at it does not use it up.
func TestInvitation(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	_, err := o.invite("ana", "ana")
	o.wants("not an administrator", err, bridge.CodeForbidden)
	_, err = o.invite("cy", "zoe")
	o.wants("an unknown person", err, bridge.CodeNotFound)
	secret, err := o.invite("cy", "ana")
	o.wants("invite", err, "")
	_, err = o.add("", "guess")
	o.wants("a guess", err, bridge.CodeNotFound)
	c, err := o.add("", secret)
	o.wants("the first key", err, "")
	if c.Person != "ana" || c.Label != "Phone of ana" {
		t.Errorf("the key is %+v", c)
	}
	_, err = o.add("", secret)
	o.wants("a second key", err, bridge.CodeNotFound)

	late, err := o.invite("cy", "ana")
	o.wants("invite again", err, "")
	o.pass(passkeys.InvitationTTL + time.Second)
	_, err = o.add("", late)
	o.wants("after a day", err, bridge.CodeNotFound)
}

// TestEnrollment checks that a challenge counts once, for its person, and that
// every change is in the audit log.
func TestEnrollment(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	options, err := o.keys.Begin(t.Context(), "ana")
	o.wants("begin", err, "")
	_, err = o.finish(passkeytest.New(t, publicURL), options, "bo", "")
	o.wants("the challenge of another person", err, bridge.CodeForbidden)
	var made struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &made); err != nil {
		t.Fatal(err)
	}
	phone := passkeytest.New(t, publicURL)
	response := phone.Create(t, options)
	if _, again := o.keys.Added(t.Context(), made.Challenge, response); again {
		t.Error("a key was added before")
	}
	first, err := o.keys.Enroll(t.Context(), passkeys.Enrollment{Person: "ana", Challenge: made.Challenge, Response: response})
	o.wants("add", err, "")
	o.held["ana"] = phone
	for _, c := range []struct {
		challenge string
		response  []byte
		again     bool
	}{{made.Challenge, response, true}, {made.Challenge, passkeytest.New(t, publicURL).Create(t, options), false}, {"AAAA", response, false}, {"", nil, false}} {
		if key, again := o.keys.Added(t.Context(), c.challenge, c.response); again != c.again || again && key.Name() != first.Name() {
			t.Errorf("%s was added: %+v, %v", c.challenge, key, again)
		}
	}
	_, err = o.finish(passkeytest.New(t, publicURL), options, "ana", "")
	o.wants("the challenge again", err, bridge.CodeForbidden)
	_, err = o.keys.Begin(t.Context(), "zoe")
	o.wants("an unknown person", err, bridge.CodeNotFound)

	o.wants("the last one", o.keys.Revoke(t.Context(), "ana", "ana", first.Name()), bridge.CodeForbidden)
	second, err := o.add("ana", "")
	o.wants("another", err, "")
	o.wants("of another person", o.keys.Revoke(t.Context(), "bo", "ana", first.Name()), bridge.CodeForbidden)
	o.wants("unknown", o.keys.Revoke(t.Context(), "ana", "ana", "AAAA"), bridge.CodeNotFound)
	o.wants("one of two", o.keys.Revoke(t.Context(), "ana", "ana", first.Name()), "")
	o.wants("the last one", o.keys.Revoke(t.Context(), "ana", "ana", second.Name()), bridge.CodeForbidden)
	o.wants("by an administrator", o.keys.Revoke(t.Context(), "cy", "ana", second.Name()), "")
	o.wants("use a revoked key", o.keys.Use(t.Context(), second), bridge.CodeForbidden)
	if has, err := o.keys.Has(t.Context(), "ana"); has || err != nil {
		t.Errorf("ana has a key: %v, %v", has, err)
	}
	keys, err := o.keys.Keys(t.Context())
	if err != nil || len(keys.Keys) != 2 || keys.Keys[0].Revoked == "" {
		t.Errorf("the exported keys are %+v, %v", keys, err)
	}

	entries, _, err := audit.NewEntries(o.store.Documents(), 0).AuditNewest(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, a := range entries {
		var c bridge.PasskeyChange
		if a.Type != bridge.AuditPasskey || json.Unmarshal(a.Data, &c) != nil || c.Person != "ana" {
			t.Errorf("the entry is %+v", a)
		}
		actions = append([]string{c.Action + " by " + c.By}, actions...)
	}
	if got := strings.Join(actions, ", "); got != "added by ana, added by ana, revoked by ana, revoked by cy" {
		t.Errorf("the entries are %s", got)
	}
}

// TestKeyAudited checks that the audit log has the addition or revocation of a key only if
// it is stored, and that an invitation counts until then.
func TestKeyAudited(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first, err := o.add("cy", "")
	o.wants("add", err, "")
	secret, err := o.invite("cy", "ana")
	o.wants("invite", err, "")
	before := len(o.audited(bridge.AuditPasskey))
	db := o.store.DB
	o.store.DB = refusing{db, func(c broker.Change) bool {
		return slices.ContainsFunc(c.Put, func(d broker.Doc) bool {
			return d.Key.Kind == "passkey" || strings.HasPrefix(d.Key.ID, "passkey invitation")
		})
	}}
	o.reload(o.setup)
	o.keys = o.engine.Passkeys
	o.wants("revoke", o.keys.Revoke(t.Context(), "cy", "cy", first.Name()), bridge.CodeUnavailable)
	for _, invitation := range []string{"", secret} {
		_, err = o.add("ana", invitation)
		o.wants("add", err, bridge.CodeUnavailable)
	}
	_, _, err = o.keys.Invite(t.Context(), "cy", "ana")
	o.wants("invite", err, bridge.CodeUnavailable)
	if all := o.audited(bridge.AuditPasskey); len(all) != before {
		t.Errorf("the audit log has %+v", all[before:])
	}
	o.store.DB = db
	o.reload(o.setup)
	o.keys = o.engine.Passkeys
	_, err = o.add("ana", secret)
	o.wants("add with the same invitation", err, "")
}
