package proof

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// Receipt proves a decision to whoever has the public key, without nod. It is
// the payload of a JSON Web Signature (RFC 7515) with Ed25519 (RFC 8037).
type Receipt struct {
	ID      bridge.ID   `json:"id"`
	Kind    bridge.Kind `json:"kind"`
	Agent   string      `json:"agent"`
	Session string      `json:"session,omitempty"`
	Route   string      `json:"route,omitempty"`
	// Digest is that of the request; see [Digest].
	Digest string       `json:"digest"`
	State  bridge.State `json:"state"`
	Scope  bridge.Scope `json:"scope,omitempty"`
	// ApprovedDigest is the digest of what was approved instead, where a
	// person changed it.
	ApprovedDigest string `json:"approved_digest,omitempty"`
	// Answers is the hex SHA-256 over the canonical form of the answers.
	Answers string `json:"answers,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Actor is who decided, with the account that the platform vouched for;
	// nil where no human did.
	Actor *bridge.Actor `json:"actor,omitempty"`
	Votes []bridge.Vote `json:"votes,omitempty"`
	At    time.Time     `json:"at"`
	Rule  string        `json:"rule,omitempty"`
	Risk  string        `json:"risk,omitempty"`
	// Message is the one that was pressed.
	Message *bridge.MessageRef `json:"message,omitempty"`
	// Audit names the entry of the audit log; only in receipts of earlier
	// versions. The entry of a later one holds the receipt.
	Audit *bridge.AuditRef `json:"audit,omitempty"`
	// Content is the hex SHA-256 over the interaction as it was stored: all
	// but who else was asked in the meantime, and for how long.
	Content string `json:"content,omitempty"`
	// Annotations and Input are digests as Answers is: of what came with the
	// answers, and of the input that was approved instead.
	Annotations string `json:"annotations,omitempty"`
	Input       string `json:"input,omitempty"`
	// Quorum is how many people had to approve, Permits what a standing
	// approval permits, Grant the request in which the one that covers this
	// was given, Policy the rule that decided without a human.
	Quorum  int       `json:"quorum,omitempty"`
	Permits []string  `json:"covers,omitempty"`
	Grant   bridge.ID `json:"grant,omitempty"`
	Policy  string    `json:"policy,omitempty"`
	Stop    bool      `json:"stop,omitempty"` // the agent's turn was to end
}

// receiptOf returns the claims about a response to an interaction, whose
// content is given.
func receiptOf(i bridge.Interaction, content []byte, resp bridge.Response, votes []bridge.Vote) (Receipt, error) {
	out := Receipt{
		ID: i.ID, Kind: i.Kind, Agent: i.Agent, Session: i.Session, Route: i.Route, Digest: i.Digest, State: resp.State, Scope: resp.Scope,
		ApprovedDigest: resp.ApprovedDigest, Reason: resp.Reason, Actor: resp.Actor, At: resp.At, Rule: i.Rule, Risk: i.Risk,
		Message: resp.Message, Content: contentHash(content), Permits: resp.Covers, Grant: resp.Grant, Stop: resp.Stop, Quorum: i.Quorum, Policy: resp.Rule,
	}
	if i.ByVotes(resp) {
		out.Votes = votes
	}
	var err error
	if len(resp.Answers) > 0 {
		if out.Answers, err = looseDigest(resp.Answers); err != nil {
			return out, err
		}
	}
	if len(resp.Annotations) > 0 {
		if out.Annotations, err = looseDigest(resp.Annotations); err != nil {
			return out, err
		}
	}
	if len(resp.Input) > 0 {
		out.Input, err = looseDigest(resp.Input)
	}
	return out, err
}

// VerifyReceipt reads a receipt whose signature is by one of the keys;
// CodeForbidden for any other.
func (set JWKS) VerifyReceipt(token string) (Receipt, error) { return set.receipt(token) }

// Covers reports, as an error, why the receipt is none for a request, or for
// the input that was approved instead; nil: it is.
func (r Receipt) Covers(req bridge.Request, approved json.RawMessage) error {
	digest, err := Digest(req.Ask)
	if err != nil {
		return err
	}
	if digest != r.Digest {
		return bridge.Errorf(bridge.CodeForbidden, "the receipt is for another request").WithHint("it is for %s, the request is %s", r.Digest, digest)
	}
	if len(approved) == 0 {
		if r.ApprovedDigest != "" {
			return bridge.Errorf(bridge.CodeForbidden, "the receipt is for a changed input, and the request was not changed")
		}
		return nil
	}
	if digest, err = Digest(req.WithInput(approved)); err != nil {
		return err
	}
	if digest != r.ApprovedDigest {
		return bridge.Errorf(bridge.CodeForbidden, "the receipt is for another input than the one that came back")
	}
	return nil
}

// Words say what the receipt proves.
func (r Receipt) Words() string {
	who := "nobody"
	if r.Actor != nil {
		who = r.Actor.Display() + " (" + r.Actor.Platform + " " + r.Actor.User + ")"
	}
	s := string(r.State) + " by " + who + " at " + r.At.UTC().Format(time.RFC3339) + ", request " + string(r.ID) + " of agent " + r.Agent + ", sha256:" + r.Digest
	if r.ApprovedDigest != "" {
		s += ", changed to sha256:" + r.ApprovedDigest
	}
	for _, v := range r.Votes {
		s += ", " + string(v.State) + " by " + v.Actor.Display()
	}
	return s
}

// receipt reads a receipt, and checks its signature unless the set is nil.
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
