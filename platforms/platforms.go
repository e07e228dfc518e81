// Package platforms holds the parts that every chat adapter needs and that do
// not depend on a platform: health, the pace of sending, names, and checks of a
// setup.
//
// Code for a single platform belongs in the package of its adapter. The content
// of a card belongs in package render, and the effect of a click in package
// engine, which adapters call as a [bridge.Sink]. A [Kind] describes a
// platform. Start with it.
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

// ClickTimeout limits the work on one click: the platforms expect a response
// within 3 seconds.
const ClickTimeout = 2500 * time.Millisecond

// Redraw updates a card with the view of a verdict, and reports the update to
// the sink.
func Redraw(
	ctx context.Context, sink bridge.Sink, card bridge.MessageRef, v bridge.View,
	update func(context.Context, bridge.MessageRef, bridge.View, *bridge.Parts) error,
) error {
	failed := update(ctx, card, v, v.Delivered())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ClickTimeout)
	defer cancel()
	return errors.Join(failed, sink.Drawn(ctx, v, failed))
}

// NetworkError gives a failed call a code. It leaves out the URL, which
// contains the token on some platforms.
func NetworkError(service string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return bridge.Wrap(bridge.CodeUnavailable, err, "%s is unreachable", service)
}

// ToldWithin is the time limit for Told on a service without an earlier limit
// for the call.
const ToldWithin = 5 * time.Second

// firstPause is the time after which Told repeats a call.
const firstPause = 150 * time.Millisecond

// Told makes a call that informs a person of the result of an action. While the
// call fails temporarily, Told repeats it, because no job repeats it later.
// Within is the time in which the service accepts the call. Unclear is set if
// the service may have carried out an earlier call.
func Told(ctx context.Context, within time.Duration, call func(unclear bool) error) error {
	until, pause, unclear := time.Now().Add(within), firstPause, false
	for {
		err := call(unclear)
		wait := pause
		switch about := AboutOf(err); {
		case bridge.ErrorCode(err) == bridge.CodeRateLimited: // limited by the service, or by nod's own pacing
			wait = max(wait, bridge.PublicError(err).RetryAfter)
		case bridge.ErrorCode(err) == bridge.CodeUnavailable && (about == AboutService || about == ""):
			unclear = true
		default:
			return err
		}
		if time.Now().Add(wait).After(until) || !bridge.Pause(ctx, wait) {
			return err
		}
		pause *= 2
	}
}

// CallTimeout limits a call of an API that answers at once.
const CallTimeout = 15 * time.Second

// Client returns an HTTP client for the API of a platform, with the proxy from
// the environment. Zero means no timeout. The client follows no redirects. No
// API has redirects, and the request to the new address would contain the old
// URL, which has the token on some platforms.
func Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// DisplayName returns the first name that is not empty, on one line and of
// limited length.
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

// KeyedMutex is a lock per key. The zero value is ready to use. A key that no
// one holds or waits for takes no memory.
type KeyedMutex struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	mu    sync.Mutex
	users int
}

// Lock locks a key and returns the function that unlocks it.
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
