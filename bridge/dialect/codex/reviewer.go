package codex

import (
	"bytes"
	"encoding/json"
)

// Person is the value of approvals_reviewer with which Codex asks a person.
// With any other value, a model reviews operations that need approval.
const Person = "user"

// Reviewer reads the reviewer of operations that need approval from a line of a
// thread's transcript. It reports whether the reviewer is a model. It returns
// false for ok if the line contains no reviewer.
func Reviewer(line []byte) (model, ok bool) {
	if !bytes.Contains(line, []byte(`"turn_context"`)) {
		return false, false
	}
	var l struct {
		Type    string `json:"type"`
		Payload struct {
			Reviewer string `json:"approvals_reviewer"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &l) != nil || l.Type != "turn_context" || l.Payload.Reviewer == "" {
		return false, false
	}
	return l.Payload.Reviewer != Person, true
}
