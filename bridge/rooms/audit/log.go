package audit

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
func (au *Log) Newest(ctx context.Context, before string, limit int) ([]bridge.AuditEntry, string, error) {
	return au.store.AuditNewest(ctx, before, limit)
}

// Verify checks the log with the keys of the signer, which also signs it. To
// detect that the keys were replaced, verify an export with a copy of the keys.
func (au *Log) Verify(ctx context.Context) (proof.AuditReport, error) {
	r, w := io.Pipe()
	go func() { w.CloseWithError(au.Export(ctx, w)) }()
	defer r.Close() // ends Export if the log cannot be parsed
	return proof.VerifyAudit(r, au.PublicKeys())
}

// Export writes the audit log as JSON lines, with the seals after the entries.
// It reads the seals first, and then the counts, so that neither covers more
// entries than it writes. For the events after the last seal, it writes only
// their IDs, which the counts require. It may omit entries that are added
// during the export.
func (au *Log) Export(ctx context.Context, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	seals, err := au.store.Seals(ctx)
	if err != nil {
		return err
	}
	counts, err := au.store.AuditCounts(ctx)
	if err == nil && counts.Last != "" {
		err = enc.Encode(proof.CountsLine(counts))
	}
	if err != nil {
		return err
	}
	sealed := ""
	if len(seals) > 0 {
		last, err := au.PublicKeys().VerifySeal(seals[len(seals)-1])
		// A verifier may lack the key of another seal, and then count other
		// events after the last seal.
		if err == nil {
			sealed = last.Entry
		}
	}
	for after, more := "", true; more; {
		entries, err := au.store.AuditEntries(ctx, after, auditPage)
		if err != nil {
			return err
		}
		for _, a := range entries {
			after = a.Entry
			if a.Type == bridge.AuditEvent && bridge.CompareEntries(a.Entry, sealed) <= 0 {
				continue
			}
			if err := enc.Encode(proof.EntryLine(a)); err != nil {
				return err
			}
		}
		more = len(entries) == auditPage
	}
	for _, s := range seals {
		line := proof.AuditLine{AuditEntry: bridge.AuditEntry{Type: "seal"}, Seal: s}
		if seal, err := au.PublicKeys().VerifySeal(s); err == nil { // otherwise, a verifier may have the key
			line.Entry, line.Timestamp = seal.Entry, seal.At.UnixMilli()
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
