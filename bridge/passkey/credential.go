package passkey

import (
	"bytes"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Credential is a public key of a person in the form that the store keeps.
type Credential struct {
	ID             []byte    `json:"id"`
	PublicKey      []byte    `json:"public_key"` // COSE
	Person         string    `json:"person"`
	Label          string    `json:"label,omitempty"` // chosen by the person, untrusted text
	Counter        uint32    `json:"counter,omitempty"`
	Transports     []string  `json:"transports,omitempty"`
	AAGUID         []byte    `json:"aaguid,omitempty"`
	BackupEligible bool      `json:"backup_eligible,omitempty"`
	BackedUp       bool      `json:"backed_up,omitempty"`
	Created        time.Time `json:"created"`
	Used           time.Time `json:"used,omitzero"`    // zero if never used
	Revoked        time.Time `json:"revoked,omitzero"` // zero if valid
}

// Valid reports whether the key is not revoked.
func (c Credential) Valid() bool { return c.Revoked.IsZero() }

// Name returns the ID as unpadded base64url.
func (c Credential) Name() string { return text(c.ID) }

// Grows reports whether a counter from an authenticator is plausible after the
// previous counter. Synchronized passkeys always send zero.
func Grows(from, to uint32) bool { return to > from || from == 0 && to == 0 }

// MaxKeys is the number of valid keys that a person may have.
const MaxKeys = 20

// find returns the key with an ID.
func find(creds []Credential, id []byte) (Credential, error) {
	for _, c := range creds {
		if !bytes.Equal(c.ID, id) {
			continue
		}
		if !c.Valid() {
			return c, refuse("this passkey was revoked")
		}
		return c, nil
	}
	return Credential{}, refuse("this passkey is not known for this person")
}

// refuse returns the error for a signature that proves nothing.
func refuse(format string, args ...any) *bridge.Error {
	return bridge.Errorf(bridge.CodeForbidden, "passkey: "+format, args...)
}
