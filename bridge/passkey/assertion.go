package passkey

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Assertion is a signed statement; see [bridge.Assertion].
type Assertion = bridge.Assertion

// Limits of the fields of an assertion in bytes. The ID has the limit of
// WebAuthn.
const (
	maxID        = 1023
	maxData      = 4096
	maxSignature = 1024
	minAuthData  = 37
)

// algorithms are the signature algorithms that are accepted.
var algorithms = []webauthncose.COSEAlgorithmIdentifier{
	webauthncose.AlgES256, webauthncose.AlgEdDSA, webauthncose.AlgRS256,
}

// signed holds the decoded fields of an assertion.
type signed struct {
	id, client, auth, signature []byte
}

// decode returns the decoded fields. Each has exactly one encoding.
func decode(a Assertion) (out signed, err error) {
	for _, f := range []struct {
		name  string
		value string
		max   int
		to    *[]byte
	}{
		{"credential", a.Credential, maxID, &out.id},
		{"client_data", a.ClientData, maxData, &out.client},
		{"authenticator_data", a.AuthenticatorData, maxData, &out.auth},
		{"signature", a.Signature, maxSignature, &out.signature},
	} {
		raw, err := bridge.DecodeBase64(f.value)
		if err != nil || len(raw) == 0 || len(raw) > f.max {
			return out, bridge.Errorf(bridge.CodeInvalid, "%s: must be 1 to %d bytes in base64url", f.name, f.max)
		}
		*f.to = raw
	}
	if len(out.auth) < minAuthData {
		return out, bridge.Errorf(bridge.CodeInvalid, "authenticator_data: must have at least %d bytes", minAuthData)
	}
	return out, nil
}

// flags returns the flags of authenticator data.
func (s signed) flags() protocol.AuthenticatorFlags { return protocol.AuthenticatorFlags(s.auth[32]) }

// counter returns the signature counter of authenticator data.
func (s signed) counter() uint32 { return binary.BigEndian.Uint32(s.auth[33:37]) }

// Verify checks that the private key of a COSE public key signed the statement
// of an assertion, on a page of one of the origins, with user verification. It
// needs no store and no network. It returns CodeInvalid for an assertion that
// cannot be decoded and CodeForbidden for one that proves nothing.
//
// It does not check who owns the key; see [Keys.Verify]. It does not check the
// counter, which only the store knows.
func Verify(a Assertion, key []byte, rpID string, origins []string) error {
	if err := Statement(a.Statement).check(); err != nil {
		return err
	}
	s, err := decode(a)
	if err != nil {
		return err
	}
	if a.RPID != rpID {
		return refuse("signed for the site %q, not %q", a.RPID, rpID)
	}
	if !slices.Contains(origins, a.Origin) {
		return refuse("signed on the page of another origin %q", a.Origin)
	}
	challenge := text(Statement(a.Statement).Challenge())
	if err := s.context("webauthn.get", challenge, a.Origin, rpID); err != nil {
		return err
	}
	return s.verify(key, challenge, a)
}

// context checks everything around a signature: the type, the challenge, the
// origin, the site and the flags. The library checks them again. This step
// gives a text for each problem.
func (s signed) context(typ, challenge, origin, rpID string) error {
	var c protocol.CollectedClientData
	if err := strictjson.Decode(s.client, &c); err != nil {
		return bridge.Errorf(bridge.CodeInvalid, "client_data: not the JSON of a browser")
	}
	site := sha256.Sum256([]byte(rpID))
	switch {
	case string(c.Type) != typ:
		return refuse("signed for another purpose %q", c.Type)
	case subtle.ConstantTimeCompare([]byte(c.Challenge), []byte(challenge)) != 1:
		return refuse("signed for another request, decision or person")
	case c.Origin != origin:
		return refuse("signed on the page of another origin %q", c.Origin)
	case c.CrossOrigin || c.TopOrigin != "":
		return refuse("signed inside the page of another site")
	case !bytes.Equal(s.auth[:32], site[:]):
		return refuse("signed for a site other than %q", rpID)
	case !s.flags().HasUserPresent():
		return refuse("signed without a person at the device")
	case !s.flags().HasUserVerified():
		return refuse("signed without user verification").
			WithHint("use a passkey that asks for a fingerprint, a face or a PIN")
	case s.flags().HasBackupState() && !s.flags().HasBackupEligible():
		return refuse("signed with contradictory backup flags")
	}
	return nil
}

// verify checks the signature with the library.
func (s signed) verify(key []byte, challenge string, a Assertion) error {
	if _, err := keyOf(key); err != nil {
		return err
	}
	var r protocol.CredentialAssertionResponse
	r.ID, r.Type, r.RawID = a.Credential, string(protocol.PublicKeyCredentialType), s.id
	r.AssertionResponse.ClientDataJSON = s.client
	r.AssertionResponse.AuthenticatorData = s.auth
	r.AssertionResponse.Signature = s.signature
	parsed, err := r.Parse()
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "authenticator_data: cannot be decoded")
	}
	err = parsed.Verify(challenge, a.RPID, "", []string{a.Origin}, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, true, true, key, protocol.SignaturePolicy{})
	if err != nil {
		return bridge.Wrap(bridge.CodeForbidden, err, "passkey: the signature is invalid")
	}
	return nil
}
