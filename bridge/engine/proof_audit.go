package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// Audit implements Auditor.
func (s provenStore) Audit(ctx context.Context, a bridge.AuditEntry) error {
	if err := s.p.ProveEntry(&a); err != nil {
		return err
	}
	return s.Store.Audit(ctx, a)
}
