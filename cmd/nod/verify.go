package main

import (
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

// covered refuses answers that are not about exactly what a message asked.
// What was approved instead, the agent reads from the answer.
func covered(t dialect.Translation, tokens []string) error {
	if len(tokens) != len(t.Exchanges) {
		return mistrust(bridge.Errorf(bridge.CodeForbidden, "%d receipts for %d requests", len(tokens), len(t.Exchanges)))
	}
	for n, x := range t.Exchanges {
		receipt, err := receiptOf(tokens[n])
		if err == nil {
			receipt.ApprovedDigest = ""
			err = receipt.Covers(x.Request, nil)
		}
		if err != nil {
			return mistrust(err)
		}
	}
	return nil
}
