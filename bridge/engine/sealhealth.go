package engine

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// unsealedFor is the time for which a log may fail to be sealed before the daemon
// counts as down: a failover of Redis takes less.
const unsealedFor = time.Minute

// sealHealth holds why the audit log is not sealed.
type sealHealth struct {
	mu      sync.Mutex
	refused map[int]string  // by partition: what someone has done to the log
	failing map[int]failure // by partition: the last attempts failed
}

// failure holds the time when attempts began to fail, and the last error.
type failure struct {
	at  time.Time
	err error
}

// tried notes the result of an attempt to seal a journal.
func (h *sealHealth) tried(partition int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first, failed := h.failing[partition]
	switch {
	case err == nil:
		delete(h.failing, partition)
	case failed:
		h.failing[partition] = failure{first.at, err}
	default:
		if h.failing == nil {
			h.failing = map[int]failure{}
		}
		h.failing[partition] = failure{time.Now(), err}
	}
}

// reasons returns why partitions are no longer sealed.
func (h *sealHealth) reasons() map[int]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := maps.Clone(h.refused)
	for p, s := range h.failing {
		if out[p] != "" || time.Since(s.at) < unsealedFor {
			continue
		}
		if out == nil {
			out = map[int]string{}
		}
		out[p] = "not since " + s.at.UTC().Format(time.RFC3339) + ": " + s.err.Error()
	}
	return out
}

// refuseToSeal records, and logs once, why a partition is no longer sealed.
func (au *Audit) refuseToSeal(partition int, why string) {
	h := &au.sealing
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused == nil {
		h.refused = map[int]string{}
	}
	if h.refused[partition] != why {
		h.refused[partition] = why
		au.log.Error("audit log no longer sealed", "partition", partition, "why", why)
	}
}

// Health returns whether the audit log can be sealed, and the reason if it
// cannot.
func (au *Audit) Health() bridge.Health {
	reasons := au.sealing.reasons()
	for _, p := range slices.Sorted(maps.Keys(reasons)) {
		return bridge.Health{State: bridge.HealthDown, Reason: "the audit log is no longer sealed: partition " + strconv.Itoa(p) + ", " + reasons[p]}
	}
	return bridge.Health{State: bridge.HealthUp}
}

// Refusals returns the number of partitions of the audit log that are no longer
// sealed because of a problem.
func (au *Audit) Refusals() int64 {
	return int64(len(au.sealing.reasons()))
}
