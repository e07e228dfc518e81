package engine

import (
	"context"
	"encoding/json"
	"io"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// auditPage is how many entries are read at once.
const auditPage = 500

// Export writes the audit log as JSON lines, partition by partition, its
// seals after its entries. What is written meanwhile may be left out.
func (au *Audit) Export(ctx context.Context, w io.Writer) error {
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for p := range logs {
		// The seals come first, so that none vouches for more than is written.
		seals, err := au.store.Seals(ctx, p)
		if err != nil {
			return err
		}
		cursor := ""
		for {
			entries, err := au.store.AuditEntries(ctx, p, cursor, auditPage)
			if err != nil {
				return err
			}
			for _, a := range entries {
				cursor = a.Cursor
				if err := enc.Encode(proof.AuditLine{AuditEntry: a}); err != nil {
					return err
				}
			}
			if len(entries) < auditPage {
				break
			}
		}
		for _, s := range seals {
			seal, err := au.PublicKeys().VerifySeal(s)
			line := proof.AuditLine{AuditEntry: bridge.AuditEntry{Partition: p, Type: "seal", N: seal.N, Timestamp: seal.At.UnixMilli(), Link: seal.Link}, Seal: s}
			if err != nil {
				line.N, line.Timestamp = 0, 0 // by a key that is gone; whoever has it can still check
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}
