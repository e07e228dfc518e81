package audit

import (
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// unsealedFor is the time for which the log may fail to be sealed before the daemon
// counts as down: a failover of Redis takes less.
const unsealedFor = time.Minute

// sealHealth holds why the audit log is not sealed, or not archived.
type sealHealth struct {
	mu      sync.Mutex
	refused string    // what someone has done to the log; empty if nothing
	failed  error     // of the last attempt
	since   time.Time // when attempts began to fail
	stuck   string    // why entries cannot be archived; empty if they can
}

// tried notes the result of an attempt to seal the log.
func (h *sealHealth) tried(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil && h.failed == nil {
		h.since = time.Now()
	}
	h.failed = err
}

// archived notes the result of an attempt to archive the log. Other errors than those
// of the log itself end without help.
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

// reason returns why the log is no longer sealed, or "" if it is.
func (h *sealHealth) reason() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused != "" || h.failed == nil || time.Since(h.since) < unsealedFor {
		return h.refused
	}
	return "not since " + h.since.UTC().Format(time.RFC3339) + ": " + h.failed.Error()
}

// refuseToSeal records, and logs once, why the log is no longer sealed.
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
