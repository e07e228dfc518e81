package proof

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// digestOf is the hex SHA-256 over the canonical form of a value.
func digestOf(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "digest")
	}
	canonical, err := Canonical(b.Bytes())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// payload is what a decision is bound to.
type payload struct {
	Kind      bridge.Kind       `json:"kind"`
	Prompt    string            `json:"prompt"`
	Questions []bridge.Question `json:"questions,omitempty"`
	Approval  *action           `json:"approval,omitempty"`
}

// action is what would be done: of an approval, all but how it is asked for.
type action struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input,omitempty"`
	Key   string          `json:"key,omitempty"`
	Where string          `json:"where,omitempty"`
}

// Digest is what a decision about the request is bound to: the hex SHA-256
// over the canonical form (RFC 8785) of its kind, prompt and questions, and of
// the tool, input, key and where of an approval. The daemon makes the same of
// what it was sent; an agent compares both before it acts.
func Digest(r bridge.Ask) (string, error) {
	if err := r.Normalize(); err != nil {
		return "", err
	}
	return NormalizedDigest(r)
}

// NormalizedDigest is Digest of a request that is normalized.
func NormalizedDigest(r bridge.Ask) (string, error) {
	p := payload{Kind: r.Kind, Prompt: r.Prompt, Questions: r.Questions}
	if a := r.Approval; a != nil {
		p.Approval = &action{a.Tool, a.Input, a.Key, a.Where}
	}
	return digestOf(p)
}

// ApprovedDigest is the digest of an approval with another input, as a person
// changed it.
func ApprovedDigest(i bridge.Interaction, input json.RawMessage) (string, error) {
	return NormalizedDigest(i.Ask.WithInput(input))
}

// GrantDigest identifies an approval as the agent sent it: two have the same
// digest only if everything in them that people see is the same.
func GrantDigest(i bridge.Interaction) (string, error) {
	a := i.Approval
	return digestOf(struct {
		Agent    string          `json:"agent"`
		Kind     bridge.Kind     `json:"kind"`
		Tool     string          `json:"tool"`
		ToolName string          `json:"tool_name"`
		Input    json.RawMessage `json:"input,omitempty"`
		Prompt   string          `json:"prompt"`
		Error    string          `json:"error"`
		Where    string          `json:"where"`
	}{i.Agent, i.Kind, a.Tool, i.ToolName, a.Input, i.Prompt, i.Error, a.Where})
}

// sentVersion begins the digest of what an agent sent, as it is stored with an
// idempotency key. Older ones were made of the record and have no version.
const sentVersion = "sent-1:"

// Sent is a digest over exactly what the agent sent, to tell a repeat under the
// same idempotency key from another request. Nothing that a config, a trace or
// the time makes of a request is in it. Previous is the interaction that it
// asks again.
func Sent(r bridge.Ask, previous bridge.ID) (string, error) {
	raw, err := json.Marshal(struct {
		Previous bridge.ID
		Request  bridge.Ask
	}{previous, r})
	if err != nil {
		return "", bridge.Errorf(bridge.CodeInvalid, "the request cannot be encoded as JSON")
	}
	sum := sha256.Sum256(raw)
	return sentVersion + hex.EncodeToString(sum[:]), nil
}

// looseDigest is the digest of what people typed, which may hold numbers that
// the canonical form does not.
func looseDigest(v any) (string, error) {
	d, err := digestOf(v)
	if bridge.ErrorCode(err) != bridge.CodeInvalid {
		return d, err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "digest")
	}
	return digestOf(string(raw))
}
