package proof

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// digestOf returns the hex SHA-256 of the canonical form of a value.
func digestOf(v any) (string, error) {
	raw, err := bridge.EncodeJSON(v)
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "digest")
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return "", err
	}
	return hashOf(canonical), nil
}

// Digest returns the request digest of a normalized request; see
// [bridge.Ask.Normalize]. A decision is bound to this digest. It is the hex
// SHA-256 of the canonical form (RFC 8785) of the values that
// [bridge.Ask.Covered] returns. The daemon computes the same digest from the
// request that it received. An agent compares both before it acts. The digest
// of an input that a person edited is that of [bridge.Ask.WithInput].
func Digest(r bridge.Ask) (string, error) { return digestOf(r.Covered()) }

// DigestAsSent normalizes a request as the agent sent it, and returns its
// Digest.
func DigestAsSent(r bridge.Ask) (string, error) {
	if err := r.Normalize(); err != nil {
		return "", err
	}
	return Digest(r)
}

// GrantKey returns the key of a grant for exactly the approval that the agent
// sent. Two approvals have the same key only if people see the same in both. The
// tool's own name for the approval does not affect it. It is not the digest of a
// decision.
func GrantKey(i bridge.Interaction) (string, error) {
	a := *i.Approval
	a.Key = ""
	i.Approval = &a
	return digestOf(map[string]any{"agent": i.Agent, "request": i.Covered()})
}

// CallDigest returns a digest of the exact request that the agent sent. No
// decision is bound to it. Unlike Digest, it distinguishes a repeat with the
// same idempotency key from another request, so it also covers values that do
// not affect the decision, such as the timeout. It does not depend on the
// config, the trace or the time. For a follow-up, previous is the interaction
// of the previous round.
func CallDigest(r bridge.Ask, previous bridge.ID) (string, error) {
	raw, err := json.Marshal(struct {
		Previous bridge.ID
		Request  bridge.Ask
	}{previous, r})
	if err != nil {
		return "", bridge.Errorf(bridge.CodeInvalid, "the request cannot be encoded as JSON")
	}
	return hashOf(raw), nil
}

// typedDigest returns the digest of what a person typed, which may contain numbers
// that the canonical form would round. In that case, the digest covers their
// digits.
func typedDigest(v any) (string, error) {
	d, err := digestOf(v)
	if bridge.ErrorCode(err) != bridge.CodeInvalid {
		return d, err
	}
	raw, err := json.Marshal(v)
	if err == nil {
		raw, err = strictjson.Sorted(raw)
	}
	if err != nil {
		return "", bridge.Wrap(bridge.CodeInternal, err, "digest")
	}
	return digestOf(string(raw))
}
