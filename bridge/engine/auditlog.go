package engine

import (
	"context"
	"encoding/json"
	"io"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// auditPage is the number of entries per read.
const auditPage = 500

// Newest returns up to limit entries before a cursor, newest first, and the
// cursor of the next page. The cursor is empty after the last page.
func (au *Audit) Newest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	return au.store.AuditNewest(ctx, before, limit)
}

// Verify checks the log with the keys of the signer, which also signs it. To
// detect that the keys were replaced, verify an export with a copy of the keys.
func (au *Audit) Verify(ctx context.Context) (proof.AuditReport, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(au.Export(ctx, w)) }()
	defer r.Close() // ends Export if the log cannot be parsed
	return proof.VerifyAudit(r, au.PublicKeys())
}

// Export writes the audit log as JSON lines, one partition after another, with
// the seals of a partition after its entries. Entries added during the export
// may be left out.
func (au *Audit) Export(ctx context.Context, w io.Writer) error {
	logs, err := au.store.Audits(ctx)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for p := range logs {
		// Reading the seals first ensures that none covers more entries
		// than are written.
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
				line.N, line.Timestamp = 0, 0 // sealed by a key that no longer exists here, which a verifier may have
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}
