package proof

import (
	"github.com/nodbridge/nod/bridge"
)

// SignedBy returns the names of the people whose own keys signed the decision
// of a receipt, after it has verified each signature. It returns CodeForbidden
// for a signature that does not verify or that is about another decision, and
// if a signature that the receipt promises is missing. It returns CodeInvalid
// if the set has no keys of people.
func (set JWKS) SignedBy(r Receipt) ([]string, error) {
	var out []string
	check := func(who *bridge.Actor, assurance bridge.Assurance, a *bridge.Assertion, scope bridge.Scope) error {
		switch {
		case a == nil && assurance == bridge.AssurancePasskey:
			return bridge.Errorf(bridge.CodeForbidden, "assertion: missing, although the receipt promises a passkey")
		case a == nil:
			return nil
		case who == nil || who.Person == "" || assurance != bridge.AssurancePasskey:
			return bridge.Errorf(bridge.CodeForbidden, "assertion: the receipt promises no passkey of a person")
		case set.Passkeys == nil:
			return bridge.Errorf(bridge.CodeInvalid, "keys: the file has no keys of people").
				WithHint("create it again with a token: nod receipt keys > keys.json")
		}
		if err := set.signedFor(r, *a, who.Person, scope); err != nil {
			return err
		}
		out = append(out, who.Person)
		return nil
	}
	byVotes := false
	for _, v := range r.Votes {
		if v.State != bridge.StateApproved {
			continue
		}
		byVotes = byVotes || v.Assertion != nil
		if err := check(&v.Actor, v.Assurance, v.Assertion, v.Scope); err != nil {
			return nil, err
		}
	}
	if byVotes && r.Assertion == nil {
		return out, nil
	}
	if err := check(r.Actor, r.Assurance, r.Assertion, r.Scope); err != nil {
		return nil, err
	}
	return out, nil
}

// signedFor verifies that a person signed exactly the decision of a receipt.
func (set JWKS) signedFor(r Receipt, a bridge.Assertion, person string, scope bridge.Scope) error {
	payload := r.Digest
	if r.ApprovedDigest != "" {
		payload = r.ApprovedDigest
	}
	for _, f := range []struct{ name, signed, want string }{
		{"request", a.Statement.Request, string(r.ID)},
		{"payload", a.Statement.Payload, payload},
		{"decision", a.Statement.Decision, string(r.State)},
		{"scope", a.Statement.Scope, string(scope)},
		{"person", a.Statement.Person, person},
	} {
		if f.signed != f.want {
			return bridge.Errorf(bridge.CodeForbidden, "assertion: %s signed another %s", person, f.name)
		}
	}
	return set.Passkeys.VerifyAt(a, r.At)
}
