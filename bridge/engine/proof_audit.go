package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// Audit implements AuditLog. It adds the proof of the entry.
func (s provenAudit) Audit(ctx context.Context, a bridge.AuditEntry) error {
	if err := s.p.ProveEntry(&a); err != nil {
		return err
	}
	return s.AuditLog.Audit(ctx, a)
}
