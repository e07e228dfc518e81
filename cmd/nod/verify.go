package main

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/proof"
)

// keysEnv names the file of public keys that receipts have to be signed with.
const keysEnv = "NOD_RECEIPT_KEYS"

// readKeys reads a set of public keys.
func readKeys(path string) (proof.JWKS, error) {
	var keys proof.JWKS
	raw, err := os.ReadFile(path)
	if err != nil {
		return keys, bridge.Wrap(bridge.CodeInvalid, err, "public keys")
	}
	if err := json.Unmarshal(raw, &keys); err != nil || len(keys.Keys) == 0 {
		return keys, bridge.Errorf(bridge.CodeInvalid, "%s: is not a set of public keys", path).WithHint("write it with: nod receipt keys > %s", path)
	}
	return keys, nil
}

// trustedKeys are the public keys of the file that NOD_RECEIPT_KEYS names; nil
// if it is not set.
func trustedKeys() (*proof.JWKS, error) {
	path, set := os.LookupEnv(keysEnv)
	if !set {
		return nil, nil //nolint:nilnil // as the comment says
	}
	if path == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "%s is set, but empty", keysEnv).WithHint("name a file of public keys, or unset the variable")
	}
	keys, err := readKeys(path)
	return &keys, err
}

// verified refuses a decision that is not about exactly what was asked, before
// anything is done because of it.
func verified(rec bridge.Record, r bridge.Request) error {
	if !rec.State.Final() || !rec.State.Decided() {
		return nil // no one can act on it as on a yes
	}
	keys, err := trustedKeys()
	if err == nil {
		err = keys.VerifyAnswer(rec, r)
	}
	if err != nil {
		return mistrust(err)
	}
	return nil
}

func mistrust(err error) error {
	return bridge.Wrap(bridge.CodeForbidden, err, "the answer cannot be trusted, so nothing is done")
}

// covered refuses an answer in another format that is not exactly about what
// its message asked, or that is not as the daemon sent it. What was approved
// instead, the agent reads from the answer.
func covered(t dialect.Translation, a client.Answered) error {
	if len(a.Receipts) != len(t.Exchanges) {
		return mistrust(bridge.Errorf(bridge.CodeForbidden, "%d receipts for %d requests", len(a.Receipts), len(t.Exchanges)))
	}
	got, err := proof.Canonical(a.Body)
	switch {
	case err != nil:
		return mistrust(err)
	case len(t.Exchanges) == 0:
		return mistrustUnless(isAnswer(t.Answer, got))
	case len(t.Exchanges) > 1:
		return mistrust(bridge.Errorf(bridge.CodeInternal, "an answer to %d requests", len(t.Exchanges)))
	}
	x := t.Exchanges[0]
	receipt, err := signedEnd(x.Request, a)
	if err != nil {
		return mistrust(err)
	}
	return mistrustUnless(agrees(x, receipt, got))
}

// signedEnd returns how the request of an answer ended, as the daemon signed
// it.
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
		return proof.Receipt{}, bridge.Errorf(bridge.CodeForbidden, "%d ends for one request", len(ends))
	}
	return keys.CoversEnd(ends[0], req, a.Receipts[0])
}

// agrees reports whether an answer is the one that a dialect writes for a
// receipt. Of an answered question, the receipt proves only that a person
// answered.
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
			State: receipt.State, Scope: receipt.Scope, Reason: receipt.Reason, Actor: receipt.Actor, Rule: receipt.Rule, Input: input, Stop: receipt.Stop,
		},
	}
	want, err := x.Answer(rec)
	return err == nil && isAnswer(want, answer)
}

// changedInput is the input that a hook's answer sets. No other format has one.
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

// mistrustUnless returns an error unless an answer agrees with its receipt.
func mistrustUnless(ok bool) error {
	if ok {
		return nil
	}
	return mistrust(bridge.Errorf(bridge.CodeForbidden, "the answer says something else than its receipt"))
}
