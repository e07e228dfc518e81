package proof

import (
	"github.com/nodbridge/nod/bridge"
)

// approvals returns the approvals of a receipt that a person may have signed:
// each approving vote, or the decision itself if there are no votes.
func (r Receipt) approvals() []bridge.Vote {
	var out []bridge.Vote
	signed := false
	for _, v := range r.Votes {
		if v.State == bridge.StateApproved {
			out, signed = append(out, v), signed || v.Assertion != nil
		}
	}
	if signed && r.Assertion == nil {
		return out
	}
	v := bridge.Vote{State: r.State, Scope: r.Scope, At: r.At, Assurance: r.Assurance, Assertion: r.Assertion}
	if r.Actor != nil {
		v.Actor = *r.Actor
	}
	return append(out, v)
}

// checkSigned returns CodeForbidden if a person signed a decision that differs
// from the receipt, or if a required signature is missing. It does not verify
// the signatures.
func (r Receipt) checkSigned() error {
	i := bridge.Interaction{ID: r.ID, Digest: r.Digest, Content: r.Content}
	for _, v := range r.approvals() {
		switch a := v.Assertion; {
		case a == nil && v.Assurance == bridge.AssurancePasskey:
			return bridge.Errorf(bridge.CodeForbidden, "assertion: missing, although the receipt states that a passkey signed")
		case a == nil:
		case v.Actor.Person == "" || v.Assurance != bridge.AssurancePasskey:
			return bridge.Errorf(bridge.CodeForbidden, "assertion: not expected, because the receipt does not state that a passkey of a person signed")
		default:
			wanted := i.StatementOf(bridge.Response{State: r.State, Scope: v.Scope, ApprovedDigest: r.ApprovedDigest}, v.Actor.Person)
			if field := a.Statement.Differs(wanted, v.At); field != "" {
				return bridge.Errorf(bridge.CodeForbidden, "assertion: %s signed another %s", v.Actor.Person, field)
			}
		}
	}
	return nil
}

// SignedBy verifies the signatures of a receipt, and returns the names of the
// people whose own keys signed its decision. It returns CodeForbidden for a
// signature that does not verify or that is about another decision, and if a
// required signature is missing. It returns CodeInvalid if the set has no keys
// of people.
func (set JWKS) SignedBy(r Receipt) ([]string, error) {
	if err := r.checkSigned(); err != nil {
		return nil, err
	}
	var out []string
	for _, v := range r.approvals() {
		switch {
		case v.Assertion == nil:
			continue
		case set.Passkeys == nil:
			return nil, bridge.Errorf(bridge.CodeInvalid, "keys: the file has no keys of people").
				WithHint("create it again with a token: nod receipt keys > keys.json")
		}
		if err := set.Passkeys.VerifyAt(*v.Assertion, v.At); err != nil {
			return nil, err
		}
		out = append(out, v.Actor.Person)
	}
	return out, nil
}
