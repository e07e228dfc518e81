package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// Audit implements AuditLog.
func (s provenAudit) Audit(ctx context.Context, a bridge.AuditEntry) error {
	if err := s.p.ProveEntry(&a); err != nil {
		return err
	}
	return s.AuditLog.Audit(ctx, a)
}
