package passkey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// domain separates challenges from all other uses of SHA-256.
const domain = "nod passkey v1\n"

// nonceSize is the number of random bytes in a statement, and challengeSize the
// number in the challenge of a new key.
const (
	nonceSize     = 32
	challengeSize = 32
)

// Statement is a decision that a person signs; see [bridge.Statement].
type Statement bridge.Statement

// NewStatement returns a statement with a random nonce and the time.
func NewStatement(s bridge.Statement) Statement {
	s.Version, s.Nonce, s.At = bridge.StatementVersion, text(random(nonceSize)), time.Now().UTC().Format(time.RFC3339)
	return Statement(s)
}

// NewChallenge returns a random challenge for a new key.
func NewChallenge() []byte { return random(challengeSize) }

// Challenge returns the SHA-256 of "nod passkey v1\n" and the canonical JSON
// (RFC 8785) of the statement.
func (s Statement) Challenge() []byte {
	raw, err := json.Marshal(s)
	if err == nil {
		raw, err = strictjson.Canonical(raw)
	}
	if err != nil {
		panic(err) // unreachable: strings and a number are always valid JSON
	}
	sum := sha256.Sum256(append([]byte(domain), raw...))
	return sum[:]
}

// check returns CodeInvalid unless each field of the statement is set.
func (s Statement) check() error {
	if s.Version != bridge.StatementVersion {
		return bridge.Errorf(bridge.CodeInvalid, "statement.version: unknown version %d (must be %d)",
			s.Version, bridge.StatementVersion)
	}
	if nonce, err := bridge.DecodeBase64(s.Nonce); err != nil || len(nonce) != nonceSize {
		return bridge.Errorf(bridge.CodeInvalid, "statement.nonce: must be %d bytes in base64url", nonceSize)
	}
	for _, f := range []struct{ name, value string }{
		{"request", s.Request}, {"payload", s.Payload}, {"content", s.Content}, {"decision", s.Decision}, {"scope", s.Scope},
		{"person", s.Person}, {"at", s.At},
	} {
		if f.value == "" {
			return bridge.Errorf(bridge.CodeInvalid, "statement.%s: required", f.name)
		}
	}
	return nil
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// text encodes bytes as unpadded base64url.
func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
