package rig

import (
	"bytes"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/config"
)

// Auditor is a config change that lets ana read the audit log.
func Auditor(c *config.Config) {
	ana := c.People["ana"]
	ana.Auditor = true
	c.People["ana"] = ana
}

// Receipt returns the receipt of a record, and the keys that verified it.
func (r *Rig) Receipt(rec bridge.Record) (proof.JWKS, proof.Receipt) {
	r.T.Helper()
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil {
		r.T.Fatal(err)
	}
	receipt, err := keys.VerifyReceipt(rec.Receipt)
	if err != nil {
		r.T.Fatal(err)
	}
	return keys, receipt
}

// Exported returns the audit log.
func Exported(r *Rig) []byte {
	r.T.Helper()
	var b bytes.Buffer
	if err := r.Person.Audit(r.Ctx, &b); err != nil {
		r.T.Fatal(err)
	}
	return b.Bytes()
}
