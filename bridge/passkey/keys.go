package passkey

import (
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/nodbridge/nod/bridge"
)

// JWK is the public key of a person in the format of RFC 7517.
type JWK struct {
	KeyType string `json:"kty"`
	Curve   string `json:"crv,omitempty"`
	X       string `json:"x,omitempty"`
	Y       string `json:"y,omitempty"`
	N       string `json:"n,omitempty"`
	E       string `json:"e,omitempty"`
	Alg     string `json:"alg"`
}

// Key is a public key of a person, with all data that an offline check needs.
type Key struct {
	Person     string `json:"person"`
	Credential string `json:"credential"` // base64url
	COSE       string `json:"cose"`       // base64url
	JWK        JWK    `json:"jwk"`
	Revoked    string `json:"revoked,omitempty"` // RFC 3339; empty if valid
}

// Keys is a set of public keys of people, with the site that the keys belong
// to.
type Keys struct {
	RPID    string   `json:"rp_id"`
	Origins []string `json:"origins"`
	Keys    []Key    `json:"keys"`
}

// Export returns the public keys of credentials. Revoked keys are included,
// because they verify earlier signatures.
func (s Site) Export(creds []Credential) (Keys, error) {
	out := Keys{RPID: s.rpID, Origins: s.Origins(), Keys: []Key{}}
	for _, c := range creds {
		k, err := keyOf(c.PublicKey)
		if err != nil {
			return out, err
		}
		key := Key{Person: c.Person, Credential: c.Name(), COSE: text(c.PublicKey), JWK: k}
		if !c.Valid() {
			// A vote has whole milliseconds, so one in the same millisecond came before.
			key.Revoked = c.Revoked.UTC().Truncate(time.Millisecond).Add(time.Millisecond).Format(time.RFC3339Nano)
		}
		out.Keys = append(out.Keys, key)
	}
	return out, nil
}

// RevokedBy reports whether a key was revoked at a time.
func (k Key) RevokedBy(at time.Time) bool {
	revoked, err := time.Parse(time.RFC3339, k.Revoked)
	return k.Revoked != "" && (err != nil || !at.Before(revoked))
}

// find returns the index of the key of an assertion. It returns CodeForbidden
// if the set has no such key of that person.
func (k Keys) find(a Assertion) (int, error) {
	n := slices.IndexFunc(k.Keys, func(key Key) bool {
		return key.Credential == a.Credential && key.Person == a.Statement.Person
	})
	if n < 0 {
		return n, refuse("the set has no key %q of %s", a.Credential, a.Statement.Person)
	}
	return n, nil
}

// VerifyAt is like [Keys.Verify]. It also returns CodeForbidden if the key was
// revoked at the time of the decision.
func (k Keys) VerifyAt(a Assertion, at time.Time) error {
	n, err := k.find(a)
	if err != nil {
		return err
	}
	if k.Keys[n].RevokedBy(at) {
		return refuse("%s signed with a passkey that had already been revoked", a.Statement.Person)
	}
	return k.Verify(a)
}

// Verify checks offline that the person of an assertion signed its statement;
// see [Verify]. It returns CodeForbidden if the set has no such key of that
// person.
func (k Keys) Verify(a Assertion) error {
	n, err := k.find(a)
	if err != nil {
		return err
	}
	cose, err := bridge.DecodeBase64(k.Keys[n].COSE)
	if err != nil {
		return bridge.Errorf(bridge.CodeInvalid, "keys[%d].cose: not base64url", n)
	}
	return Verify(a, cose, k.RPID, k.Origins)
}

// keyOf returns a COSE public key as a JWK. It returns CodeInvalid for a key of
// an algorithm that is not accepted.
func keyOf(cose []byte) (JWK, error) {
	bad := func() (JWK, error) {
		return JWK{}, bridge.Errorf(bridge.CodeInvalid, "passkey: not a public key for ES256, EdDSA or RS256")
	}
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return bad()
	}
	switch k := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		if k.Algorithm == int64(webauthncose.AlgES256) {
			return JWK{KeyType: "EC", Curve: "P-256", X: text(k.XCoord), Y: text(k.YCoord), Alg: "ES256"}, nil
		}
	case webauthncose.OKPPublicKeyData:
		if k.Algorithm == int64(webauthncose.AlgEdDSA) {
			return JWK{KeyType: "OKP", Curve: "Ed25519", X: text(k.XCoord), Alg: "EdDSA"}, nil
		}
	case webauthncose.RSAPublicKeyData:
		if k.Algorithm == int64(webauthncose.AlgRS256) {
			return JWK{KeyType: "RSA", N: text(k.Modulus), E: text(k.Exponent), Alg: "RS256"}, nil
		}
	}
	return bad()
}
