package main

import (
	"encoding/json"
	"os"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
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

// trustedKeys are the public keys of the file that NOD_RECEIPT_KEYS names; nil
// if it names none.
func trustedKeys() (*bridge.JWKS, error) {
	path := os.Getenv(keysEnv)
	if path == "" {
		return nil, nil //nolint:nilnil // as the comment says
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
	return bridge.Wrap(bridge.CodeForbidden, err, "the answer can not be trusted, so nothing is done")
}

// covered refuses an answer in another format that is not exactly about what
// its message asked, or that is not as the daemon sent it. What was approved
// instead, the agent reads from the answer.
func covered(t dialect.Translation, a client.Answered) error {
	if len(a.Receipts) != len(t.Exchanges) {
		return mistrust(bridge.Errorf(bridge.CodeForbidden, "%d receipts for %d requests", len(a.Receipts), len(t.Exchanges)))
	}
	if len(t.Exchanges) == 0 {
		return nil
	}
	keys, err := trustedKeys()
	if err != nil {
		return mistrust(err)
	}
	ends, err := keys.VerifyEnds(a.Statement, a.Body)
	if err == nil && len(ends) != len(t.Exchanges) {
		err = bridge.Errorf(bridge.CodeForbidden, "%d ends for %d requests", len(ends), len(t.Exchanges))
	}
	for n := 0; err == nil && n < len(ends); n++ {
		err = keys.CoversEnd(ends[n], t.Exchanges[n].Request, a.Receipts[n])
	}
	if err != nil {
		return mistrust(err)
	}
	return nil
}
