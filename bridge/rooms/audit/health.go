package audit

import (
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// unsealedFor is the time after which the daemon counts as down because it
// cannot seal the audit log. It is longer than a failover of Redis.
const unsealedFor = time.Minute

// sealHealth holds the reasons that the audit log is not sealed or not
// archived.
type sealHealth struct {
	mu      sync.Mutex
	refused string    // evidence of tampering with the log; empty if there is none
	failed  error     // error of the last attempt
	since   time.Time // time when attempts started to fail
	stuck   string    // reason that entries cannot be archived; empty if they can
}

// tried records the result of an attempt to seal the log.
func (h *sealHealth) tried(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && h.failed == nil {
		h.since = time.Now()
	}
	h.failed = err
}

// archived records the result of an attempt to archive the log. It ignores errors
// that are not about the log itself, because they are temporary.
func (h *sealHealth) archived(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err == nil:
		h.stuck = ""
	case bridge.ErrorCode(err) == bridge.CodeConflict:
		h.stuck = err.Error()
	}
}

// reason returns the reason that the log is no longer sealed, or "".
func (h *sealHealth) reason() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused != "" || h.failed == nil || time.Since(h.since) < unsealedFor {
		return h.refused
	}
	return "not since " + h.since.UTC().Format(time.RFC3339) + ": " + h.failed.Error()
}

// refuseToSeal records and logs, once, the reason that the log is no longer
// sealed.
func (au *Log) refuseToSeal(why string) {
	h := &au.sealing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused != why {
		h.refused = why
		au.log.Error("audit log no longer sealed", "why", why)
	}
}

// Health returns whether the audit log can be sealed and archived, and the reason if it
// cannot.
func (au *Log) Health() bridge.Health {
	if why := au.sealing.reason(); why != "" {
		return bridge.Health{State: bridge.HealthDown, Reason: "the audit log is no longer sealed: " + why}
	}
	au.sealing.mu.Lock()
	defer au.sealing.mu.Unlock()
	if why := au.sealing.stuck; why != "" {
		return bridge.Health{State: bridge.HealthDown, Reason: "the audit log cannot be archived, and stays in the journal: " + why}
	}
	return bridge.Health{State: bridge.HealthUp}
}
