package caller

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config/files"
)

// KeysEnv is the variable with the path of the public keys for receipts.
const KeysEnv = "NOD_RECEIPT_KEYS"

// ReadKeys reads a set of public keys.
func ReadKeys(path string) (proof.JWKS, error) {
	var keys proof.JWKS
	if path == "" {
		return keys, bridge.Errorf(bridge.CodeInvalid, "--keys: required").WithHint("create the file with: nod receipt keys > keys.json")
	}
	raw, err := files.Read(path, MaxInput)
	if err != nil {
		return keys, bridge.Wrap(bridge.CodeInvalid, err, "public keys")
	}
	if err := json.Unmarshal(raw, &keys); err != nil || len(keys.Keys) == 0 {
		return keys, bridge.Errorf(bridge.CodeInvalid, "%s: not a JSON Web Key Set", path).WithHint("create it with: nod receipt keys > %s", path)
	}
	return keys, nil
}

// trustedKeys returns the public keys from the file in NOD_RECEIPT_KEYS, or nil
// if the variable is not set.
func trustedKeys() (*proof.JWKS, error) {
	path, set := os.LookupEnv(KeysEnv)
	if !set {
		return nil, nil //nolint:nilnil // documented above
	}
	if path == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "%s is set but empty", KeysEnv).WithHint("set it to a file of public keys, or unset it")
	}
	keys, err := ReadKeys(path)
	return &keys, err
}

// Verified returns an error unless a decision covers exactly the request.
// Callers must not act on the decision after an error.
func Verified(rec bridge.Record, r bridge.Request) error {
	if !rec.State.Final() || !rec.State.Decided() {
		return nil // such a response is never an approval
	}
	keys, err := trustedKeys()
	if err == nil {
		err = keys.VerifyAnswer(rec, r)
	}
	if err != nil {
		return Mistrust(err)
	}
	return nil
}

func Mistrust(err error) error {
	return bridge.Wrap(bridge.CodeForbidden, err, "cannot verify the receipt of this answer; ignoring the answer")
}

// Covered returns an error unless an answer in another format is exactly the
// one that the daemon sent, and covers exactly the request in the message. An
// approved edit of the input is part of the answer.
func Covered(t dialect.Translation, a client.Answered) error {
	if len(a.Receipts) != len(t.Exchanges) {
		return Mistrust(bridge.Errorf(bridge.CodeForbidden, "expected one receipt for each request, got %d for %d", len(a.Receipts), len(t.Exchanges)))
	}
	got, err := proof.Canonical(a.Body)
	switch {
	case err != nil:
		return Mistrust(err)
	case len(t.Exchanges) == 0:
		return mistrustUnless(isAnswer(t.Answer, got))
	case len(t.Exchanges) > 1:
		return Mistrust(bridge.Errorf(bridge.CodeInternal, "got one answer to %d requests", len(t.Exchanges)))
	}
	x := t.Exchanges[0]
	receipt, err := signedEnd(x.Request, a)
	if err != nil {
		return Mistrust(err)
	}
	return mistrustUnless(agrees(x, receipt, got))
}

// signedEnd returns the final state of the request behind an answer, as signed
// by the daemon.
func signedEnd(req bridge.Request, a client.Answered) (proof.Receipt, error) {
	keys, err := trustedKeys()
	if err != nil {
		return proof.Receipt{}, err
	}
	ends, err := keys.VerifyEnds(a.Statement, a.Body)
	switch {
	case err != nil:
		return proof.Receipt{}, err
	case len(ends) != 1:
		return proof.Receipt{}, bridge.Errorf(bridge.CodeForbidden, "%d final states for one request", len(ends))
	}
	return keys.CoversEnd(ends[0], req, a.Receipts[0])
}

// agrees reports whether a dialect writes this answer for a receipt. For a
// question, the receipt proves only that a person answered.
func agrees(x dialect.Exchange, receipt proof.Receipt, answer []byte) bool {
	if receipt.State == bridge.StateAnswered {
		return x.Request.Kind == bridge.KindAsk
	}
	var input json.RawMessage
	if receipt.ApprovedDigest != "" {
		if input = changedInput(answer); receipt.Covers(x.Request, input) != nil {
			return false
		}
	}
	rec := bridge.Record{
		Interaction: bridge.Interaction{
			ID:  receipt.ID,
			Ask: bridge.Ask{Kind: receipt.Kind, Approval: x.Request.Approval, Questions: x.Request.Questions},
		},
		State: receipt.State,
		Response: &bridge.Response{
			State: receipt.State, Scope: receipt.Scope, Reason: receipt.Reason, Actor: receipt.Actor, Rule: receipt.Policy, Input: input, Stop: receipt.Stop,
		},
	}
	want, err := x.Answer(rec)
	return err == nil && isAnswer(want, answer)
}

// changedInput returns the input that the answer to a hook sets, if any.
func changedInput(answer []byte) json.RawMessage {
	var out struct {
		Specific struct {
			Input    json.RawMessage `json:"updatedInput"`
			Decision struct {
				Input json.RawMessage `json:"updatedInput"`
			} `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	if dialect.Decode("answer", answer, &out) != nil {
		return nil
	}
	if len(out.Specific.Input) > 0 {
		return out.Specific.Input
	}
	return out.Specific.Decision.Input
}

// isAnswer reports whether an answer is the expected one.
func isAnswer(want any, answer []byte) bool {
	raw, err := dialect.Encode(want)
	if err != nil {
		return false
	}
	canonical, err := proof.Canonical(raw)
	return err == nil && bytes.Equal(canonical, answer)
}

// mistrustUnless returns an error unless ok is true, which means that an answer
// agrees with its receipt.
func mistrustUnless(ok bool) error {
	if ok {
		return nil
	}
	return Mistrust(bridge.Errorf(bridge.CodeForbidden, "the answer does not match its receipt"))
}
