package proof

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"

	"github.com/go-jose/go-jose/v4"
)

// Receipt proves a decision to whoever has the public key, without nod. It is
// the payload of a JSON Web Signature (RFC 7515) with Ed25519 (RFC 8037).
type Receipt struct {
	ID      bridge.ID   `json:"id"`
	Kind    bridge.Kind `json:"kind"`
	Agent   string      `json:"agent"`
	Session string      `json:"session,omitempty"`
	Route   string      `json:"route,omitempty"`
	// Digest is that of the request; see [Digest].
	Digest string       `json:"digest"`
	State  bridge.State `json:"state"`
	Scope  bridge.Scope `json:"scope,omitempty"`
	// ApprovedDigest is the digest of what was approved instead, where a
	// person changed it.
	ApprovedDigest string `json:"approved_digest,omitempty"`
	// Answers is the hex SHA-256 over the canonical form of the answers.
	Answers string `json:"answers,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Actor is who decided, with the account that the platform vouched for;
	// nil where no human did.
	Actor *bridge.Actor `json:"actor,omitempty"`
	Votes []bridge.Vote `json:"votes,omitempty"`
	At    time.Time     `json:"at"`
	Rule  string        `json:"rule,omitempty"`
	Risk  string        `json:"risk,omitempty"`
	// Message is the one that was pressed.
	Message *bridge.MessageRef `json:"message,omitempty"`
	// Audit names the entry of the audit log; only in receipts of earlier
	// versions. The entry of a later one holds the receipt.
	Audit *bridge.AuditRef `json:"audit,omitempty"`
	// Content is the hex SHA-256 over the interaction as it was stored: all
	// but who else was asked in the meantime, and for how long.
	Content string `json:"content,omitempty"`
	// Annotations and Input are digests as Answers is: of what came with the
	// answers, and of the input that was approved instead.
	Annotations string `json:"annotations,omitempty"`
	Input       string `json:"input,omitempty"`
	// Quorum is how many people had to approve, Permits what a standing
	// approval permits, Grant the request in which the one that covers this
	// was given, Policy the rule that decided without a human.
	Quorum  int       `json:"quorum,omitempty"`
	Permits []string  `json:"covers,omitempty"`
	Grant   bridge.ID `json:"grant,omitempty"`
	Policy  string    `json:"policy,omitempty"`
	Stop    bool      `json:"stop,omitempty"` // the agent's turn was to end
}

// ReceiptOf returns the claims about a response to an interaction, whose
// content is given.
func ReceiptOf(i bridge.Interaction, content []byte, resp bridge.Response, votes []bridge.Vote) (Receipt, error) {
	out := Receipt{
		ID: i.ID, Kind: i.Kind, Agent: i.Agent, Session: i.Session, Route: i.Route, Digest: i.Digest, State: resp.State, Scope: resp.Scope,
		ApprovedDigest: resp.ApprovedDigest, Reason: resp.Reason, Actor: resp.Actor, At: resp.At, Rule: i.Rule, Risk: i.Risk,
		Message: resp.Message, Content: contentHash(content), Permits: resp.Covers, Grant: resp.Grant, Stop: resp.Stop, Quorum: i.Quorum, Policy: resp.Rule,
	}
	if i.ByVotes(resp) {
		out.Votes = votes
	}
	var err error
	if len(resp.Answers) > 0 {
		if out.Answers, err = looseDigest(resp.Answers); err != nil {
			return out, err
		}
	}
	if len(resp.Annotations) > 0 {
		if out.Annotations, err = looseDigest(resp.Annotations); err != nil {
			return out, err
		}
	}
	if len(resp.Input) > 0 {
		out.Input, err = looseDigest(resp.Input)
	}
	return out, err
}

// Types of signed texts; they are in the signature's header, so that one never
// passes for another.
const (
	TypeReceipt = "nod-receipt+jws"
	TypeSeal    = "nod-seal+jws"
)

// Signer signs receipts and seals, and proves what is stored. The first key
// signs; all verify, so that a key can be replaced while its receipts are kept.
// It is safe for concurrent use.
type Signer struct {
	keys   []ed25519.PrivateKey
	macs   [][]byte // one derived from each key
	public JWKS
	typed  map[string]jose.Signer // with the first key, by type
}

// macInfo binds the keys of MACs, which are derived from the keys that sign, to
// their purpose.
const macInfo = "nod stored proof v1"

// NewSigner returns a signer of Ed25519 seeds, each ed25519.SeedSize bytes.
func NewSigner(seeds ...[]byte) (*Signer, error) {
	if len(seeds) == 0 {
		return nil, bridge.Errorf(bridge.CodeInvalid, "key: none given")
	}
	s := &Signer{typed: map[string]jose.Signer{}}
	for _, seed := range seeds {
		if len(seed) != ed25519.SeedSize {
			return nil, bridge.Errorf(bridge.CodeInvalid, "key: has %d bytes, want %d", len(seed), ed25519.SeedSize)
		}
		derived, err := hkdf.Key(sha256.New, seed, nil, macInfo, sha256.Size)
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
		}
		key := ed25519.NewKeyFromSeed(seed)
		s.keys, s.macs = append(s.keys, key), append(s.macs, derived)
		s.public.Keys = append(s.public.Keys, NewJWK(key.Public().(ed25519.PublicKey)))
	}
	first := jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: s.keys[0], KeyID: s.public.Keys[0].KeyID}}
	for _, typ := range []string{TypeReceipt, TypeSeal, TypeAnswer} {
		signer, err := jose.NewSigner(first, (&jose.SignerOptions{}).WithType(jose.ContentType(typ)))
		if err != nil {
			return nil, bridge.Wrap(bridge.CodeInternal, err, "key")
		}
		s.typed[typ] = signer
	}
	return s, nil
}

// Formerly has the public keys name one that signed before, while its private
// key was kept in Redis. Only seals of the audit log that it made are believed.
func (s *Signer) Formerly(keys ...JWK) { s.public.Former = append(s.public.Former, keys...) }

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
	// Former are keys that were kept in Redis: whoever could read it may have
	// them, so they prove no decision. Old seals are checked with them.
	Former []JWK `json:"former,omitempty"`
}

// NewJWK writes a public key. Its id is the thumbprint of RFC 7638.
func NewJWK(key ed25519.PublicKey) JWK {
	x := base64.RawURLEncoding.EncodeToString(key)
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	return JWK{KeyType: "OKP", Curve: "Ed25519", X: x, KeyID: base64.RawURLEncoding.EncodeToString(sum[:]), Use: "sig", Alg: "EdDSA"}
}

// PublicKeys are the keys that verify.
func (s *Signer) PublicKeys() JWKS { return s.public }

// public is the key itself.
func (k JWK) public() (ed25519.PublicKey, error) {
	key, err := bridge.DecodeBase64(k.X)
	if err != nil || k.KeyType != "OKP" || k.Curve != "Ed25519" || len(key) != ed25519.PublicKeySize {
		return nil, bridge.Errorf(bridge.CodeInvalid, "key %s: is not an Ed25519 public key", clipped(k.KeyID))
	}
	return key, nil
}

// Sign returns a compact JSON Web Signature.
func (s *Signer) Sign(typ string, v any) (string, error) {
	payload, err := json.Marshal(v)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	signed, err := s.typed[typ].Sign(payload)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "signature")
	}
	return token, nil
}

// verify returns the payload of a signature of a type; CodeForbidden for one
// that is not good. A text that spells the same signature in another way is not
// good either.
func (set JWKS) verify(typ, token string) ([]byte, error) {
	bad := func(why string) ([]byte, error) {
		return nil, bridge.Errorf(bridge.CodeForbidden, "signature: %s", why)
	}
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return bad("is not a compact JWS with EdDSA")
	}
	if same, err := signed.CompactSerialize(); err != nil || same != token {
		return bad("is not spelled as it was made")
	}
	h := signed.Signatures[0].Protected
	if h.ExtraHeaders[jose.HeaderType] != typ {
		return bad("is not of the type " + typ)
	}
	for _, k := range set.Keys {
		key, err := k.public()
		if err != nil || NewJWK(key).KeyID != h.KeyID {
			continue
		}
		payload, err := signed.Verify(key)
		if err != nil {
			return bad("does not fit: something was changed")
		}
		return payload, nil
	}
	for _, k := range set.Former {
		if k.KeyID == h.KeyID {
			return bad("is by a key that was kept in Redis, so it proves nothing now: " + clipped(h.KeyID))
		}
	}
	return bad("is by a key that is not among those given: " + clipped(h.KeyID))
}

// VerifyReceipt reads a receipt whose signature is by one of the keys;
// CodeForbidden for any other.
func (set JWKS) VerifyReceipt(token string) (Receipt, error) { return set.receipt(token) }

// Covers reports, as an error, why the receipt is none for a request, or for
// the input that was approved instead; nil: it is.
func (r Receipt) Covers(req bridge.Request, approved json.RawMessage) error {
	digest, err := Digest(req)
	if err != nil {
		return err
	}
	if digest != r.Digest {
		return bridge.Errorf(bridge.CodeForbidden, "the receipt is for another request").WithHint("it is for %s, the request is %s", r.Digest, digest)
	}
	if len(approved) == 0 {
		if r.ApprovedDigest != "" {
			return bridge.Errorf(bridge.CodeForbidden, "the receipt is for a changed input, and the request was not changed")
		}
		return nil
	}
	if digest, err = Digest(req.WithInput(approved)); err != nil {
		return err
	}
	if digest != r.ApprovedDigest {
		return bridge.Errorf(bridge.CodeForbidden, "the receipt is for another input than the one that came back")
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

// looseDigest is the digest of what people typed, which may hold numbers that
// the canonical form does not.
func looseDigest(v any) (string, error) {
	d, err := digestOf(v)
	if bridge.ErrorCode(err) != bridge.CodeInvalid {
		return d, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "digest")
	}
	return digestOf(string(raw))
}
