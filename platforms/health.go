package platforms

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// SecondLook is the time after which nod checks a refused account again. A
// single refusal means nothing, because services occasionally refuse calls by
// mistake.
const SecondLook = time.Second

const (
	checkEvery   = 30 * time.Second
	checkTimeout = 15 * time.Second
	recheckMost  = time.Minute
)

// HealthBox holds the health of a platform. It logs each change of the state once.
// Its zero value is ready; without a log, it logs nothing.
type HealthBox struct {
	Log *slog.Logger

	mu      sync.Mutex
	h       bridge.Health // health of the connection
	refused bridge.Health // zero unless the account is refused
	doubted bridge.Health // zero unless a refusal waits for the second check
	warning bridge.Health // zero unless there is another problem
	warned  time.Time     // end of the warning
	wake    chan struct{}
	logged  bridge.HealthState
}

// Set records the state of the connection.
func (b *HealthBox) Set(s bridge.HealthState, reason string) {
	b.change(func() { b.h = since(b.h, s, reason) })
}

// Suspect records that a call was refused because of the account. The state
// changes only after a second check by Recheck or Watch.
func (b *HealthBox) Suspect(reason string) {
	b.change(func() { b.doubted = since(b.doubted, bridge.HealthDegraded, reason) })
	select {
	case b.suspicion() <- struct{}{}:
	default:
	}
}

// Refuse records that the account is refused.
func (b *HealthBox) Refuse(reason string) {
	b.change(func() { b.refused = since(b.refused, bridge.HealthDown, reason) })
	select {
	case b.suspicion() <- struct{}{}:
	default:
	}
}

// Accept records that the account is accepted.
func (b *HealthBox) Accept() {
	b.change(func() { b.refused, b.doubted = bridge.Health{}, bridge.Health{} })
}

// Warn records a problem for a time, although the platform works. An empty
// reason ends the warning.
func (b *HealthBox) Warn(reason string, d time.Duration) {
	b.change(func() {
		if reason == "" {
			b.warning = bridge.Health{}
			return
		}
		b.warning, b.warned = since(b.warning, bridge.HealthDegraded, reason), time.Now().Add(d)
	})
}

// since returns the health with a state and a reason. If the state is
// unchanged, it keeps the time of the state.
func since(h bridge.Health, s bridge.HealthState, reason string) bridge.Health {
	if h.State != s {
		h.Since = time.Now().UTC()
	}
	h.State, h.Reason = s, reason
	return h
}

// Get returns the health.
func (b *HealthBox) Get() bridge.Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.get()
}

func (b *HealthBox) get() bridge.Health {
	switch {
	case b.refused.State != "":
		return b.refused
	case b.h.State == "" && b.doubted.State == "":
		return bridge.Health{State: bridge.HealthStarting}
	case b.h.State == bridge.HealthUp && b.doubted.State != "":
		return b.doubted
	case b.h.State == bridge.HealthUp && b.warning.State != "" && time.Now().Before(b.warned):
		return b.warning
	case b.h.State == "":
		return b.doubted
	}
	return b.h
}

// Connected reports whether the connection works.
func (b *HealthBox) Connected() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.h.State == bridge.HealthUp
}

func (b *HealthBox) isDoubted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refused.State != "" || b.doubted.State != ""
}

// change applies a change, and logs the state if it has changed.
func (b *HealthBox) change(apply func()) {
	b.mu.Lock()
	apply()
	now := b.get()
	expected := now.State == bridge.HealthUp || now.State == bridge.HealthStarting
	changed := now.State != b.logged && !(b.logged == "" && expected)
	b.logged = now.State
	b.mu.Unlock()
	switch {
	case !changed || b.Log == nil:
	case now.State == bridge.HealthUp:
		b.Log.Info("platform is up")
	default:
		b.Log.Warn("platform is not up", "state", now.State, "reason", now.Reason)
	}
}

func (b *HealthBox) suspicion() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wake == nil {
		b.wake = make(chan struct{}, 1)
	}
	return b.wake
}

// Recheck checks the account again after each refusal, until ctx ends. It calls
// check a second later, and repeats it while the account is refused. If check
// fails for another reason, the state does not change.
func Recheck(ctx context.Context, box *HealthBox, check func(context.Context) error) {
	for ctx.Err() == nil {
		for wait := SecondLook; box.isDoubted() && bridge.Pause(ctx, wait); wait = min(2*wait, recheckMost) {
			switch err := bounded(ctx, check); {
			case err == nil:
				box.Accept()
			case errors.Is(err, bridge.ErrRefused):
				box.Refuse(bridge.PublicError(err).Message)
			}
		}
		select {
		case <-ctx.Done():
		case <-box.suspicion():
		}
	}
}

func bounded(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return check(ctx)
}

// Watch updates the health of a platform whose clicks arrive over HTTP: it
// calls check periodically, and after each refusal of the account, until ctx
// ends. If two checks in a row return an error that the administrator must fix,
// Watch sets the platform down and returns the error.
func Watch(ctx context.Context, box *HealthBox, check func(context.Context) error) error {
	for refusals := 0; ; {
		err := bounded(ctx, check)
		wait := checkEvery
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			refusals = 0
			box.Accept()
			box.Set(bridge.HealthUp, "")
		case Final(err):
			if refusals++; refusals > 1 {
				box.Set(bridge.HealthDown, bridge.PublicError(err).Message)
				return err
			}
			box.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
			wait = SecondLook
		default:
			box.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		case <-box.suspicion():
			bridge.Pause(ctx, SecondLook)
		}
	}
}

// Final reports whether a repeated call cannot succeed unless someone acts.
func Final(err error) bool {
	switch bridge.ErrorCode(err) {
	case "", bridge.CodeUnavailable, bridge.CodeRateLimited, bridge.CodeInternal:
		return false
	}
	return true
}
