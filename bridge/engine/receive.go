package engine

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	leaseTTL   = 3 * time.Second
	leaseRenew = time.Second
	runBackoff = 30 * time.Second // before a platform that gave up is tried again
)

// Run posts, edits, sweeps and receives until ctx ends, and returns nil then.
// A platform that fails is retried; it never stops the others.
func (e *Engine) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	wg.Go(func() { e.workOutbox(ctx) })
	wg.Go(func() { e.sweep(ctx) })
	wg.Go(func() { e.seal(ctx) })
	for _, p := range e.platforms {
		wg.Go(func() { e.receive(ctx, p) })
	}
	wg.Wait()
	return nil
}

func (e *Engine) receive(ctx context.Context, p bridge.Platform) {
	for ctx.Err() == nil {
		err := e.receiveOnce(ctx, p)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log.Error("platform stopped, an operator must act", "platform", p.Name(), "error", err)
			bridge.Pause(ctx, runBackoff)
		}
	}
}

func (e *Engine) receiveOnce(ctx context.Context, p bridge.Platform) error {
	x, ok := p.(bridge.Exclusive)
	if !ok || x.ExclusiveKey() == "" {
		return p.Run(ctx, e)
	}
	lease := "receive:" + x.ExclusiveKey()
	for {
		held, err := e.store.Hold(ctx, lease, e.node, leaseTTL)
		if held && err == nil {
			break
		}
		e.standby.set(p.Name(), err == nil)
		if !bridge.Pause(ctx, leaseRenew) {
			return nil
		}
	}
	e.standby.set(p.Name(), false)
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { e.keepLease(ctx, stop, lease) })
	return p.Run(ctx, e)
}

// keepLease renews a lease until ctx ends, and stops the holder once the lease
// may be somebody else's.
func (e *Engine) keepLease(ctx context.Context, stop func(), lease string) {
	good := time.Now()
	for bridge.Pause(ctx, leaseRenew) {
		held, err := e.store.Hold(ctx, lease, e.node, leaseTTL)
		switch {
		case err == nil && held:
			good = time.Now()
		case err == nil, time.Since(good) > leaseTTL:
			e.log.Warn("lease lost", "lease", lease, "error", err)
			stop()
			return
		}
	}
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := e.store.Release(release, lease, e.node); err != nil {
		e.log.Warn("lease not given back, it will end by itself", "lease", lease, "error", err)
	}
}

// standbys remembers which platforms another daemon receives for.
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

func parseRef(s string) (bridge.MessageRef, error) {
	var r bridge.MessageRef
	err := json.Unmarshal([]byte(s), &r)
	return r, err
}
