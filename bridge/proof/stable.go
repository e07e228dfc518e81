package proof

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Domains keep a proof of one kind from passing for one of another.
const (
	DomainVote  = "nod vote v1"
	DomainEntry = "nod audit entry v1"
)

// framed joins a domain and parts so that no two lists of parts look alike.
func framed(domain string, parts ...[]byte) []byte {
	n := len(domain) + 1
	for _, p := range parts {
		n += 8 + len(p)
	}
	out := append(make([]byte, 0, n), domain...)
	out = append(out, 0)
	for _, p := range parts {
		out = binary.BigEndian.AppendUint64(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}

// Mac proves something to the daemons that have the key, and to no one else.
func (s *Signer) Mac(domain string, parts ...[]byte) string {
	return base64.RawURLEncoding.EncodeToString(macWith(s.macs[0], framed(domain, parts...)))
}

func macWith(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// MacIs reports whether a proof is the MAC of parts, by any of the keys.
func (s *Signer) MacIs(proof, domain string, parts ...[]byte) bool {
	sum, err := bridge.DecodeBase64(proof)
	if err != nil || len(sum) != sha256.Size {
		return false
	}
	text := framed(domain, parts...)
	good := false
	for _, key := range s.macs {
		good = hmac.Equal(sum, macWith(key, text)) || good
	}
	return good
}

// Detached proves something to everyone who has the public key.
func (s *Signer) Detached(domain string, parts ...[]byte) string {
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(s.keys[0], framed(domain, parts...)))
}

// DetachedIs reports whether a proof is a signature of parts, by any of the
// keys.
func (set JWKS) DetachedIs(proof, domain string, parts ...[]byte) bool {
	sig, err := bridge.DecodeBase64(proof)
	if err != nil || len(sig) != ed25519.SignatureSize {
		return false
	}
	text := framed(domain, parts...)
	for _, k := range set.Keys {
		if key, err := k.public(); err == nil && ed25519.Verify(key, text, sig) {
			return true
		}
	}
	return false
}

// Stable is v as JSON that stays the same when it is stored and read again:
// Marshal escapes the replacement of invalid UTF-8, and writes the character
// itself once it was read.
func Stable(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return nil // v is one of our own plain structs, which always marshal
	}
	return bytes.ReplaceAll(out, []byte(`\ufffd`), []byte("\ufffd"))
}

// Content returns the part of an interaction that cannot change while it is
// open, as JSON: all but who is asked and for how long. A field that amendments
// change must be left out here, and be added to amendable.
func Content(i bridge.Interaction) []byte {
	i.Proof, i.Created, i.Deadline = "", time.Time{}, time.Time{}
	i.Destinations, i.Responders, i.Groups, i.Called = nil, nil, nil, nil
	return Stable(i)
}

// amendable has the fields that delegation and escalation change.
type amendable struct {
	Created, Deadline time.Time
	Destinations      []bridge.Destination
	Responders        []bridge.Responder
	Groups, Called    []string
}

// contentHash returns the hash of the content that a receipt states.
func contentHash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// InteractionParts returns the content, and the text that an interaction's proof
// covers: all of the interaction.
func InteractionParts(i bridge.Interaction) (content, rest []byte) {
	times := i.Stated
	if times == (bridge.Times{}) {
		times = bridge.Times{Created: i.Created, Deadline: i.Deadline}
	}
	content = Content(i)
	sum := sha256.Sum256(content)
	return content, append(sum[:], Stable(amendable{times.Created.UTC(), times.Deadline.UTC(), i.Destinations, i.Responders, i.Groups, i.Called})...)
}
