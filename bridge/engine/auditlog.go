package engine

import (
	"context"
	"encoding/json"
	"io"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// auditPage is how many entries are read at once.
const auditPage = 500

// ExportAudit writes the audit log as JSON lines, partition by partition, its
// seals after its entries. What is written meanwhile may be left out.
func (e *Engine) ExportAudit(ctx context.Context, w io.Writer) error {
	logs, err := e.store.Audits(ctx)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for p := range logs {
		// The seals come first, so that none vouches for more than is written.
		seals, err := e.store.Seals(ctx, p)
		if err != nil {
			return err
		}
		cursor := ""
		for {
			entries, err := e.store.AuditEntries(ctx, p, cursor, auditPage)
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
			seal, err := e.PublicKeys().VerifySeal(s)
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
