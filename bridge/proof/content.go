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

// Stable returns v as JSON that stays the same when it is stored and read
// again. With Marshal alone, it would change: Marshal writes the replacement
// character as an escape if it stands for invalid UTF-8, but unescaped if the
// text contains it.
func Stable(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return nil // unreachable, because v is a plain struct
	}
	return stabilized(out)
}

// stabilized converts JSON from Marshal to the form of Stable.
func stabilized(out []byte) []byte {
	if !bytes.Contains(out, escapedInvalid) {
		return out
	}
	return bytes.ReplaceAll(out, escapedInvalid, []byte("\ufffd"))
}

var escapedInvalid = []byte(`\ufffd`)

// Content returns the hash of everything in an interaction that stays the same
// until its terms change: everything except the people who are asked and the
// times. It is the hex SHA-256 of the canonical form, because a program may
// rewrite a record before someone verifies it. Delegation and escalation change
// the fields that are left out here.
func Content(i bridge.Interaction) (string, error) {
	i.Content, i.Created, i.Deadline = "", time.Time{}, time.Time{}
	i.Destinations, i.Responders, i.Groups, i.Called = nil, nil, nil, nil
	i.Added, i.Requirements, i.Unfound, i.Steps, i.Names, i.Told = nil, nil, nil, nil, nil, nil
	raw, err := json.Marshal(&i)
	if err == nil {
		raw, err = strictjson.Canonical(raw) // the numbers were already checked
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
