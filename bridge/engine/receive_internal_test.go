package engine

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// TestReceiveExclusively checks that a platform for only one daemon waits for its
// lease, releases it, and stops when the lease is lost.
func TestReceiveExclusively(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		only := &exclusive{Chat: fake.Chat{As: "only"}}
		var running atomic.Int32
		only.Received = func(ctx context.Context) error {
			running.Add(1)
			defer running.Add(-1)
			<-ctx.Done()
			return nil
		}
		o := newOffice(t, func(o *Options) { o.Platforms = []bridge.Platform{only} })
		o.store.Lease(t, "receive:account", "there")
		ctx, stop := context.WithCancel(t.Context())
		pass := func() {
			time.Sleep(2 * leaseRenew)
			synctest.Wait() // a renewal at this very moment is over
		}
		done := make(chan struct{})
		go func() { defer close(done); o.receiver.receive(ctx, only, nil) }()
		pass()
		if h := o.Health()["only"]; h.State != bridge.HealthStandby || running.Load() != 0 {
			t.Errorf("it is %s, with %d receiving; want standby", h.State, running.Load())
		}
		o.store.Lease(t, "receive:account", "")
		pass()
		if h := o.Health()["only"]; h.State == bridge.HealthStandby || running.Load() != 1 {
			t.Errorf("it is %s, with %d receiving; want one", h.State, running.Load())
		}
		o.store.Lease(t, "receive:account", "there")
		pass()
		if h := o.Health()["only"]; h.State != bridge.HealthStandby || running.Load() != 0 {
			t.Errorf("after its lease was lost, it is %s, with %d receiving", h.State, running.Load())
		}
		o.store.Lease(t, "receive:account", "")
		pass()
		stop()
		<-done
		if who := o.store.Holder(t, "receive:account"); who != "" {
			t.Errorf("the lease is still held by %s", who)
		}
	})
}

type exclusive struct{ fake.Chat }

func (*exclusive) ExclusiveKey() string { return "account" }

// TestReceiveAgain checks that a platform that gave up is tried again later.
func TestReceiveAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOffice(t)
		var at []time.Duration
		began := time.Now()
		o.chat.Received = func(ctx context.Context) error {
			if at = append(at, time.Since(began)); len(at) == 1 {
				return bridge.Errorf(bridge.CodeForbidden, "token revoked")
			}
			<-ctx.Done()
			return nil
		}
		ctx, stop := context.WithTimeout(t.Context(), 2*firstRun)
		defer stop()
		o.receiver.receive(ctx, o.chat, nil)
		if !slices.Equal(at, []time.Duration{0, firstRun}) {
			t.Errorf("it was tried after %v", at)
		}
	})
}

// sick is a platform whose error repeats nod's own token.
type sick struct{ fake.Chat }

func (*sick) Health() bridge.Health {
	return bridge.Health{State: bridge.HealthDown, Reason: "Post https://api.example.com/botTOKEN/send: refused"}
}

// hidesToken replaces the token.
type hidesToken struct{}

func (hidesToken) Redact(s string) string { return strings.ReplaceAll(s, "TOKEN", "***") }

func (hidesToken) Secret(string) bool { return false }

// TestHealthHidesToken checks that the health, which anyone may read, does not have
// the token of a platform.
func TestHealthHidesToken(t *testing.T) {
	t.Parallel()
	r := &receiver{platforms: platforms{"sick": &sick{}}, standby: newStandbys(), redactor: &Redactor{hide: hidesToken{}}}
	if h := r.health()["sick"]; h.Reason != "Post https://api.example.com/bot***/send: refused" {
		t.Errorf("the reason is %q", h.Reason)
	}
}
