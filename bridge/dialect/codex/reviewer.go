package codex

import (
	"bytes"
	"encoding/json"
)

// Person is the value of approvals_reviewer with which Codex asks a person. With
// any other, a model reviews what needs approval.
const Person = "user"

// Reviewer returns the reviewer of operations that need approval, according to
// a line of a thread's transcript: a model, or a person. It returns false for a
// line without a reviewer.
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
