package passkey_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/passkey/passkeytest"
)

// verifierCase is an assertion for other verifiers, and whether it is good.
type verifierCase struct {
	Name      string            `json:"name"`
	Good      bool              `json:"good"`
	Keys      passkey.Keys      `json:"keys"`
	Assertion passkey.Assertion `json:"assertion"`
	At        time.Time         `json:"at"`
}

// verifierCases returns good and forged assertions.
func verifierCases(t *testing.T) []verifierCase {
	t.Helper()
	s := site(t)
	var out []verifierCase
	add := func(name string, good bool, change func(*passkeytest.Authenticator), forge func(*passkey.Assertion, *passkey.Keys)) {
		a, c := enroll(t, s, "ana")
		st := statement("ana")
		response := sign(t, s, a, st, c)
		signed, _, err := s.Check(st, []passkey.Credential{c}, response)
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(a)
			signed = assertion(t, st, sign(t, s, a, st, c))
		}
		keys, err := s.Export([]passkey.Credential{c})
		if err != nil {
			t.Fatal(err)
		}
		if forge != nil {
			forge(&signed, &keys)
		}
		out = append(out, verifierCase{name, good, keys, signed, time.Now()})
	}
	add("good", true, nil, nil)
	add("no counter", true, func(a *passkeytest.Authenticator) { a.Counter, a.Step = 0, 0 }, nil)
	add("synchronized", true, func(a *passkeytest.Authenticator) { a.Flags |= 0x18 }, nil)
	add("revoked later", true, nil, func(_ *passkey.Assertion, k *passkey.Keys) {
		k.Keys[0].Revoked = time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	})
	add("revoked before", false, nil, func(_ *passkey.Assertion, k *passkey.Keys) { k.Keys[0].Revoked = "2026-01-01T00:00:00Z" })
	var vote time.Time
	add("revoked in the same millisecond", true, nil, func(_ *passkey.Assertion, k *passkey.Keys) {
		_, c := enroll(t, s, "ana")
		vote = time.Now().UTC().Truncate(time.Millisecond)
		c.Revoked = vote.Add(500 * time.Microsecond)
		revoked, err := s.Export([]passkey.Credential{c})
		if err != nil {
			t.Fatal(err)
		}
		k.Keys[0].Revoked = revoked.Keys[0].Revoked
	})
	out[len(out)-1].At = vote
	add("no user verification", false, func(a *passkeytest.Authenticator) { a.Flags = passkeytest.UserPresent }, nil)
	add("nobody present", false, func(a *passkeytest.Authenticator) { a.Flags = passkeytest.UserVerified }, nil)
	add("backup flags", false, func(a *passkeytest.Authenticator) { a.Flags |= 0x10 }, nil)
	add("another origin", false, func(a *passkeytest.Authenticator) { a.Origin = "https://evil.example.com" }, nil)
	add("another site", false, func(a *passkeytest.Authenticator) { a.RPID = "example.com" }, nil)
	add("another type", false, func(a *passkeytest.Authenticator) { a.Type = "webauthn.create" }, nil)
	add("in a frame", false, func(a *passkeytest.Authenticator) { a.Cross = true }, nil)
	other := passkeytest.New(t, origin)
	add("another key", false, func(a *passkeytest.Authenticator) { id := a.ID; *a = *other; a.ID = id }, nil)
	for name, change := range map[string]func(*passkey.Assertion){
		"request":   func(a *passkey.Assertion) { a.Statement.Request = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04" },
		"payload":   func(a *passkey.Assertion) { a.Statement.Payload = strings.Repeat("ac", 32) },
		"content":   func(a *passkey.Assertion) { a.Statement.Content = strings.Repeat("ce", 32) },
		"time":      func(a *passkey.Assertion) { a.Statement.At = "2026-01-01T00:00:00Z" },
		"decision":  func(a *passkey.Assertion) { a.Statement.Decision = "denied" },
		"scope":     func(a *passkey.Assertion) { a.Statement.Scope = "always" },
		"person":    func(a *passkey.Assertion) { a.Statement.Person = "bo" },
		"nonce":     func(a *passkey.Assertion) { a.Statement.Nonce = statement("ana").Nonce },
		"version":   func(a *passkey.Assertion) { a.Statement.Version = 2 },
		"signature": func(a *passkey.Assertion) { a.Signature = flip(a.Signature) },
		"client":    func(a *passkey.Assertion) { a.ClientData = flip(a.ClientData) },
		"data":      func(a *passkey.Assertion) { a.AuthenticatorData = flip(a.AuthenticatorData) },
		"key ID":    func(a *passkey.Assertion) { a.Credential = flip(a.Credential) },
		"page":      func(a *passkey.Assertion) { a.Origin = "https://evil.example.com" },
		"host":      func(a *passkey.Assertion) { a.RPID = "example.com" },
	} {
		add("changed "+name, false, nil, func(a *passkey.Assertion, _ *passkey.Keys) { change(a) })
	}
	return out
}

// flip changes the middle of a text in base64url.
func flip(s string) string {
	b := []byte(s)
	if b[len(b)/2]++; !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", rune(b[len(b)/2])) {
		b[len(b)/2] = 'A'
	}
	return string(b)
}

// assertion returns a response as an assertion without checking it.
func assertion(t *testing.T, st passkey.Statement, response []byte) passkey.Assertion {
	t.Helper()
	var r struct {
		ID       string `json:"id"`
		Response struct {
			ClientDataJSON, AuthenticatorData, Signature string
		} `json:"response"`
	}
	if err := json.Unmarshal(response, &r); err != nil {
		t.Fatal(err)
	}
	out := passkey.Assertion{
		Credential: r.ID, ClientData: r.Response.ClientDataJSON, AuthenticatorData: r.Response.AuthenticatorData,
		Signature: r.Response.Signature, RPID: "nod.example.com", Origin: origin,
	}
	raw, err := json.Marshal(st)
	if err == nil {
		err = json.Unmarshal(raw, &out.Statement)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestOtherVerifier checks that the verifier in JavaScript agrees about each
// assertion. With NOD_PASSKEY_CASES, it writes them to that directory.
func TestOtherVerifier(t *testing.T) {
	t.Parallel()
	cases := verifierCases(t)
	for _, c := range cases {
		if err := c.Keys.VerifyAt(c.Assertion, c.At); (err == nil) != c.Good {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	raw, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("NOD_PASSKEY_CASES")
	if dir == "" {
		dir = t.TempDir()
	}
	path := filepath.Join(dir, "cases.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no Node.js")
		}
		t.Skip("no Node.js on this machine")
	}
	verifier, err := filepath.Abs("../../deploy/verify/receipt.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--input-type=module", "-e", `
import { readFileSync } from "node:fs";
const { verifyAssertion } = await import(process.argv[2]);
for (const c of JSON.parse(readFileSync(process.argv[1], "utf8"))) {
  let why = "";
  try { verifyAssertion(c.assertion, c.keys, c.at); } catch (e) { why = e.message; }
  if (c.good !== (why === "")) console.log(c.name + ": " + (why || "accepted"));
}`, path, verifier)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out, err := cmd.Output(); err != nil || len(out) > 0 {
		t.Errorf("the verifier in JavaScript differs: %v\n%s%s", err, out, &errs)
	}
}
