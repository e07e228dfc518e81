package proof

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// decided returns a request and its record, which was approved with an edited
// input.
func decided(t *testing.T) (*Signer, bridge.Request, bridge.Record) {
	t.Helper()
	p := signerOf(t, 1)
	req := evidenceRequest()
	req.Approval.Decisions = []bridge.Decision{bridge.DecideOnce, bridge.DecideEdit, bridge.DecideDeny}
	stored := req
	if err := stored.Normalize(); err != nil {
		t.Fatal(err)
	}
	digest, err := DigestAsSent(req.Ask)
	if err != nil {
		t.Fatal(err)
	}
	i := bridge.Interaction{
		ID: evidenceID, Ask: stored.Ask, Agent: "tester", Digest: digest,
		Schedule: bridge.Schedule{Created: evidenceAt, Deadline: evidenceAt.Add(time.Hour)},
	}
	i.Content = contentOf(t, i)
	resp := bridge.Response{
		State: bridge.StateApproved, Scope: bridge.ScopeOnce, Actor: &bridge.Actor{Platform: "slack", User: "U1", Person: "ana", Name: "Ana"}, At: evidenceAt.Add(time.Minute),
		Digest: digest, Input: json.RawMessage(`{"a":2}`), Reason: "fine",
		Annotations: map[string]bridge.Annotation{"q": {Preview: "p"}},
	}
	if resp.ApprovedDigest, err = Digest(i.Ask.WithInput(resp.Input)); err != nil {
		t.Fatal(err)
	}
	return p, req, bridge.Record{Interaction: i, State: resp.State, Response: &resp, Receipt: signed(t, p, i, resp)}
}

// altered returns a deep copy of a record with a change.
func altered(t *testing.T, r bridge.Record, change func(*bridge.Record)) bridge.Record {
	t.Helper()
	out := stored(t, r)
	change(&out)
	return out
}

// text returns a record as JSON.
func text(t *testing.T, r bridge.Record) string {
	t.Helper()
	raw, err := bridge.EncodeJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// rewritten returns a record as a program writes it that knows only JSON: with
// sorted names, and with other spellings of the same numbers and texts.
func rewritten(t *testing.T, r bridge.Record) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text(t, r)), &v); err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), "slack", `\u0073lac\u006b`)
}

// TestVerifyRewritten checks that a record verifies after a program that knows
// only JSON has rewritten it.
func TestVerifyRewritten(t *testing.T) {
	t.Parallel()
	p, req, rec := decided(t)
	keys := p.PublicKeys()
	var again bridge.Record
	if err := json.Unmarshal([]byte(rewritten(t, rec)), &again); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(again.Interaction.Approval.Input, rec.Interaction.Approval.Input) {
		t.Fatalf("the input was not rewritten: %s", again.Interaction.Approval.Input)
	}
	if err := keys.VerifyAnswer(again, req); err != nil {
		t.Error(err)
	}
}

// TestVerifyAnswer checks that public keys are sufficient to verify a record,
// and that every change of the record or the request is detected.
func TestVerifyAnswer(t *testing.T) {
	t.Parallel()
	p, req, rec := decided(t)
	keys := p.PublicKeys()
	for what, set := range map[string]*JWKS{"with keys": &keys, "without": nil} {
		if err := set.VerifyAnswer(altered(t, rec, func(*bridge.Record) {}), req); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for field, change := range map[string]func(*bridge.Record){
		"id":             func(r *bridge.Record) { r.Interaction.ID = "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f04" },
		"agent":          func(r *bridge.Record) { r.Interaction.Agent = "other" },
		"state":          func(r *bridge.Record) { r.State = bridge.StateDenied },
		"scope":          func(r *bridge.Record) { r.Response.Scope = bridge.ScopeAlways },
		"actor":          func(r *bridge.Record) { r.Response.Actor.User = "U9" },
		"at":             func(r *bridge.Record) { r.Response.At = r.Response.At.Add(time.Second) },
		"reason":         func(r *bridge.Record) { r.Response.Reason = "other" },
		"answers":        func(r *bridge.Record) { r.Response.Answers = map[string]bridge.Answer{"q": bridge.TextAnswer("x")} },
		"input":          func(r *bridge.Record) { r.Response.Input = json.RawMessage(`{"a":3}`) },
		"message":        func(r *bridge.Record) { r.Response.Message = &bridge.MessageRef{Channel: "C1", Message: "2"} },
		"covers":         func(r *bridge.Record) { r.Response.Covers = []string{"all"} },
		"interaction":    func(r *bridge.Record) { r.Interaction.Prompt = "May I rest?" },
		"content":        func(r *bridge.Record) { r.Interaction.Content = strings.Repeat("0", 64) },
		"response":       func(r *bridge.Record) { r.Response.Annotations = nil },
		"response: miss": func(r *bridge.Record) { r.Response = nil },
		"receipt":        func(r *bridge.Record) { r.Receipt = "" },
		"state: the rec": func(r *bridge.Record) { r.Response.Digest = "00" },
	} {
		if _, err := keys.VerifyRecord(altered(t, rec, change)); err == nil || !strings.Contains(err.Error(), ": "+field) {
			t.Errorf("%s was changed: %v", field, err)
		}
	}
	other := req
	other.Prompt = "May I rest?"
	if err := keys.VerifyAnswer(rec, other); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("it answers another request: %v", err)
	}
	if err := keys.VerifyAnswer(altered(t, rec, func(r *bridge.Record) { r.Receipt = "a.b" }), req); err == nil {
		t.Error("a text that is not a receipt passes")
	}
}

// TestHiddenDigest checks that the digest of a record is compared with its
// text, unless the record is redacted.
func TestHiddenDigest(t *testing.T) {
	t.Parallel()
	p, _, rec := decided(t)
	keys := p.PublicKeys()
	for redacted, good := range map[int]bool{0: false, 1: true} {
		i := rec.Interaction
		i.Prompt, i.Redacted = "May I use ****?", redacted
		i.Content = contentOf(t, i)
		_, err := keys.VerifyRecord(bridge.Record{Interaction: i, State: rec.State, Response: rec.Response, Receipt: signed(t, p, i, *rec.Response)})
		if (err == nil) != good {
			t.Errorf("%d credentials are hidden: %v", redacted, err)
		}
	}
	i, resp := rec.Interaction, *rec.Response
	resp.ApprovedDigest = strings.Repeat("0", 64)
	if _, err := keys.VerifyRecord(bridge.Record{Interaction: i, State: resp.State, Response: &resp, Receipt: signed(t, p, i, resp)}); err == nil {
		t.Error("the digest of the changed input is not computed")
	}
}

// TestCovers checks that a receipt covers exactly its request and its edited
// input.
func TestCovers(t *testing.T) {
	t.Parallel()
	p, req, rec := decided(t)
	receipt, err := p.PublicKeys().VerifyReceipt(" " + rec.Receipt + "\n")
	if err != nil {
		t.Fatal(err)
	}
	for what, words := range map[string]string{"who": "approved by ana (slack U1)", "what": "request " + string(evidenceID), "instead": "edited to sha256:" + receipt.ApprovedDigest} {
		if !strings.Contains(receipt.Words(), words) {
			t.Errorf("its words do not say %s: %s", what, receipt.Words())
		}
	}
	if err := receipt.Covers(req, json.RawMessage(` {"a": 2.0} `)); err != nil {
		t.Error(err)
	}
	for what, input := range map[string]string{"the original": "", "another": `{"a":3}`, "no JSON": `{`} {
		if receipt.Covers(req, json.RawMessage(input)) == nil {
			t.Errorf("it covers %s", what)
		}
	}
	bad := req
	bad.Kind = "else"
	if bridge.ErrorCode(receipt.Covers(bad, nil)) != bridge.CodeInvalid {
		t.Error("it covers a request that is not valid")
	}
	plain := receipt
	plain.ApprovedDigest, plain.Actor, plain.Votes = "", nil, []bridge.Vote{{State: bridge.StateApproved}}
	if err := plain.Covers(req, nil); err != nil || !strings.Contains(plain.Words(), "no person") {
		t.Errorf("a plain one: %v, %s", err, plain.Words())
	}
}

// TestAnswer checks that an answer in another format verifies only with its
// signed ends, and covers only its own request.
func TestAnswer(t *testing.T) {
	t.Parallel()
	p, req, rec := decided(t)
	keys := p.PublicKeys()
	body := []byte(`{"ok":true}`)
	statement, err := p.Answer([]bridge.Record{rec, {State: bridge.StateExpired}}, body)
	if err != nil {
		t.Fatal(err)
	}
	ends, err := keys.VerifyEnds(statement, body)
	if err != nil || len(ends) != 2 || ends[0].Reason != "fine" || ends[1].State != bridge.StateExpired {
		t.Fatalf("%+v, %v", ends, err)
	}
	if _, err := keys.VerifyEnds(statement, []byte("other")); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("it verifies another answer: %v", err)
	}
	if _, err := keys.VerifyEnds(rec.Receipt, body); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a receipt passes for a statement: %v", err)
	}
	if got, err := keys.CoversEnd(ends[0], req, rec.Receipt); err != nil || got.Actor == nil {
		t.Errorf("%+v, %v", got, err)
	}
	late := ends[0]
	late.State = bridge.StateExpired
	if got, err := keys.CoversEnd(late, req, ""); err != nil || got.Actor != nil {
		t.Errorf("an end without a decision: %+v, %v", got, err)
	}
	denied := ends[0]
	denied.State = bridge.StateDenied
	other := req
	other.Prompt = "May I rest?"
	for what, c := range map[string]struct {
		end     End
		req     bridge.Request
		receipt string
	}{
		"another request":  {ends[0], other, rec.Receipt},
		"another decision": {denied, req, rec.Receipt},
		"no receipt":       {ends[0], req, ""},
		"a bad request":    {ends[0], bridge.Request{Ask: bridge.Ask{Kind: "else"}}, rec.Receipt},
	} {
		if _, err := keys.CoversEnd(c.end, c.req, c.receipt); err == nil {
			t.Errorf("it covers %s", what)
		}
	}
}

// TestSpelling checks that another encoding of a valid signature is rejected.
func TestSpelling(t *testing.T) {
	t.Parallel()
	p, _, rec := decided(t)
	keys := p.PublicKeys()
	token := rec.Receipt
	for what, bad := range map[string]string{
		"a line end":  token[:20] + "\n" + token[20:],
		"padding":     token + "=",
		"a last bit":  token[:len(token)-1] + "x",
		"a seal":      knownSeal,
		"no JWS":      "a.b",
		"no payload":  "",
		"another key": "",
	} {
		if what == "another key" {
			var err error
			if bad, err = signerOf(t, 2).sign(typeReceipt, Receipt{}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := keys.VerifyReceipt(bad); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, bad := range map[string]string{"two parts": "a.b", "no base64": "a.*.c", "no JSON": "a.YQ.c"} {
		if _, err := (*JWKS)(nil).receipt(bad); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("without keys, %s: %v", what, err)
		}
		if _, err := (*JWKS)(nil).VerifyEnds(bad, nil); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("without keys, a statement, %s: %v", what, err)
		}
	}
}

// TestKeys checks the thumbprint of RFC 8037, appendix A.3, that a second key
// still verifies, and that a key that was kept in Redis verifies only seals.
func TestKeys(t *testing.T) {
	t.Parallel()
	public, err := bridge.DecodeBase64("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	if err != nil {
		t.Fatal(err)
	}
	if k := NewJWK(public); k.KeyID != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("key ID %s", k.KeyID)
	}
	for _, seeds := range [][][]byte{nil, {[]byte("short")}} {
		if _, err := NewSigner(seeds...); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%d seeds: %v", len(seeds), err)
		}
	}
	rotated, err := NewSigner(bytes.Repeat([]byte{2}, 32), bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rotated.PublicKeys().VerifyReceipt(knownReceipt); err != nil {
		t.Errorf("after a rotation: %v", err)
	}
	if now, before := rotated.SealKeys("a"), signerOf(t, 1).SealKeys("a"); len(now) != 2 || !bytes.Equal(now[1], before[0]) || bytes.Equal(now[0], now[1]) {
		t.Error("documents that the former key sealed do not verify")
	}
	if bytes.Equal(rotated.SealKeys("a")[0], rotated.SealKeys("b")[0]) {
		t.Error("documents of another installation with the same keys verify")
	}
	moved := signerOf(t, 3)
	moved.Formerly(signerOf(t, 1).PublicKeys().Keys...)
	if _, err := moved.PublicKeys().VerifyReceipt(knownReceipt); err == nil || !strings.Contains(err.Error(), "kept in Redis") {
		t.Errorf("a receipt by a key from Redis: %v", err)
	}
	if s, err := moved.PublicKeys().VerifySeal(knownSeal); err != nil || s.N != 2 {
		t.Errorf("a seal by a key from Redis: %v", err)
	}
	bad := JWKS{Keys: []JWK{{KeyType: "RSA", KeyID: strings.Repeat("é", 40)}}}
	if _, err := bad.VerifyReceipt(knownReceipt); bridge.ErrorCode(err) != bridge.CodeForbidden || bad.detachedIs("AA", domainEntry) {
		t.Errorf("a key of another type: %v", err)
	}
	if _, err := bad.Keys[0].public(); err == nil || strings.Contains(err.Error(), "\ufffd") {
		t.Errorf("a key of another type: %v", err)
	}
}

// TestWords checks each word of what a receipt proves.
func TestWords(t *testing.T) {
	t.Parallel()
	ana, at := bridge.Actor{Platform: "chat", User: "U1", Person: "ana"}, time.Date(2026, 11, 1, 10, 0, 0, 0, time.FixedZone("", 3600))
	r := Receipt{ID: "i1", Agent: "ci", Digest: "d1", State: bridge.StateExpired, At: at}
	const none = "expired by no person at 2026-11-01T09:00:00Z, request i1 of agent ci, sha256:d1"
	if got := r.Words(); got != none {
		t.Errorf("%q, want %q", got, none)
	}
	r.State, r.Actor, r.Assurance, r.ApprovedDigest = bridge.StateApproved, &ana, bridge.AssurancePasskey, "d2"
	r.Votes = []bridge.Vote{{Actor: bridge.Actor{Platform: "chat", User: "U2", Person: "bo"}, State: bridge.StateApproved}, {Actor: ana, State: bridge.StateApproved, Assurance: bridge.AssurancePasskey}}
	const two = "approved by ana (chat U1) with a passkey at 2026-11-01T09:00:00Z, request i1 of agent ci, sha256:d1, edited to sha256:d2, approved by bo, approved by ana with a passkey"
	if got := r.Words(); got != two {
		t.Errorf("%q, want %q", got, two)
	}
}
