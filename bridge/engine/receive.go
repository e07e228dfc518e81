package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
)

const (
	leaseTTL   = 3 * time.Second
	leaseRenew = time.Second
	firstRun   = time.Second      // delay before a stopped platform is started again
	mostRun    = 30 * time.Second // maximum of that delay
)

// receiver runs the platforms. Only one daemon runs an exclusive platform.
type receiver struct {
	leases    documents.Leases
	platforms platforms
	standby   *standbys
	redactor  *Redactor
	log       *slog.Logger
	node      string
}

func (r *receiver) receive(ctx context.Context, p bridge.Platform, sink bridge.Sink) {
	wait, said := firstRun, ""
	for ctx.Err() == nil {
		began := time.Now()
		err := r.receiveOnce(ctx, p, sink)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > mostRun {
			wait, said = firstRun, ""
		}
		if err == nil {
			continue
		}
		if err.Error() != said {
			r.log.Error("platform stopped; an administrator must act", "platform", p.Name(), "error", err)
		}
		said = err.Error()
		bridge.Pause(ctx, wait)
		wait = min(2*wait, mostRun)
	}
}

func (r *receiver) receiveOnce(ctx context.Context, p bridge.Platform, sink bridge.Sink) error {
	x, ok := p.(bridge.Exclusive)
	if !ok || x.ExclusiveKey() == "" {
		return p.Run(ctx, sink)
	}
	lease := "receive:" + x.ExclusiveKey()
	for {
		held, err := r.leases.Hold(ctx, lease, r.node, leaseTTL)
		if held && err == nil {
			break
		}
		r.standby.set(p.Name(), err == nil)
		if !bridge.Pause(ctx, leaseRenew) {
			return nil
		}
	}
	r.standby.set(p.Name(), false)
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { r.keepLease(ctx, stop, lease) })
	return p.Run(ctx, sink)
}

// keepLease renews a lease until ctx ends, and stops the holder once another
// process may have the lease.
func (r *receiver) keepLease(ctx context.Context, stop func(), lease string) {
	good := time.Now()
	for bridge.Pause(ctx, leaseRenew) {
		held, err := r.leases.Hold(ctx, lease, r.node, leaseTTL)
		switch {
		case err == nil && held:
			good = time.Now()
		case err == nil, time.Since(good) > leaseTTL:
			r.log.Warn("lease lost", "lease", lease, "error", err)
			stop()
			return
		}
	}
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := r.leases.Release(release, lease, r.node); err != nil {
		r.log.Warn("lease not released; it will expire", "lease", lease, "error", err)
	}
}

// health implements Engine.Health.
func (r *receiver) health() map[string]bridge.Health {
	m := map[string]bridge.Health{}
	for name, p := range r.platforms {
		switch h, ok := p.(bridge.HealthReporter); {
		case r.standby.is(name):
			m[name] = bridge.Health{State: bridge.HealthStandby, Reason: "another daemon receives its clicks", Since: r.standby.since(name)}
		case ok:
			m[name] = h.Health()
		default:
			m[name] = bridge.Health{State: bridge.HealthUp}
		}
	}
	for name, h := range m {
		h.Reason = r.redactor.Text(h.Reason)
		m[name] = h
	}
	return m
}

// standbys remembers the platforms that run on another daemon.
type standbys struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newStandbys() *standbys { return &standbys{at: map[string]time.Time{}} }

func (s *standbys) set(name string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !on {
		delete(s.at, name)
	} else if s.at[name].IsZero() {
		s.at[name] = time.Now().UTC()
	}
}

func (s *standbys) since(name string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[name]
}

func (s *standbys) is(name string) bool { return !s.since(name).IsZero() }
