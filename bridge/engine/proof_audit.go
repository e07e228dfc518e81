package engine

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/nodbridge/nod/bridge/proof"

	"github.com/nodbridge/nod/bridge"
)

// Audit implements Auditor.
func (s provenStore) Audit(ctx context.Context, a bridge.AuditEntry) error {
	if err := s.p.ProveEntry(&a); err != nil {
		return err
	}
	return s.Store.Audit(ctx, a)
}

// unsealable says why an entry cannot be sealed after what the last seal
// vouches for. It is empty if the entry can. Entries up to base may be those of
// an earlier version.
func (e *Engine) unsealable(a bridge.AuditEntry, last *proof.Seal, base int64) string {
	if a.N != last.N+1 || a.Link != proof.LinkAfter(a, last.Link) {
		return "was changed, removed or reordered before it was sealed"
	}
	proven := last.Proven || e.prover.Strict() && a.N > base
	ev, why := e.PublicKeys().EntryProblem(a, proven)
	if why != "" && e.prover.Strict() {
		return why
	}
	last.Proven = proven || ev.Good
	return ""
}

// sealHealth holds the reasons why the audit log cannot be sealed, by partition.
type sealHealth struct {
	mu      sync.Mutex
	refused map[int]string
}

// refuseToSeal notes, and logs once, why a partition is no longer sealed.
func (e *Engine) refuseToSeal(partition int, why string) {
	h := &e.sealing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[int]string{}
	}
	if h.refused[partition] != why {
		h.refused[partition] = why
		e.log.Error("AUDIT: the log is no longer sealed", "partition", partition, "why", why)
	}
}

// AuditHealth reports whether the audit log can be sealed, and what was found in
// it if it cannot.
func (e *Engine) AuditHealth() bridge.Health {
	e.sealing.mu.Lock()
	defer e.sealing.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(e.sealing.refused)) {
		return bridge.Health{State: bridge.HealthDown, Reason: "the audit log is no longer sealed: partition " + strconv.Itoa(p) + ", " + e.sealing.refused[p]}
	}
	return bridge.Health{State: bridge.HealthUp}
}

// AuditRefusals counts the partitions of the audit log that are no longer
// sealed because of what was found in them.
func (e *Engine) AuditRefusals() int64 {
	e.sealing.mu.Lock()
	defer e.sealing.mu.Unlock()
	return int64(len(e.sealing.refused))
}
