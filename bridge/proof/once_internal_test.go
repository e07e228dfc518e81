package proof

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/nodbridge/nod/bridge"
)

// TestSignText checks that a signature is the one that go-jose makes.
func TestSignText(t *testing.T) {
	t.Parallel()
	s := signerOf(t, 1)
	key := jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: s.keys[0], KeyID: s.public.Keys[0].KeyID}}
	for _, typ := range []string{typeReceipt, typeSeal, typeAnswer} {
		signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
		if err != nil {
			t.Fatal(err)
		}
		for _, payload := range []string{"", "{}", `{"id":"<é\ufffd>"}`, strings.Repeat("x", 5000)} {
			signed, err := signer.Sign([]byte(payload))
			if err != nil {
				t.Fatal(err)
			}
			want, err := signed.CompactSerialize()
			if err != nil {
				t.Fatal(err)
			}
			if got := s.signText(typ, []byte(payload)); got != want {
				t.Errorf("%s of %.20q: %s, want %s", typ, payload, got, want)
			}
		}
	}
}

// TestEntryProblemOnce checks that a signer decides on an entry as the public keys
// do, whether it remembers the receipt or not: the entry as it was written, and
// every change of it.
func TestEntryProblemOnce(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	receipt := signed(t, p, i, resp)
	other := signed(t, signerOf(t, 2), i, resp)
	entryOf := func(change func(*bridge.AuditEntry, *bridge.DecisionEntry)) bridge.AuditEntry {
		r := bridge.DecisionEntry{Response: resp, Receipt: receipt}
		a := bridge.AuditEntry{Type: bridge.AuditDecision, ID: i.ID, Agent: i.Agent, Session: i.Session, State: r.State, Timestamp: time.Now().UnixMilli()}
		change(&a, &r)
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Data = raw
		return a
	}
	for what, change := range map[string]func(*bridge.AuditEntry, *bridge.DecisionEntry){
		"":              func(*bridge.AuditEntry, *bridge.DecisionEntry) {},
		"other request": func(a *bridge.AuditEntry, _ *bridge.DecisionEntry) { a.ID = "00000000-0000-7000-8000-000000000000" },
		"other agent":   func(a *bridge.AuditEntry, _ *bridge.DecisionEntry) { a.Agent = "mal" },
		"other session": func(a *bridge.AuditEntry, _ *bridge.DecisionEntry) { a.Session = "mal" },
		"other state": func(a *bridge.AuditEntry, r *bridge.DecisionEntry) {
			a.State, r.State = bridge.StateDenied, bridge.StateDenied
		},
		"other scope":  func(_ *bridge.AuditEntry, r *bridge.DecisionEntry) { r.Scope = bridge.ScopeAlways },
		"other person": func(_ *bridge.AuditEntry, r *bridge.DecisionEntry) { r.Actor = &bridge.Actor{Person: "mal"} },
		"other digest": func(_ *bridge.AuditEntry, r *bridge.DecisionEntry) { r.Digest = strings.Repeat("b", 64) },
		"other key":    func(_ *bridge.AuditEntry, r *bridge.DecisionEntry) { r.Receipt = other },
		"other claims": func(_ *bridge.AuditEntry, r *bridge.DecisionEntry) {
			part := strings.Split(r.Receipt, ".")
			r.Receipt = part[0] + "." + part[1][:40] + "A" + part[1][41:] + "." + part[2]
		},
		"no receipt": func(_ *bridge.AuditEntry, r *bridge.DecisionEntry) { r.Receipt = "" },
	} {
		a := entryOf(change)
		want, why := p.PublicKeys().EntryProblem(a)
		if (why == "") != (what == "") {
			t.Fatalf("%s: the public keys find %q", what, why)
		}
		fresh := signerOf(t, 1)
		for n, signer := range []*Signer{p, fresh, fresh} {
			if got, problem := signer.EntryProblem(a); got != want || problem != why {
				t.Errorf("%s, signer %d: %q %q, want %q %q", what, n, got, problem, want, why)
			}
		}
	}
}

// TestReceiptOnce checks that a signer takes the claims of a receipt that it
// knows from memory.
func TestReceiptOnce(t *testing.T) {
	t.Parallel()
	p, i, resp := provable(t, `"x"`)
	token := signed(t, p, i, resp)
	if r, err := p.receipt(token); err != nil || r.ID != i.ID {
		t.Fatalf("%+v %v", r, err)
	}
	p.known.Add(token, `{"id":"marked"}`)
	if r, err := p.receipt(token); err != nil || r.ID != "marked" {
		t.Errorf("it was verified again: %+v %v", r, err)
	}
	if r, err := p.receipt(token + "x"); bridge.ErrorCode(err) != bridge.CodeForbidden || r.ID != "" {
		t.Errorf("a forged receipt: %+v %v", r, err)
	}
}
