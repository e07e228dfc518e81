package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Stable returns v as JSON that does not change when it is stored and read
// again. Marshal alone would change it: it escapes the replacement character
// for invalid UTF-8, but writes that character unescaped if it is in the text.
func Stable(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return nil // unreachable, because v is a plain struct
	}
	return stabilized(out)
}

// stabilized returns JSON that Marshal has encoded in the form of Stable.
func stabilized(out []byte) []byte {
	if !bytes.Contains(out, escapedInvalid) {
		return out
	}
	return bytes.ReplaceAll(out, escapedInvalid, []byte("\ufffd"))
}

var escapedInvalid = []byte(`\ufffd`)

// Content returns the hash of everything in an interaction that cannot change while
// it is open, apart from a change of its terms: all but the people who are asked and
// the times. It is the hex SHA-256 of the canonical form, because any program may
// have rewritten a record before it is verified. A field that is left out here is
// one that delegation and escalation change.
func Content(i bridge.Interaction) (string, error) {
	i.Content, i.Created, i.Deadline = "", time.Time{}, time.Time{}
	i.Destinations, i.Responders, i.Groups, i.Called = nil, nil, nil, nil
	i.Added, i.Requirements, i.Unfound, i.Steps, i.Names, i.Told = nil, nil, nil, nil, nil, nil
	raw, err := json.Marshal(&i)
	if err == nil {
		raw, err = strictjson.Canonical(raw) // its numbers were checked
	}
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "content")
	}
	return hashOf(raw), nil
}

// hashOf returns the hex SHA-256 of a text.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
