package api

import (
	"context"
	"net/http"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const readyTimeout = 2 * time.Second

// Health is the body of /healthz.
type Health struct {
	Status    string                   `json:"status"` // ok, degraded or down
	Redis     bridge.Health            `json:"redis"`
	Platforms map[string]bridge.Health `json:"platforms"`
	// Keys reports whether the keys protect stored records against other
	// programs that write to Redis. Audit reports whether the audit log can be
	// sealed.
	Keys  bridge.Health `json:"keys"`
	Audit bridge.Health `json:"audit"`
}

func (s status) health(ctx context.Context) Health {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	h := Health{Status: "ok", Redis: bridge.Health{State: bridge.HealthUp}, Platforms: s.engine.Health(), Keys: bridge.Health{State: bridge.HealthUp}, Audit: s.engine.Audit.Health()}
	if s.keysOK != nil {
		h.Keys = s.keysOK()
	}
	if h.Keys.State == bridge.HealthDown || h.Audit.State == bridge.HealthDown {
		h.Status = "degraded"
	}
	for _, p := range h.Platforms {
		if p.State != bridge.HealthUp && p.State != bridge.HealthStandby {
			h.Status = "degraded"
		}
	}
	if err := s.ready(ctx); err != nil {
		e := bridge.PublicError(err)
		h.Status = "down"
		h.Redis = bridge.Health{State: bridge.HealthDown, Reason: e.Message}
		if e.Hint != "" {
			h.Redis.Reason += "; " + e.Hint
		}
	}
	return h
}

// healthz reports the health of every part. It responds with 503 only if Redis
// does not store data, because a restart does not fix an unreachable platform.
func (s status) healthz(w http.ResponseWriter, r *http.Request) {
	h := s.health(r.Context())
	status := http.StatusOK
	if h.Status == "down" {
		status = http.StatusServiceUnavailable
	}
	_ = write(w, status, h) // the caller may have disconnected
}

// readyz responds with 200 when the daemon accepts requests and a platform can
// show them.
func (s status) readyz(w http.ResponseWriter, r *http.Request) {
	h := s.health(r.Context())
	ready := false
	for _, p := range h.Platforms {
		ready = ready || p.State == bridge.HealthUp || p.State == bridge.HealthStandby
	}
	status := http.StatusOK
	if !ready || h.Status == "down" {
		status = http.StatusServiceUnavailable
	}
	_ = write(w, status, h) // the caller may have disconnected
}
