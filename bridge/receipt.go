package bridge

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Receipt proves a decision to whoever has the public key, without nod. It is
// the payload of a JSON Web Signature (RFC 7515) with Ed25519 (RFC 8037).
type Receipt struct {
	ID      ID     `json:"id"`
	Kind    Kind   `json:"kind"`
	Agent   string `json:"agent"`
	Session string `json:"session,omitempty"`
	Route   string `json:"route,omitempty"`
	// Digest is that of the request; see [Request.Digest].
	Digest string `json:"digest"`
	State  State  `json:"state"`
	Scope  Scope  `json:"scope,omitempty"`
	// ApprovedDigest is the digest of what was approved instead, where a
	// person changed it.
	ApprovedDigest string `json:"approved_digest,omitempty"`
	// Answers is the hex SHA-256 over the canonical form of the answers.
	Answers string `json:"answers,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Actor is who decided, with the account that the platform vouched for;
	// nil where no human did.
	Actor *Actor    `json:"actor,omitempty"`
	Votes []Vote    `json:"votes,omitempty"`
	At    time.Time `json:"at"`
	Rule  string    `json:"rule,omitempty"`
	Risk  string    `json:"risk,omitempty"`
	// Message is the one that was pressed.
	Message *MessageRef `json:"message,omitempty"`
	Audit   *AuditRef   `json:"audit,omitempty"`
}

// AuditRef names the entry of the audit log that was written with a decision.
type AuditRef struct {
	Partition int    `json:"partition"`
	N         int64  `json:"n"`
	Link      string `json:"link"`
}

// Types of signed texts; they are in the signature's header, so that one never
// passes for another.
const (
	typeReceipt = "nod-receipt+jws"
	typeSeal    = "nod-seal+jws"
)

// Signer signs receipts and seals. The first key signs; all verify, so that a
// key can be replaced while its receipts are kept. It is safe for concurrent
// use.
type Signer struct{ keys []ed25519.PrivateKey }

// NewSigner returns a signer of Ed25519 seeds, each ed25519.SeedSize bytes.
func NewSigner(seeds ...[]byte) (*Signer, error) {
	if len(seeds) == 0 {
		return nil, Errorf(CodeInvalid, "key: none given")
	}
	s := &Signer{}
	for _, seed := range seeds {
		if len(seed) != ed25519.SeedSize {
			return nil, Errorf(CodeInvalid, "key: has %d bytes, want %d", len(seed), ed25519.SeedSize)
		}
		s.keys = append(s.keys, ed25519.NewKeyFromSeed(seed))
	}
	return s, nil
}

// JWK is a public key as RFC 7517 and RFC 8037 write it.
type JWK struct {
	KeyType string `json:"kty"`
	Curve   string `json:"crv"`
	X       string `json:"x"`
	KeyID   string `json:"kid"`
	Use     string `json:"use,omitempty"`
	Alg     string `json:"alg,omitempty"`
}

// JWKS is a set of public keys.
type JWKS struct {
	Keys []JWK `json:"keys"`
}

// NewJWK writes a public key. Its id is the thumbprint of RFC 7638.
func NewJWK(key ed25519.PublicKey) JWK {
	x := base64.RawURLEncoding.EncodeToString(key)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return JWK{KeyType: "OKP", Curve: "Ed25519", X: x, KeyID: base64.RawURLEncoding.EncodeToString(sum[:]), Use: "sig", Alg: "EdDSA"}
}

// PublicKeys are the keys that verify.
func (s *Signer) PublicKeys() JWKS {
	var out JWKS
	for _, k := range s.keys {
		out.Keys = append(out.Keys, NewJWK(k.Public().(ed25519.PublicKey)))
	}
	return out
}

type jwsHeader struct {
	Alg  string `json:"alg"`
	Kid  string `json:"kid"`
	Type string `json:"typ"`
}

// decodeStrict refuses what is another spelling of the same bytes: the
// library skips line ends, and Strict is about the bits that nobody reads.
func decodeStrict(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, base64.CorruptInputError(strings.IndexAny(s, "\r\n"))
	}
	return base64.RawURLEncoding.Strict().DecodeString(s)
}

// sign returns a compact JSON Web Signature.
func (s *Signer) sign(typ string, v any) (string, error) {
	payload, err := json.Marshal(v)
	if err != nil {
		return "", Wrap(CodeInternal, err, "signature")
	}
	key := s.keys[0]
	header, err := json.Marshal(jwsHeader{Alg: "EdDSA", Kid: NewJWK(key.Public().(ed25519.PublicKey)).KeyID, Type: typ})
	if err != nil {
		return "", Wrap(CodeInternal, err, "signature")
	}
	signed := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return signed + "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, []byte(signed))), nil
}

// verify returns the payload of a signature of a type; CodeForbidden for one
// that is not good.
func (set JWKS) verify(typ, token string) ([]byte, error) {
	bad := func(why string) ([]byte, error) { return nil, Errorf(CodeForbidden, "signature: %s", why) }
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return bad("is not a compact JWS")
	}
	raw := make([][]byte, 3)
	for n, p := range parts {
		var err error
		if raw[n], err = decodeStrict(p); err != nil {
			return bad("is not base64url")
		}
	}
	var h jwsHeader
	if err := json.Unmarshal(raw[0], &h); err != nil || h.Alg != "EdDSA" || h.Type != typ {
		return bad("is not EdDSA of the type " + typ)
	}
	for _, k := range set.Keys {
		key, err := decodeStrict(k.X)
		if err != nil || k.KeyType != "OKP" || k.Curve != "Ed25519" || len(key) != ed25519.PublicKeySize || NewJWK(key).KeyID != h.Kid {
			continue
		}
		if !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), raw[2]) {
			return bad("does not fit: something was changed")
		}
		return raw[1], nil
	}
	return bad("is by a key that is not among those given: " + clipped(h.Kid))
}

// VerifyReceipt reads a receipt whose signature is by one of the keys;
// CodeForbidden for any other.
func (set JWKS) VerifyReceipt(token string) (Receipt, error) {
	var r Receipt
	payload, err := set.verify(typeReceipt, strings.TrimSpace(token))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		return r, Wrap(CodeInvalid, err, "receipt")
	}
	return r, nil
}

// ReadReceipt reads a receipt without checking its signature: for who trusts
// the connection that it came by.
func ReadReceipt(token string) (Receipt, error) {
	var r Receipt
	parts := strings.Split(strings.TrimSpace(token), ".")
	if len(parts) != 3 {
		return r, Errorf(CodeInvalid, "receipt: is not a compact JWS")
	}
	payload, err := decodeStrict(parts[1])
	if err == nil {
		err = json.Unmarshal(payload, &r)
	}
	if err != nil {
		return r, Wrap(CodeInvalid, err, "receipt")
	}
	return r, nil
}

// Covers reports, as an error, why the receipt is none for a request, or for
// the input that was approved instead; nil: it is.
func (r Receipt) Covers(req Request, approved json.RawMessage) error {
	digest, err := req.Digest()
	if err != nil {
		return err
	}
	if digest != r.Digest {
		return Errorf(CodeForbidden, "the receipt is for another request").WithHint("it is for %s, the request is %s", r.Digest, digest)
	}
	if len(approved) == 0 {
		if r.ApprovedDigest != "" {
			return Errorf(CodeForbidden, "the receipt is for a changed input, and the request was not changed")
		}
		return nil
	}
	if digest, err = req.WithInput(approved).Digest(); err != nil {
		return err
	}
	if digest != r.ApprovedDigest {
		return Errorf(CodeForbidden, "the receipt is for another input than the one that came back")
	}
	return nil
}

// Words say what the receipt proves.
func (r Receipt) Words() string {
	who := "nobody"
	if r.Actor != nil {
		who = r.Actor.Display() + " (" + r.Actor.Platform + " " + r.Actor.User + ")"
	}
	s := string(r.State) + " by " + who + " at " + r.At.UTC().Format(time.RFC3339) + ", request " + string(r.ID) + " of agent " + r.Agent + ", sha256:" + r.Digest
	if r.ApprovedDigest != "" {
		s += ", changed to sha256:" + r.ApprovedDigest
	}
	for _, v := range r.Votes {
		s += ", " + string(v.State) + " by " + v.Actor.Display()
	}
	return s
}

// sealed adds the receipt to a record that has ended.
func (e *Engine) sealed(r Record) (Record, error) {
	if e.signer == nil || !r.State.Final() || r.Response == nil {
		return r, nil
	}
	i, resp := r.Interaction, r.Response
	out := Receipt{
		ID: i.ID, Kind: i.Kind, Agent: i.Agent, Session: i.Session, Route: i.Route, Digest: i.Digest, State: r.State, Scope: resp.Scope,
		ApprovedDigest: resp.ApprovedDigest, Reason: resp.Reason, Actor: resp.Actor, Votes: r.Votes, At: resp.At, Rule: i.Rule, Risk: i.Risk,
		Message: resp.Message, Audit: r.Audit,
	}
	var err error
	if len(resp.Answers) > 0 {
		if out.Answers, err = looseDigest(resp.Answers); err != nil {
			return r, err
		}
	}
	r.Receipt, err = e.signer.sign(typeReceipt, out)
	return r, err
}

// looseDigest is the digest of what people typed, which may hold numbers that
// the canonical form does not.
func looseDigest(v any) (string, error) {
	d, err := digestOf(v)
	if ErrorCode(err) != CodeInvalid {
		return d, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "", Wrap(CodeInternal, err, "digest")
	}
	return digestOf(string(raw))
}

// PublicKeys are the keys that verify receipts and seals; none without a
// signer.
func (e *Engine) PublicKeys() JWKS {
	if e.signer == nil {
		return JWKS{Keys: []JWK{}}
	}
	return e.signer.PublicKeys()
}
