package bridge

import (
	"encoding/json"
	"time"
)

// Response is how an interaction ended.
type Response struct {
	State   State             `json:"state"`
	Answers map[string]Answer `json:"answers,omitempty"` // by question id
	// Annotations by question id; never nil in a stored response.
	Annotations map[string]Annotation `json:"annotations"`
	Scope       Scope                 `json:"scope,omitempty"`  // approved: how far; denied: always, if it is to be remembered
	Reason      string                `json:"reason,omitempty"` // denied, cancelled, undeliverable, granted
	Stop        bool                  `json:"stop,omitempty"`   // denied: the agent's turn is to end
	// Input replaces Approval.Input: a person changed it before approving.
	Input json.RawMessage `json:"input,omitempty"`
	// ApprovedDigest is the digest of the request with Input.
	ApprovedDigest string `json:"approved_digest,omitempty"`
	Actor          *Actor `json:"actor,omitempty"` // nil where no human decided
	// WithdrawnBy is the person who withdrew a cancelled request; nil if its
	// agent did.
	WithdrawnBy *Actor `json:"withdrawn_by,omitempty"`
	// Rule of the policy that decided; empty: none did.
	Rule string `json:"rule,omitempty"`
	// Grant is the request in which the grant was given that covers this one.
	// With several, it is that of the first.
	Grant ID `json:"grant,omitempty"`
	// Covers states what the approval covers beyond this request: the grants
	// that it gave, or the grants that gave it. See [Interaction.Coverage].
	Covers []string `json:"covers,omitempty"`
	// Message is the one that was pressed; nil where none was.
	Message *MessageRef `json:"message,omitempty"`
	At      time.Time   `json:"at"`
	Digest  string      `json:"digest"` // of the interaction that was shown
	// Proof is the signed [Receipt], made by the daemon that verified the
	// click. It is empty for an end without a decision.
	Proof string `json:"proof,omitempty"`
}

// Vote is one of the decisions that an approval needs several of.
type Vote struct {
	Actor   Actor       `json:"actor"`
	State   State       `json:"state"` // approved or denied
	Scope   Scope       `json:"scope,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	At      time.Time   `json:"at"`
	Message *MessageRef `json:"message,omitempty"`
	// Covers are the indexes of Interaction.Slots that the voter counted for.
	Covers []int `json:"covers,omitempty"`
	// Shown identifies what the voter was shown, so that an approval counts
	// only for that.
	Shown string `json:"shown,omitempty"`
	// Proof is the signature of the daemon that verified the click.
	Proof string `json:"proof,omitempty"`
}

// Annotation is what came with an answer besides its value.
type Annotation struct {
	Note  string `json:"note,omitempty"`
	Other bool   `json:"other,omitempty"` // the answer is free text, not one of the options
	// Preview of the chosen option, where it had one.
	Preview string `json:"preview,omitempty"`
}

// Decided reports whether someone, or a rule, decided: any other end of a
// request is not an answer.
func (s State) Decided() bool { return s == StateAnswered || s == StateApproved || s == StateDenied }
