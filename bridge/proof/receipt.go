package proof

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Receipt proves a decision to anyone who has the public key, without access to
// nod. It is the payload of a JSON Web Signature (RFC 7515) with Ed25519 (RFC
// 8037).
type Receipt struct {
	ID      bridge.ID   `json:"id"`
	Kind    bridge.Kind `json:"kind"`
	Agent   string      `json:"agent"`
	Session string      `json:"session,omitempty"`
	Route   string      `json:"route,omitempty"`
	// Digest is the request digest; see [Digest].
	Digest string       `json:"digest"`
	State  bridge.State `json:"state"`
	Scope  bridge.Scope `json:"scope,omitempty"`
	// ApprovedDigest is the request digest with the edited input, if a
	// person edited it.
	ApprovedDigest string `json:"approved_digest,omitempty"`
	// Answers is the hex SHA-256 of the canonical form of the answers.
	Answers string `json:"answers,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Actor is the person who decided, with the account that the platform
	// authenticated. It is nil if no person decided.
	Actor *bridge.Actor `json:"actor,omitempty"`
	Votes []bridge.Vote `json:"votes,omitempty"`
	At    time.Time     `json:"at"`
	Rule  string        `json:"rule,omitempty"`
	Risk  string        `json:"risk,omitempty"`
	// Message is the message that was clicked.
	Message *bridge.MessageRef `json:"message,omitempty"`
	// Content is the hash of the text that people saw; see [Content].
	Content string `json:"content"`
	// Annotations and Input are digests of the annotations and of the edited
	// input, in the form of Answers.
	Annotations string `json:"annotations,omitempty"`
	Input       string `json:"input,omitempty"`
	// Quorum is the number of required approvals. Permits is the coverage of
	// the grants that were created or used. Grant is the request in which the
	// used grant was given. Policy is the rule that decided without a person.
	Quorum  int       `json:"quorum,omitempty"`
	Permits []string  `json:"covers,omitempty"`
	Grant   bridge.ID `json:"grant,omitempty"`
	Policy  string    `json:"policy,omitempty"`
	Stop    bool      `json:"stop,omitempty"`    // the denial also ended the agent's turn
	Respond bool      `json:"respond,omitempty"` // Reason is the result of the call
	// Assurance is the kind of proof that the actor gave for the approval:
	// passkey. It is empty if a click was enough. Assertion is the signature of
	// the passkey. If the approval is the result of votes, each vote has its
	// own assertion.
	Assurance bridge.Assurance  `json:"assurance,omitempty"`
	Assertion *bridge.Assertion `json:"assertion,omitempty"`
}

// receiptOf returns the claims about a response to an interaction.
func receiptOf(i bridge.Interaction, resp bridge.Response, votes []bridge.Vote) (Receipt, error) {
	out := Receipt{
		ID: i.ID, Kind: i.Kind, Agent: i.Agent, Session: i.Session, Route: i.Route, Digest: i.Digest, State: resp.State, Scope: resp.Scope,
		ApprovedDigest: resp.ApprovedDigest, Reason: resp.Reason, Actor: resp.Actor, At: resp.At, Rule: i.Rule, Risk: i.Risk,
		Message: resp.Message, Permits: resp.Covers, Grant: resp.Grant, Stop: resp.Stop, Respond: resp.Respond, Quorum: i.Quorum, Policy: resp.Rule,
		Assurance: resp.Assurance, Assertion: resp.Assertion, Content: i.Content,
	}
	if i.ByVotes(resp) {
		out.Votes = votes
	}
	var err error
	if len(resp.Answers) > 0 {
		if out.Answers, err = typedDigest(resp.Answers); err != nil {
			return out, err
		}
	}
	if len(resp.Annotations) > 0 {
		if out.Annotations, err = typedDigest(resp.Annotations); err != nil {
			return out, err
		}
	}
	if len(resp.Input) > 0 {
		out.Input, err = typedDigest(resp.Input)
	}
	return out, err
}

// VerifyReceipt returns a receipt that is signed by one of the keys. It returns
// CodeForbidden for any other receipt.
func (set JWKS) VerifyReceipt(token string) (Receipt, error) { return set.receipt(token) }

// Covers returns CodeForbidden unless the receipt is for a request and, if
// approved is not empty, for that edited input.
func (r Receipt) Covers(req bridge.Request, approved json.RawMessage) error {
	digest, err := DigestAsSent(req.Ask)
	if err != nil {
		return err
	}
	if digest != r.Digest {
		return bridge.Errorf(bridge.CodeForbidden, "the receipt is for another request").WithHint("compare the digests: the receipt is for %s, the request is %s", r.Digest, digest)
	}
	if len(approved) == 0 {
		if r.ApprovedDigest != "" {
			return bridge.Errorf(bridge.CodeForbidden, "the receipt is for an edited input, but the record has none")
		}
		return nil
	}
	if digest, err = DigestAsSent(req.WithInput(approved)); err != nil {
		return err
	}
	if digest != r.ApprovedDigest {
		return bridge.Errorf(bridge.CodeForbidden, "the receipt is for another edited input")
	}
	return nil
}

// Words describes the facts that the receipt proves.
func (r Receipt) Words() string {
	who := "no person"
	if r.Actor != nil {
		who = r.Actor.Display() + " (" + r.Actor.Platform + " " + r.Actor.User + ")"
	}
	s := string(r.State) + " by " + who + r.Assurance.With() + " at " + r.At.UTC().Format(time.RFC3339) + ", request " + string(r.ID) + " of agent " + r.Agent + ", sha256:" + r.Digest
	if r.ApprovedDigest != "" {
		s += ", edited to sha256:" + r.ApprovedDigest
	}
	for _, v := range r.Votes {
		s += ", " + string(v.State) + " by " + v.Actor.Display() + v.Assurance.With()
	}
	return s
}

// receipt parses a receipt, and checks its signature unless the set is nil.
func (set *JWKS) receipt(token string) (Receipt, error) {
	var r Receipt
	raw, err := set.payload(typeReceipt, strings.TrimSpace(token))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, bridge.Wrap(bridge.CodeInvalid, err, "receipt")
	}
	return r, nil
}
