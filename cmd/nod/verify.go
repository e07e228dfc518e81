package main

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// keysEnv names the file of public keys that receipts have to be signed with.
const keysEnv = "NOD_RECEIPT_KEYS"

// readKeys reads a set of public keys.
func readKeys(path string) (bridge.JWKS, error) {
	var keys bridge.JWKS
	raw, err := os.ReadFile(path)
	if err != nil {
		return keys, bridge.Wrap(bridge.CodeInvalid, err, "public keys")
	}
	if err := json.Unmarshal(raw, &keys); err != nil || len(keys.Keys) == 0 {
		return keys, bridge.Errorf(bridge.CodeInvalid, "%s: is no set of public keys", path).WithHint("write it with: nod receipt keys > %s", path)
	}
	return keys, nil
}

// receiptOf reads a receipt: one that is signed with a key of the file that
// NOD_RECEIPT_KEYS names, where it names one.
func receiptOf(token string) (bridge.Receipt, error) {
	path := os.Getenv(keysEnv)
	if path == "" {
		return bridge.ReadReceipt(token)
	}
	keys, err := readKeys(path)
	if err != nil {
		return bridge.Receipt{}, err
	}
	return keys.VerifyReceipt(token)
}

// verified refuses a decision that is not about exactly what was asked, before
// anything is done because of it.
func verified(rec bridge.Record, r bridge.Request) error {
	if !rec.State.Final() {
		return nil
	}
	receipt, err := receiptOf(rec.Receipt)
	if err == nil {
		err = receipt.Covers(r, approvedInput(rec))
	}
	if err == nil && (receipt.ID != rec.Interaction.ID || receipt.State != rec.State) {
		err = bridge.Errorf(bridge.CodeForbidden, "the receipt is for another decision than the one that came back")
	}
	if err != nil {
		return mistrust(err)
	}
	return nil
}

func mistrust(err error) error {
	return bridge.Wrap(bridge.CodeForbidden, err, "the answer can not be trusted, so nothing is done")
}

// approvedInput is what a person approved instead; nil: what was asked for.
func approvedInput(rec bridge.Record) json.RawMessage {
	if rec.Response == nil {
		return nil
	}
	return rec.Response.Input
}

// covered refuses an answer that is not about exactly what a message asked, or
// that says something else than its receipt.
func covered(t dialect.Translation, answer []byte, tokens []string) error {
	if len(tokens) != len(t.Exchanges) {
		return mistrust(bridge.Errorf(bridge.CodeForbidden, "%d receipts for %d requests", len(tokens), len(t.Exchanges)))
	}
	got, err := bridge.Canonical(answer)
	switch {
	case err != nil:
		return mistrust(err)
	case len(t.Exchanges) == 0:
		return mistrustUnless(isAnswer(t.Answer, got))
	case len(t.Exchanges) > 1:
		return mistrust(bridge.Errorf(bridge.CodeInternal, "an answer to %d requests", len(t.Exchanges)))
	}
	x := t.Exchanges[0]
	receipt, err := receiptOf(tokens[0])
	if err != nil {
		return mistrust(err)
	}
	original := receipt
	original.ApprovedDigest = ""
	if err := original.Covers(x.Request, nil); err != nil {
		return mistrust(err)
	}
	return mistrustUnless(agrees(x, receipt, got))
}

// agrees reports whether an answer is the one that a dialect writes for a
// receipt. Of an answered question, the receipt proves only that a person
// answered.
func agrees(x dialect.Exchange, receipt bridge.Receipt, answer []byte) bool {
	if receipt.State == bridge.StateAnswered {
		return x.Request.Kind == bridge.KindAsk
	}
	var input json.RawMessage
	if receipt.ApprovedDigest != "" {
		if input = changedInput(answer); receipt.Covers(x.Request, input) != nil {
			return false
		}
	}
	for _, stop := range []bool{false, true} { // a receipt does not say it
		rec := bridge.Record{
			Interaction: bridge.Interaction{ID: receipt.ID, Kind: receipt.Kind, Approval: x.Request.Approval, Questions: x.Request.Questions},
			State:       receipt.State,
			Response: &bridge.Response{
				State: receipt.State, Scope: receipt.Scope, Reason: receipt.Reason, Actor: receipt.Actor, Rule: receipt.Rule, Input: input, Stop: stop,
			},
		}
		if want, err := x.Answer(rec); err == nil && isAnswer(want, answer) {
			return true
		}
	}
	return false
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
	canonical, err := bridge.Canonical(raw)
	return err == nil && bytes.Equal(canonical, answer)
}

// mistrustUnless returns an error unless an answer agrees with its receipt.
func mistrustUnless(ok bool) error {
	if ok {
		return nil
	}
	return mistrust(bridge.Errorf(bridge.CodeForbidden, "the answer says something else than its receipt"))
}
