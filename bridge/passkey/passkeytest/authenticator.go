// Package passkeytest has an authenticator in software, for tests that sign
// with a passkey without a browser.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// Flags of authenticator data.
const (
	UserPresent  = 0x01
	UserVerified = 0x04
	attested     = 0x40
)

// Authenticator holds a key of a person. Tests may change its fields to forge
// signatures.
type Authenticator struct {
	Origin  string // origin of the page
	RPID    string // if empty, the one in the options
	Type    string // if empty, the correct one
	Cross   bool   // the page is in a frame of another site
	Flags   byte
	Counter uint32 // counter of the last signature
	Step    uint32 // increment of the counter for each signature

	ID     []byte
	key    *ecdsa.PrivateKey
	handle json.RawMessage
}

// New returns an authenticator with a new key for pages of an origin.
func New(t testing.TB, origin string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return &Authenticator{Origin: origin, Flags: UserPresent | UserVerified, Step: 1, ID: id, key: key}
}

// options holds the part of the options for the browser that an authenticator
// uses.
type options struct {
	Challenge string `json:"challenge"`
	RPID      string `json:"rpId"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	User struct {
		ID json.RawMessage `json:"id"`
	} `json:"user"`
}

// COSE returns the public key.
func (a *Authenticator) COSE(t testing.TB) []byte {
	t.Helper()
	raw, err := a.key.PublicKey.Bytes() // 0x04, x and y
	if err != nil {
		t.Fatal(err)
	}
	return encode(t, webauthncose.EC2PublicKeyData{
		PublicKeyData: webauthncose.PublicKeyData{
			KeyType: int64(webauthncose.EllipticKey), Algorithm: int64(webauthncose.AlgES256),
		},
		Curve: int64(webauthncose.P256), XCoord: raw[1:33], YCoord: raw[33:],
	})
}

// Create answers the options of navigator.credentials.create.
func (a *Authenticator) Create(t testing.TB, raw []byte) []byte {
	t.Helper()
	o := decode(t, raw)
	a.handle = o.User.ID
	cose := a.COSE(t)
	auth := a.data(o.RP.ID, a.Flags|attested)
	auth = append(auth, make([]byte, 16)...) // no AAGUID
	auth = binary.BigEndian.AppendUint16(auth, uint16(len(a.ID)))
	auth = append(append(auth, a.ID...), cose...)
	object := encode(t, map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": auth})
	return a.response(t, map[string]any{
		"clientDataJSON": text(a.client(t, o.Challenge, "webauthn.create")), "attestationObject": text(object),
		"transports": []string{"internal"},
	})
}

// Get answers the options of navigator.credentials.get.
func (a *Authenticator) Get(t testing.TB, raw []byte) []byte {
	t.Helper()
	o := decode(t, raw)
	a.Counter += a.Step
	auth, client := a.data(o.RPID, a.Flags), a.client(t, o.Challenge, "webauthn.get")
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(auth[:len(auth):len(auth)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{"clientDataJSON": text(client), "authenticatorData": text(auth), "signature": text(signature)}
	if a.handle != nil {
		out["userHandle"] = a.handle
	}
	return a.response(t, out)
}

// data returns authenticator data without a key.
func (a *Authenticator) data(rpID string, flags byte) []byte {
	if a.RPID != "" {
		rpID = a.RPID
	}
	hash := sha256.Sum256([]byte(rpID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

// client returns client data in the format of a browser.
func (a *Authenticator) client(t testing.TB, challenge, typ string) []byte {
	t.Helper()
	if a.Type != "" {
		typ = a.Type
	}
	data := map[string]any{"type": typ, "challenge": challenge, "origin": a.Origin, "crossOrigin": a.Cross}
	if a.Cross {
		data["topOrigin"] = "https://evil.example.com"
	}
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// response returns a credential as PublicKeyCredential.toJSON writes it.
func (a *Authenticator) response(t testing.TB, of map[string]any) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"id": text(a.ID), "rawId": text(a.ID), "type": "public-key", "authenticatorAttachment": "platform",
		"clientExtensionResults": map[string]any{}, "response": of,
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decode(t testing.TB, raw []byte) (o options) {
	t.Helper()
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := webauthncbor.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
