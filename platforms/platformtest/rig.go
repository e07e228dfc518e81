package platformtest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// callbackPath is the path of the callback address in HTTP mode.
const callbackPath = "/callback"

// Rig is an adapter on the emulated service, with or without an engine.
type Rig struct {
	person.Hands
	Harness  Harness
	Platform Platform
	// Engine is nil in a rig whose clicks go to a sink of the test.
	Engine *rooms.House
	Keys   bridge.Keyring
	Notes  platforms.Notes // notes of the adapter
	logged *logLines
	agent  bridge.Agent
	db     broker.Store
	stored *await.Bell   // rings after each write of the engine
	ahead  *atomic.Int64 // of the clock of the store, in ns
	ended  chan error    // result of Platform.Run, in a rig without an engine
}

// Options configures a rig.
type Options struct {
	HTTP    bool            // use HTTP mode
	Paced   bool            // leave the adapter's own pacing on
	Sink    bridge.Sink     // sink for the clicks; nil starts an engine
	Still   bool            // do not run the platform
	Token   string          // replaces the bot token of the sandbox
	Sandbox sandbox.Options // the rate limits are always off
}

// New starts a sandbox and an adapter that is connected to it.
func New(t testing.TB, h Harness, o Options) *Rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	keys, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	url := "http://" + server.Listener.Addr().String()
	so := o.Sandbox
	so.NoLimits = true
	if so.Clock == nil {
		so.Clock = sandbox.NewClock()
	}
	book := &logLines{}
	setup := Setup{URL: url, Paced: o.Paced, Token: o.Token, Notes: &Memory{}, Log: slog.New(slog.NewTextHandler(book, nil))}
	if o.Paced {
		setup.Turns = NewTurns(t)
	}
	if o.HTTP {
		setup.Callback = url + callbackPath
		so.Callbacks = map[string]string{h.Name: setup.Callback}
	}
	setup.Sandbox = sandbox.New(so)
	r := &Rig{Harness: h, Keys: keys, Notes: setup.Notes, logged: book, agent: bridge.Agent{Name: "tester"}, stored: &await.Bell{}, ahead: &atomic.Int64{}, ended: make(chan error, 1)}
	r.Hands = person.New(t, ctx, setup.Sandbox, url, r.stored.Next)
	sink := o.Sink
	if b, ok := sink.(interface{ Next() <-chan struct{} }); ok {
		r.Events = append(r.Events, b.Next)
	}
	if sink == nil {
		sink = r.startEngine(setup)
	} else {
		r.make(setup)
	}
	mux.Handle("/", r.Sandbox)
	mux.Handle(callbackPath, r.Platform.Handler(sink))
	server.Start()
	t.Cleanup(func() { r.Sandbox.Close(); server.CloseClientConnections(); server.Close() })
	if !o.Still {
		r.Run(sink)
	}
	if r.Engine != nil {
		r.Watched()
	}
	return r
}

// make creates the adapter.
func (r *Rig) make(s Setup) {
	r.T.Helper()
	p, err := r.Harness.New(s)
	if err != nil {
		r.T.Fatal(err)
	}
	r.Platform = p
}

// Run runs the engine, or the platform alone if there is no engine, until the
// test ends.
func (r *Rig) Run(sink bridge.Sink) {
	ctx, cancel := context.WithCancel(r.Ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r.Engine != nil {
			r.ended <- r.Engine.Run(ctx)
			return
		}
		r.ended <- r.Platform.Run(ctx, sink)
	}()
	r.T.Cleanup(func() { cancel(); <-done })
}

// Connected waits until the platform receives clicks.
func (r *Rig) Connected() *Rig {
	r.T.Helper()
	r.Eventually("the platform connects", func() bool { return r.Platform.Health().State == bridge.HealthUp })
	return r
}

// with returns the rig for a subtest.
func (r *Rig) with(t testing.TB) *Rig {
	sub := *r
	sub.T = t
	return &sub
}

// Place returns the place of a message.
func (r *Rig) Place(ref bridge.MessageRef) sandbox.Place {
	return sandbox.Place{Service: r.Harness.Name, Channel: ref.Channel, Message: ref.Message}
}

// Fault injects a fault into the service.
func (r *Rig) Fault(f sandbox.Fault) {
	f.Service = r.Harness.Name
	r.Sandbox.AddFault(f)
}

// account returns the ID of a member's account.
func (r *Rig) account(who string) string {
	for _, m := range sandbox.SampleMembers() {
		if m.Key == who {
			return r.Harness.Account(m)
		}
	}
	r.T.Fatalf("no member %q", who)
	return ""
}
