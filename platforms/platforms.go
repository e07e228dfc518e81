// Package platforms holds what every chat adapter needs and no chat service
// defines: health, the pace of sending, names, and checks of a setup.
//
// What only one service does belongs in the package of its adapter. What a card
// says belongs in package render, and what a click decides in the engine.
package platforms

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// ClickTimeout bounds the work on one click: the services want their answer
// within 3 seconds.
const ClickTimeout = 2500 * time.Millisecond

// HealthBox keeps an adapter's health. The zero value is "starting".
type HealthBox struct {
	mu sync.Mutex
	h  bridge.Health
}

// Set notes a state; its time is when the state began.
func (b *HealthBox) Set(s bridge.HealthState, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.h.State != s {
		b.h.Since = time.Now().UTC()
	}
	b.h.State, b.h.Reason = s, reason
}

// Get returns the health.
func (b *HealthBox) Get() bridge.Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.h.State == "" {
		return bridge.Health{State: bridge.HealthStarting}
	}
	return b.h
}

// NetworkError gives a failed call a code. The URL is left out of it: with
// some services it holds the token.
func NetworkError(service string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return bridge.Wrap(bridge.CodeUnavailable, err, "%s is not reachable", service)
}

// Client returns an HTTP client for a service's API: bounded in time, and
// proxied as the environment says.
func Client() *http.Client { return &http.Client{Timeout: 15 * time.Second} }

// DisplayName is a name as a service gave it, on one line and bounded.
func DisplayName(names ...string) string {
	for _, n := range names {
		if n = strings.Join(strings.Fields(n), " "); n != "" {
			if r := []rune(n); len(r) > 80 {
				n = string(r[:80])
			}
			return n
		}
	}
	return ""
}

// KeyedMutex is a lock per key. The zero value is ready; keys that nobody
// holds or waits for take no memory.
type KeyedMutex struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	mu    sync.Mutex
	users int
}

// Lock locks a key and returns the unlock.
func (k *KeyedMutex) Lock(key string) func() {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[string]*keyLock{}
	}
	l := k.held[key]
	if l == nil {
		l = &keyLock{}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	l.mu.Lock()
	return func() {
		l.mu.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(k.held, key)
		}
	}
}

const (
	checkEvery   = 30 * time.Second
	checkTimeout = 15 * time.Second
)

// Watch keeps the health of a platform whose clicks come by HTTP: it calls
// check now and then, until ctx ends. It returns an error, and the platform is
// down, when an operator must act: for CodeForbidden and CodeInvalid.
func Watch(ctx context.Context, box *HealthBox, check func(context.Context) error) error {
	for {
		callCtx, cancel := context.WithTimeout(ctx, checkTimeout)
		err := check(callCtx)
		cancel()
		switch code := bridge.ErrorCode(err); {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			box.Set(bridge.HealthUp, "")
		case code == bridge.CodeForbidden || code == bridge.CodeInvalid:
			box.Set(bridge.HealthDown, bridge.PublicError(err).Message)
			return err
		default:
			box.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
		}
		bridge.Pause(ctx, checkEvery)
	}
}
