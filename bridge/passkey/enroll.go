package passkey

import (
	"slices"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/nodbridge/nod/bridge"
)

// siteName is the name of the site that authenticators show.
const siteName = "nod"

// Create returns the options for navigator.credentials.create as JSON, in the
// format of PublicKeyCredential.parseCreationOptionsFromJSON. The challenge
// comes from [NewChallenge]; the caller accepts it once.
func (s Site) Create(person string, existing []Credential, challenge []byte) ([]byte, error) {
	if person == "" || len(challenge) < challengeSize {
		return nil, bridge.Errorf(bridge.CodeInvalid,
			"passkey: a person and a challenge of %d bytes are required", challengeSize)
	}
	return encode(protocol.PublicKeyCredentialCreationOptions{
		RelyingParty: protocol.RelyingPartyEntity{CredentialEntity: protocol.CredentialEntity{Name: siteName}, ID: s.rpID},
		User: protocol.UserEntity{
			CredentialEntity: protocol.CredentialEntity{Name: person}, DisplayName: person, ID: s.handle(person),
		},
		Challenge: challenge, Parameters: parameters(), Timeout: int(patience.Milliseconds()),
		CredentialExcludeList: descriptors(owned(existing, person)),
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationRequired,
		},
		Attestation: protocol.PreferNoAttestation,
	})
}

// Enroll checks the response of a browser to [Site.Create] and returns the new
// key without a label and a time. It returns CodeInvalid for a response that
// cannot be decoded, and CodeForbidden for one that answers another challenge,
// comes from another origin or lacks user verification.
func (s Site) Enroll(person string, challenge, response []byte) (Credential, error) {
	if err := checkResponse(response); err != nil {
		return Credential{}, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Credential{}, bridge.Wrap(bridge.CodeInvalid, err, "passkey: the response of the browser cannot be decoded")
	}
	origin := originIn(parsed.Raw.AttestationResponse.ClientDataJSON)
	if !slices.Contains(s.origins, origin) {
		return Credential{}, refuse("created on the page of another origin %q", origin)
	}
	auth := parsed.Response.AttestationObject.RawAuthData
	made := signed{client: parsed.Raw.AttestationResponse.ClientDataJSON, auth: auth}
	if err := made.context("webauthn.create", text(challenge), origin, s.rpID); err != nil {
		return Credential{}, err
	}
	_, err = parsed.Verify(text(challenge), s.rpID, []string{origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, true, true, nil, parameters(),
		protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return Credential{}, bridge.Wrap(bridge.CodeForbidden, err, "passkey: the new key is invalid")
	}
	data := parsed.Response.AttestationObject.AuthData
	if _, err := keyOf(data.AttData.CredentialPublicKey); err != nil {
		return Credential{}, err
	}
	c := Credential{
		ID: data.AttData.CredentialID, PublicKey: data.AttData.CredentialPublicKey, Person: person,
		Counter: data.Counter, AAGUID: data.AttData.AAGUID,
		BackupEligible: data.Flags.HasBackupEligible(), BackedUp: data.Flags.HasBackupState(),
	}
	for _, t := range parsed.Response.Transports {
		if len(c.Transports) < maxTransports && slices.Contains(transports, t) {
			c.Transports = append(c.Transports, string(t))
		}
	}
	return c, nil
}

// transports lists the known ways to reach an authenticator. A key has at most
// maxTransports of them.
var transports = []protocol.AuthenticatorTransport{
	protocol.USB, protocol.NFC, protocol.BLE, protocol.SmartCard, protocol.Hybrid, protocol.Internal,
}

const maxTransports = 6

// parameters returns the accepted algorithms in the format of the options.
func parameters() []protocol.CredentialParameter {
	var out []protocol.CredentialParameter
	for _, alg := range algorithms {
		out = append(out, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType, Algorithm: alg})
	}
	return out
}
