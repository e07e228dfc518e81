package passkey_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/passkey/passkeytest"
)

const origin = "https://nod.example.com"

// site returns a site of the origin.
func site(t *testing.T) passkey.Site {
	t.Helper()
	s, err := passkey.NewSite(origin + "/base/")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// enroll gives a person a key.
func enroll(t *testing.T, s passkey.Site, person string) (*passkeytest.Authenticator, passkey.Credential) {
	t.Helper()
	a := passkeytest.New(t, origin)
	challenge := passkey.NewChallenge()
	options, err := s.Create(person, nil, challenge)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Enroll(person, challenge, a.Create(t, options))
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

func statement(person string) passkey.Statement {
	return passkey.NewStatement(bridge.Statement{
		Request: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Payload: strings.Repeat("ab", 32), Content: strings.Repeat("cd", 32),
		Decision: "approved", Scope: "once", Person: person,
	})
}

// sign lets an authenticator sign a statement.
func sign(t *testing.T, s passkey.Site, a *passkeytest.Authenticator, st passkey.Statement, c passkey.Credential) []byte {
	t.Helper()
	options, err := s.Request(st, []passkey.Credential{c})
	if err != nil {
		t.Fatal(err)
	}
	return a.Get(t, options)
}

// TestSigned checks that a person enrolls a key and signs with it, and that
// the assertion is verified offline.
func TestSigned(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, c := enroll(t, s, "ana")
	st := statement("ana")
	got, used, err := s.Check(st, []passkey.Credential{c}, sign(t, s, a, st, c))
	if err != nil {
		t.Fatal(err)
	}
	if used.Counter != c.Counter+1 {
		t.Errorf("counter %d after %d", used.Counter, c.Counter)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var read passkey.Assertion
	if err := json.Unmarshal(raw, &read); err != nil {
		t.Fatal(err)
	}
	if err := passkey.Verify(read, c.PublicKey, s.RPID(), s.Origins()); err != nil {
		t.Error(err)
	}
	keys, err := s.Export([]passkey.Credential{c})
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Verify(read); err != nil {
		t.Error(err)
	}
}

// TestRefused checks that each forged signature is refused, each with its own
// text.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*passkeytest.Authenticator)
		want   string
	}{
		"no user verification": {func(a *passkeytest.Authenticator) { a.Flags = passkeytest.UserPresent }, "without user verification"},
		"nobody present":       {func(a *passkeytest.Authenticator) { a.Flags = passkeytest.UserVerified }, "without a person"},
		"other origin":         {func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example.com" }, "another origin"},
		"http":                 {func(a *passkeytest.Authenticator) { a.Origin = "http://nod.example.com" }, "another origin"},
		"other port":           {func(a *passkeytest.Authenticator) { a.Origin += ":8443" }, "another origin"},
		"other site":           {func(a *passkeytest.Authenticator) { a.RPID = "example.com" }, "signed for a site other than"},
		"other type":           {func(a *passkeytest.Authenticator) { a.Type = "webauthn.create" }, "another purpose"},
		"in a frame":           {func(a *passkeytest.Authenticator) { a.Cross = true }, "inside the page"},
		"counter back":         {func(a *passkeytest.Authenticator) { a.Counter, a.Step = 4, 0 }, "counter"},
		"counter same":         {func(a *passkeytest.Authenticator) { a.Counter, a.Step = 5, 0 }, "counter"},
		"backup":               {func(a *passkeytest.Authenticator) { a.Flags |= 0x10 }, "contradictory"},
		"eligible":             {func(a *passkeytest.Authenticator) { a.Flags |= 0x08 }, "backup eligibility"},
		"other key": {func(a *passkeytest.Authenticator) {
			id := a.ID
			*a = *passkeytest.New(t, origin)
			a.Counter, a.ID = 9, id
		}, "invalid"},
		"unknown key": {func(a *passkeytest.Authenticator) { a.ID = []byte("another") }, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t)
			a, c := enroll(t, s, "ana")
			c.Counter, a.Counter = 5, 5
			test.change(a)
			st := statement("ana")
			_, _, err := s.Check(st, []passkey.Credential{c}, sign(t, s, a, st, c))
			if bridge.ErrorCode(err) != bridge.CodeForbidden || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestBound checks that a signature counts for one statement of one person
// only.
func TestBound(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, ana := enroll(t, s, "ana")
	_, ben := enroll(t, s, "ben")
	st := statement("ana")
	response := sign(t, s, a, st, ana)
	for name, change := range map[string]func(*passkey.Statement){
		"request":  func(s *passkey.Statement) { s.Request = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04" },
		"payload":  func(s *passkey.Statement) { s.Payload = strings.Repeat("ac", 32) },
		"content":  func(s *passkey.Statement) { s.Content = strings.Repeat("ce", 32) },
		"at":       func(s *passkey.Statement) { s.At = "2026-01-01T00:00:00Z" },
		"decision": func(s *passkey.Statement) { s.Decision = "denied" },
		"scope":    func(s *passkey.Statement) { s.Scope = "always" },
		"nonce":    func(s *passkey.Statement) { s.Nonce = statement("ana").Nonce },
	} {
		other := st
		change(&other)
		if _, _, err := s.Check(other, []passkey.Credential{ana, ben}, response); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := st
	other.Person = "ben"
	if _, _, err := s.Check(other, []passkey.Credential{ana, ben}, response); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("person: %v", err)
	}
	revoked := ana
	revoked.Revoked = time.Now()
	_, _, err := s.Check(st, []passkey.Credential{revoked}, response)
	if bridge.ErrorCode(err) != bridge.CodeForbidden || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("revoked: %v", err)
	}
	if _, err := s.Request(st, []passkey.Credential{revoked}); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("options for a revoked key: %v", err)
	}
}

// TestFlipped checks that every changed byte of an assertion is noticed.
func TestFlipped(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, c := enroll(t, s, "ana")
	st := statement("ana")
	good, _, err := s.Check(st, []passkey.Credential{c}, sign(t, s, a, st, c))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := s.Export([]passkey.Credential{c})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		for _, b := range []byte{1, 0x20, 0x80} {
			flipped := slices.Clone(raw)
			flipped[n] ^= b
			var read passkey.Assertion
			if json.Unmarshal(flipped, &read) != nil || read == good { // the case of a name
				continue
			}
			if err := keys.Verify(read); err == nil {
				t.Errorf("byte %d of %s is not noticed", n, flipped)
			}
		}
	}
}

// TestEnrollRefused checks that a new key needs its challenge, its origin and
// user verification.
func TestEnrollRefused(t *testing.T) {
	t.Parallel()
	s := site(t)
	for name, change := range map[string]func(*passkeytest.Authenticator){
		"origin":       func(a *passkeytest.Authenticator) { a.Origin = "https://example.com" },
		"site":         func(a *passkeytest.Authenticator) { a.RPID = "example.com" },
		"verification": func(a *passkeytest.Authenticator) { a.Flags = passkeytest.UserPresent },
		"type":         func(a *passkeytest.Authenticator) { a.Type = "webauthn.get" },
		"frame":        func(a *passkeytest.Authenticator) { a.Cross = true },
	} {
		a := passkeytest.New(t, origin)
		change(a)
		challenge := passkey.NewChallenge()
		options, err := s.Create("ana", nil, challenge)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Enroll("ana", challenge, a.Create(t, options)); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, challenge := passkeytest.New(t, origin), passkey.NewChallenge()
	options, err := s.Create("ana", nil, challenge)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Enroll("ana", passkey.NewChallenge(), a.Create(t, options)); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("challenge: %v", err)
	}
}

// TestSite checks which URLs can be used for passkeys.
func TestSite(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://nod.example.com":       "https://nod.example.com",
		"https://NOD.example.com:443/x": "https://nod.example.com",
		"https://nod.example.com:8443":  "https://nod.example.com:8443",
		"http://localhost:8080":         "http://localhost:8080",
		"http://nod.localhost:8080":     "http://nod.localhost:8080",
		"http://nod.example.com":        "",
		"https://127.0.0.1":             "",
		"http://[::1]:8080":             "",
		"https://user@nod.example.com":  "",
		"ftp://localhost":               "",
		"nod.example.com":               "",
		"":                              "",
	} {
		s, err := passkey.NewSite(url)
		if (err == nil) != (want != "") || err == nil && s.Origins()[0] != want {
			t.Errorf("%q: %v, %v", url, s.Origins(), err)
		}
	}
	if s, err := passkey.NewSite(origin, "https://a.nod.example.com"); err != nil || len(s.Origins()) != 2 || s.RPID() != "nod.example.com" {
		t.Errorf("two origins: %v, %v", s, err)
	}
	if _, err := passkey.NewSite(origin, "https://evil-nod.example.com"); err == nil {
		t.Error("another host is accepted")
	}
}

// FuzzCheck checks that no response of a browser is accepted unless it is the
// signed one.
func FuzzCheck(f *testing.F) {
	s, err := passkey.NewSite(origin)
	if err != nil {
		f.Fatal(err)
	}
	a, st := passkeytest.New(f, origin), statement("ana")
	c := passkey.Credential{ID: a.ID, PublicKey: a.COSE(f), Person: "ana"}
	options, err := s.Request(st, []passkey.Credential{c})
	if err != nil {
		f.Fatal(err)
	}
	good := a.Get(f, options)
	f.Add(good[:len(good)/2])
	f.Add([]byte(`{"id":"","rawId":"","type":"public-key","response":{}}`))
	f.Add(bytes.Replace(good, []byte("platform"), []byte("other"), 1))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, _, err := s.Check(st, []passkey.Credential{c}, raw)
		if err == nil && passkey.Verify(got, c.PublicKey, s.RPID(), s.Origins()) != nil {
			t.Errorf("accepted %s", raw)
		}
		_, _ = s.Enroll("ana", st.Challenge(), raw) // must not panic
	})
}
