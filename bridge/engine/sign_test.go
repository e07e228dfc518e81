package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/passkey/passkeytest"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
)

const publicURL = "https://nod.example.com"

// bureau is a world in which approvals require a proof.
type bureau struct {
	*world
	site   passkey.Site
	signer *proof.Signer
	auth   map[string]*passkeytest.Authenticator
}

// newBureau returns a bureau in which ana, bo and cy have a passkey.
func newBureau(t *testing.T, need bridge.Assurance, change ...func(*setup)) *bureau {
	t.Helper()
	site, err := passkey.NewSite(publicURL)
	if err != nil {
		t.Fatal(err)
	}
	b := &bureau{site: site, auth: map[string]*passkeytest.Authenticator{}}
	if b.signer, err = proof.NewSigner(bytes.Repeat([]byte{5}, 32)); err != nil {
		t.Fatal(err)
	}
	s := newSetup()
	r := routeTo("C1", "ana", "bo", "cy", "di")
	r.StepUp = need
	s.routes["default"], s.signer, s.site = r, b.signer, &site
	for _, f := range change {
		f(&s)
	}
	b.world = newWorld(t, s)
	for _, who := range []string{"ana", "bo", "cy"} {
		b.enroll(who)
	}
	return b
}

// enroll gives a person a passkey.
func (b *bureau) enroll(who string) {
	b.t.Helper()
	a := passkeytest.New(b.t, publicURL)
	options, err := b.engine.Passkeys.Begin(b.t.Context(), who)
	if err != nil {
		b.t.Fatal(err)
	}
	var o struct {
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(options, &o); err != nil {
		b.t.Fatal(err)
	}
	_, err = b.engine.Passkeys.Enroll(b.t.Context(), passkeys.Enrollment{
		Person: who, Challenge: o.Challenge, Response: a.Create(b.t, options),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.auth[who] = a
}

// asked clicks an approval, and returns the secret of the link that the person
// gets.
func (b *bureau) asked(who string, id bridge.ID, d bridge.Decision) string {
	b.t.Helper()
	v := b.press(who, id, "C1", d, "")
	secret, ok := strings.CutPrefix(v.Link, publicURL+passkeys.SignPath)
	if v.Kind != bridge.VerdictSign || !ok {
		b.t.Fatalf("no link: %+v", v)
	}
	b.state(id, bridge.StatePending)
	return secret
}

// signature lets a person sign what the page of a ticket asks for.
func (b *bureau) signature(who, secret string) json.RawMessage {
	b.t.Helper()
	s, err := b.engine.Passkeys.SignPage(b.t.Context(), secret)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.auth[who].Get(b.t, s.Options)
}

// refused checks that a proof is refused with a code and a text, and that
// nothing changes.
func (b *bureau) refused(id bridge.ID, secret string, signed json.RawMessage, code bridge.Code, text string) {
	b.t.Helper()
	before := b.get(id)
	note, err := b.engine.Passkeys.Sign(b.t.Context(), secret, signed)
	if bridge.ErrorCode(err) != code || !strings.Contains(bridge.PublicError(err).Message, text) {
		b.t.Errorf("%q, %v (want %s: …%s…)", note, err, code, text)
	}
	after := b.get(id)
	if after.State != before.State || len(after.Votes) != len(before.Votes) || after.Revision != before.Revision {
		b.t.Errorf("the refusal of %q changed the request: %s, %d votes", text, after.State, len(after.Votes))
	}
}

// TestSigned checks that an approval counts only once the person has signed it,
// and that its receipt proves it.
func TestSigned(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	secret := b.asked("ana", id, bridge.DecideOnce)
	for range 3 { // link previews
		if _, err := b.engine.Passkeys.SignPage(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	note, err := b.engine.Passkeys.Sign(t.Context(), secret, b.signature("ana", secret))
	if err != nil || !strings.Contains(note, "approved once") {
		t.Fatal(note, err)
	}
	rec, err := b.engine.Get(t.Context(), id)
	if err != nil || rec.State != bridge.StateApproved || rec.Response.Assurance != bridge.AssurancePasskey {
		t.Fatalf("%s %+v %v", rec.State, rec.Response, err)
	}
	keys := b.signer.PublicKeys()
	got, err := keys.VerifyRecord(rec)
	if err != nil || got.Assertion == nil || got.Assurance != bridge.AssurancePasskey {
		t.Fatalf("%+v %v", got, err)
	}
	if s := got.Assertion.Statement; s.Request != string(id) || s.Payload != rec.Interaction.Digest || s.Content != rec.Interaction.Content || s.Person != "ana" || s.Decision != "approved" {
		t.Errorf("%+v", s)
	}
	ana, _ := b.engine.Passkeys.Of(t.Context(), "ana")
	if err := passkey.Verify(*got.Assertion, ana[0].PublicKey, b.site.RPID(), b.site.Origins()); err != nil {
		t.Error(err)
	}
	if !strings.Contains(got.Words(), "ana (chat U-ana) with a passkey") {
		t.Error(got.Words())
	}
	// The answer may have been lost on its way: a repetition says what is recorded.
	if s, err := b.engine.Passkeys.SignPage(t.Context(), secret); err != nil || s.Done != note || len(s.Options) > 0 {
		t.Errorf("the page of a signed request: %+v, %v", s, err)
	}
	if again, err := b.engine.Passkeys.Sign(t.Context(), secret, json.RawMessage(`{}`)); err != nil || again != note {
		t.Errorf("signed again: %q, %v; want %q", again, err, note)
	}
	if again, err := b.engine.Get(t.Context(), id); err != nil || again.Revision != rec.Revision {
		t.Errorf("the repetition changed the request: %+v, %v", again, err)
	}
	if r := b.drawn(id, "C1").Record.Response; r == nil || r.Assurance != bridge.AssurancePasskey {
		t.Errorf("the card shows %+v", r)
	}
}

// TestDenyNeedsNoProof checks that a denial never needs a proof.
func TestDenyNeedsNoProof(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	if v := b.press("di", id, "C1", bridge.DecideDeny, ""); v.Kind != bridge.VerdictSettled {
		t.Errorf("%+v", v)
	}
	b.state(id, bridge.StateDenied)
}

// TestUnproven checks that nothing but a proof approves a request that requires
// one, whichever way the approval comes.
func TestUnproven(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	b.asked("ana", id, bridge.DecideOnce)
	if v := b.press("ana", id, "C1", bridge.DecideEdit, `{"command":"make less"}`); v.Kind != bridge.VerdictSign {
		t.Errorf("an edit: %+v", v)
	}
	if v := b.press("di", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictForbidden || !strings.Contains(v.Note, "you have none") {
		t.Errorf("a person without a passkey: %+v", v)
	}
	err := b.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce})
	if e := bridge.PublicError(err); e.Code != bridge.CodeForbidden || !strings.HasPrefix(e.Link, publicURL+passkeys.SignPath) {
		t.Errorf("the API: %v", err)
	}
	b.reload(func() setup { s := b.setup; s.site = nil; return s }())
	if v := b.press("ana", id, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictForbidden {
		t.Errorf("without proofs: %+v", v)
	}
	b.state(id, bridge.StatePending)
}

// TestProofRefused checks that a proof for something else is refused, and that
// nothing changes.
func TestProofRefused(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	bot := bridge.Agent{Name: "bot"}
	id := b.open(bot, shell("make deploy")).Interaction.ID
	other := b.open(bot, shell("make other")).Interaction.ID
	secret := b.asked("ana", id, bridge.DecideOnce)

	elsewhere := b.signature("ana", b.asked("ana", other, bridge.DecideOnce))
	b.refused(id, secret, elsewhere, bridge.CodeForbidden, "")
	edit := b.press("ana", id, "C1", bridge.DecideEdit, `{"command":"make less"}`)
	b.refused(id, secret, b.signature("ana", strings.TrimPrefix(edit.Link, publicURL+passkeys.SignPath)), bridge.CodeForbidden, "")
	b.refused(id, secret, b.signature("bo", b.asked("bo", id, bridge.DecideOnce)), bridge.CodeForbidden, "")
	b.refused(id, secret, b.signature("bo", secret), bridge.CodeForbidden, "")
	b.refused(id, secret, nil, bridge.CodeInvalid, "")
	b.refused(id, secret, json.RawMessage(`{"id":"x"}`), bridge.CodeInvalid, "")
	b.refused(id, "nonsense", b.signature("ana", secret), bridge.CodeNotFound, "not valid")

	ana := b.auth["ana"]
	ana.Flags = passkeytest.UserPresent
	b.refused(id, secret, b.signature("ana", secret), bridge.CodeForbidden, "")
	ana.Flags |= passkeytest.UserVerified
	ana.Origin = "https://evil.example"
	b.refused(id, secret, b.signature("ana", secret), bridge.CodeForbidden, "")
	ana.Origin = publicURL
	was := ana.Counter
	ana.Counter = was + 100
	if _, err := b.engine.Passkeys.Sign(t.Context(), b.asked("ana", other, bridge.DecideOnce), b.signature("ana", b.asked("ana", other, bridge.DecideOnce))); err == nil {
		t.Error("a signature for another link of the same request was accepted")
	}
	ana.Counter = was
	used := b.signature("ana", secret)
	if _, err := b.engine.Passkeys.Sign(t.Context(), b.asked("ana", other, bridge.DecideOnce), used); err == nil {
		t.Error("a signature for another request was accepted")
	}
	third := b.open(bot, shell("make third")).Interaction.ID
	ana.Counter = was + 1000
	ahead := b.asked("ana", third, bridge.DecideOnce)
	if _, err := b.engine.Passkeys.Sign(t.Context(), ahead, b.signature("ana", ahead)); err != nil {
		t.Fatal(err)
	}
	ana.Counter = was
	b.refused(id, secret, b.signature("ana", secret), bridge.CodeForbidden, "counter")
	ana.Counter = was + 2000
	creds, _ := b.engine.Passkeys.Of(t.Context(), "ana")
	good := b.signature("ana", secret)
	if err := passkeys.NewCredentials(b.store.Documents()).RevokePasskey(t.Context(), creds[0], true); err != nil {
		t.Fatal(err)
	}
	b.refused(id, secret, good, bridge.CodeForbidden, "")
	b.state(id, bridge.StatePending)
}

// TestTicketEnds checks that a link does not outlive its request, a change of
// its terms, or the right of its person to approve.
func TestTicketEnds(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	bot := bridge.Agent{Name: "bot"}
	id := b.open(bot, shell("make deploy")).Interaction.ID
	secret := b.asked("ana", id, bridge.DecideOnce)
	late := b.signature("ana", secret)
	b.press("bo", id, "C1", bridge.DecideDeny, "")
	b.refused(id, secret, late, bridge.CodeConflict, " already ")

	second := b.open(bot, shell("make second")).Interaction.ID
	gone := b.asked("cy", second, bridge.DecideOnce)
	signed := b.signature("cy", gone)
	s := b.setup
	s.routes = map[string]bridge.Route{"default": routeTo("C1", "ana", "bo")}
	b.reload(s)
	if _, err := b.engine.Passkeys.Sign(t.Context(), gone, signed); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("a person who was removed: %v", err)
	}
	b.state(second, bridge.StatePending)
	if v := b.press("ana", second, "C1", bridge.DecideOnce, ""); v.Kind != bridge.VerdictSign {
		t.Errorf("a weaker config removed the requirement: %+v", v)
	}

	amended := b.asked("ana", second, bridge.DecideOnce)
	signed = b.signature("ana", amended)
	s.policy = ruledBy(bridge.Ruling{Effect: bridge.EffectAsk, Quorum: 2, Risk: "high"})
	b.reload(s)
	before := b.get(second).Interaction.Terms
	if _, err := b.engine.Passkeys.Sign(t.Context(), amended, signed); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Error(err)
	}
	if got := b.get(second); got.State != bridge.StatePending || got.Interaction.Terms != before+1 || len(got.Votes) > 0 {
		t.Errorf("%s, terms %d", got.State, got.Interaction.Terms)
	}
	b.refused(second, amended, signed, bridge.CodeConflict, "requirements have changed")
}

// TestProofOnce checks that a signature counts once, even if the daemon stops
// between the signature and the outcome.
func TestProofOnce(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	secret := b.asked("ana", id, bridge.DecideOnce)
	b.auth["ana"].Step = 1 // a key that counts its signatures
	signed := b.signature("ana", secret)
	s := b.setup
	b.between = stopped{b.store}
	b.reload(s)
	if _, err := b.engine.Passkeys.Sign(t.Context(), secret, signed); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Fatal(err)
	}
	b.state(id, bridge.StatePending)
	b.between = nil
	b.reload(s)
	b.refused(id, secret, signed, bridge.CodeForbidden, "already used") // and not that the key was copied
	if _, err := b.engine.Passkeys.Sign(t.Context(), secret, b.signature("ana", secret)); err != nil {
		t.Fatal(err)
	}
	b.state(id, bridge.StateApproved)
	if note, err := b.engine.Passkeys.Sign(t.Context(), secret, signed); err != nil || !strings.Contains(note, "approved once") {
		t.Errorf("the first signature again: %q, %v", note, err)
	}
}

// TestRevokedDuringSign checks that an approval does not count, alone or as one of several,
// if its key is revoked before the approval is stored.
func TestRevokedDuringSign(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*setup){"alone": func(*setup) {}, "vote": inPairs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBureau(t, bridge.AssurancePasskey, change)
			id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
			secret := b.asked("ana", id, bridge.DecideOnce)
			signed := b.signature("ana", secret)
			b.between = &meddler{Port: b.store, first: func() {
				keys, err := b.engine.Passkeys.Of(t.Context(), "ana")
				if err == nil {
					err = passkeys.NewCredentials(b.store.Documents()).RevokePasskey(t.Context(), keys[0], true)
				}
				if err != nil {
					t.Error(err)
				}
			}}
			b.reload(b.setup)
			b.refused(id, secret, signed, bridge.CodeForbidden, "revoked")
		})
	}
}

// stopped is a store whose daemon stops before any outcome is stored.
type stopped struct{ core.Port }

func (s stopped) Resolve(context.Context, life.Resolution, ...core.Also) (bridge.Record, bool, error) {
	return bridge.Record{}, false, bridge.Errorf(bridge.CodeUnavailable, "the daemon stopped")
}

// TestSignedTogether checks that if one approval gets many signatures at the
// same time, exactly one outcome is stored, with one of the signatures.
func TestSignedTogether(t *testing.T) {
	t.Parallel()
	b := newBureau(t, bridge.AssurancePasskey)
	id := b.open(bridge.Agent{Name: "bot"}, shell("make deploy")).Interaction.ID
	secret := b.asked("ana", id, bridge.DecideOnce)
	var proofs []json.RawMessage
	for range 8 {
		proofs = append(proofs, b.signature("ana", secret))
	}
	var wg sync.WaitGroup
	for n := range 16 { // each signature twice
		wg.Go(func() {
			_, err := b.engine.Passkeys.Sign(t.Context(), secret, proofs[n%len(proofs)])
			if c := bridge.ErrorCode(err); c != "" && c != bridge.CodeForbidden && c != bridge.CodeConflict && c != bridge.CodeNotFound {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	rec, err := b.engine.Get(t.Context(), id)
	if err != nil || rec.State != bridge.StateApproved || rec.Response.Assertion == nil {
		t.Fatalf("%s %+v %v", rec.State, rec.Response, err)
	}
	decisions := 0
	events, _, err := b.store.Events(t.Context(), "", bridge.EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == bridge.EventResponse {
			decisions++
		}
	}
	if decisions != 1 {
		t.Errorf("%d outcomes", decisions)
	}
}
