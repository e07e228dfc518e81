package platformtest

import (
	"context"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// runConnection checks how an adapter connects, loses its connection and ends.
func runConnection(t *testing.T, h Harness) {
	for _, f := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"it starts, runs and ends", lives}, {"it connects again", reconnects}, {"an outage passes", outlives}, {"a proxy refuses no token", outlivesProxy},
		{"a refused token ends it", endsRefused}, {"a token is accepted again", findsAccepted}, {"one daemon at a time receives", isExclusive},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			f.run(t, h)
		})
	}
}

func lives(t *testing.T, h Harness) {
	r := New(t, h, Options{Sink: &Recorder{}, Still: true})
	if s := r.Platform.Health().State; s != bridge.HealthStarting || r.Platform.Name() != h.Name {
		t.Errorf("%s is %s before it runs", r.Platform.Name(), s)
	}
	ctx, cancel := context.WithCancel(r.Ctx)
	go func() { r.ended <- r.Platform.Run(ctx, &Recorder{}) }()
	r.Connected()
	if h := r.Platform.Health(); h.Since.IsZero() || h.Reason != "" {
		t.Errorf("health is %+v", h)
	}
	cancel()
	if err := await.Receive(r.T, "the end", r.ended); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// clicks checks that a click arrives.
func clicks(r *Rig, sink *Recorder) {
	r.T.Helper()
	sink.Reset()
	_, at := r.card()
	r.Eventually("a click is accepted", func() bool { // the service may not know the connection yet
		reaction, err := r.Sandbox.Person("ana").Press(r.Ctx, at, render.LabelRun)
		return err == nil && reaction.OK
	})
	if len(sink.Clicks()) == 0 {
		r.T.Error("the click did not arrive")
	}
}

func reconnects(t *testing.T, h Harness) {
	if !h.Socket {
		t.Skip("the service cannot end the connection")
	}
	sink := &Recorder{}
	r := New(t, h, Options{Sink: sink}).Connected()
	clicks(r, sink)
	if err := r.Sandbox.Disconnect(h.Name, 0); err != nil {
		t.Fatal(err)
	}
	clicks(r, sink)
	r.Connected()
}

func outlives(t *testing.T, h Harness) {
	sink := &Recorder{}
	r := New(t, h, Options{Sink: sink, Still: true})
	r.Fault(sandbox.Fault{Kind: "error", Status: 503})
	r.Fault(sandbox.Fault{Kind: "refuse_connect"})
	r.Run(sink)
	r.Eventually("it is degraded", func() bool { return r.Platform.Health().State == bridge.HealthDegraded })
	if r.Platform.Health().Reason == "" {
		t.Error("health has no reason")
	}
	r.Sandbox.ClearFaults()
	r.Connected()
	clicks(r, sink)
}

// outlivesProxy checks that an adapter connects even if the service, or a proxy
// in front of it, refuses at first, and that the adapter does not take this as
// a refused token.
func outlivesProxy(t *testing.T, h Harness) {
	for name, f := range map[string]sandbox.Fault{
		"outage": {Kind: "error", Status: 503}, "rate limit": {Kind: "rate_limit", RetryAfter: 1}, "half an answer": {Kind: "half"},
		"sign-in page": {Kind: "page", Status: 200}, "proxy refuses": {Kind: "page", Status: 401}, "proxy blocks": {Kind: "page", Status: 403},
		"proxy finds nothing": {Kind: "page", Status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sink := &Recorder{}
			r := New(t, h, Options{Sink: sink, Still: true})
			f.Method, f.Count = h.Opens, 2
			r.Fault(f)
			r.Run(sink)
			r.Eventually("it connects", func() bool {
				now := r.Platform.Health()
				if now.State == bridge.HealthDown {
					t.Fatalf("it is down: %s", now.Reason)
				}
				return now.State == bridge.HealthUp
			})
		})
	}
}

// findsAccepted checks that the adapter uses a token again after the service
// refused it for a moment. The connection stays open during that time, so no
// event reports the change.
func findsAccepted(t *testing.T, h Harness) {
	if !h.Socket {
		t.Skip("the connection does not outlive a refusal")
	}
	r := New(t, h, Options{Sink: &Recorder{}}).Connected()
	v := r.view(r.interaction("ls"), bridge.StatePending)
	r.Fault(sandbox.Fault{Kind: "revoke"})
	if _, err := r.post(v, bridge.NewParts(nil, nil)); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("with a revoked token, Post returns %v", err)
	}
	r.Eventually("the second look finds it refused", func() bool { return r.Platform.Health().State == bridge.HealthDown })
	r.Sandbox.ClearFaults()
	r.Connected()
	r.posts(v)
}

func endsRefused(t *testing.T, h Harness) {
	r := New(t, h, Options{Sink: &Recorder{}, Still: true})
	r.Fault(sandbox.Fault{Kind: "revoke"})
	go func() { r.ended <- r.Platform.Run(r.Ctx, &Recorder{}) }()
	err := await.Receive(r.T, "the end", r.ended)
	if bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("it ended with %v", err)
	}
	if h := r.Platform.Health(); h.State != bridge.HealthDown || h.Reason == "" {
		t.Errorf("health is %+v", h)
	}
}

// isExclusive checks the key that lets only one daemon receive events, if the
// service requires that.
func isExclusive(t *testing.T, h Harness) {
	first := New(t, h, Options{Sink: &Recorder{}, Still: true})
	x, ok := first.Platform.(bridge.Exclusive)
	if !ok {
		return
	}
	second := New(t, h, Options{Sink: &Recorder{}, Still: true}).Platform.(bridge.Exclusive)
	called := New(t, h, Options{Sink: &Recorder{}, Still: true, HTTP: true}).Platform.(bridge.Exclusive)
	if x.ExclusiveKey() == "" || x.ExclusiveKey() != second.ExclusiveKey() {
		t.Errorf("two daemons of one account have the keys %q and %q", x.ExclusiveKey(), second.ExclusiveKey())
	}
	if called.ExclusiveKey() != "" {
		t.Error("callbacks are limited to one daemon")
	}
	for _, secret := range []string{sandbox.DiscordToken, sandbox.TelegramToken} {
		if strings.Contains(x.ExclusiveKey(), secret) {
			t.Errorf("the key contains the token: %s", x.ExclusiveKey())
		}
	}
}
