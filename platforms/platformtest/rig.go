package platformtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// patience is the time limit for everything that a test waits for.
const patience = 30 * time.Second

// callbackPath is the path of the callback address in HTTP mode.
const callbackPath = "/callback"

// Rig is an adapter on the emulated service, with or without an engine.
type Rig struct {
	T        testing.TB
	Harness  Harness
	Sandbox  *sandbox.Sandbox
	Platform Platform
	// Engine is nil in a rig whose clicks go to a sink of the test.
	Engine *engine.Engine
	Ctx    context.Context
	URL    string // of the sandbox

	keys  bridge.Keyring
	agent bridge.Agent
	heard *heard
	// failing means that the sink of the test does not record actions.
	failing bool
	ended   chan error // the result of Platform.Run, in a rig without an engine
}

// options configures a rig.
type options struct {
	http  bool        // use HTTP mode
	paced bool        // keep the adapter's own pacing on
	sink  bridge.Sink // receives the clicks; nil starts an engine
	still bool        // do not run the platform
	token string      // replaces the bot token of the sandbox
}

// newRig starts a sandbox and an adapter that is connected to it.
func newRig(t testing.TB, h Harness, o options) *Rig {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := &Rig{T: t, Harness: h, Ctx: ctx, agent: bridge.Agent{Name: "tester"}, ended: make(chan error, 1),
		heard: &heard{notes: map[string][]string{}}}
	keys, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		t.Fatal(err)
	}
	r.keys = keys
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	r.URL = "http://" + server.Listener.Addr().String()
	so := sandbox.Options{NoLimits: true, Clock: sandbox.NewClock()}
	setup := Setup{URL: r.URL, Paced: o.paced, Token: o.token, Notes: &Memory{}}
	if o.paced {
		setup.Turns = NewTurns(t)
	}
	if o.http {
		setup.Callback = r.URL + callbackPath
		if h.Callbacks != nil {
			h.Callbacks(&so, setup.Callback)
		}
	}
	r.Sandbox = sandbox.New(so)
	setup.Sandbox = r.Sandbox
	sink := o.sink
	if sink == nil {
		sink = r.startEngine(setup)
	} else {
		r.make(setup)
	}
	mux.Handle("/", r.Sandbox)
	mux.Handle(callbackPath, r.Platform.Handler(sink))
	server.Start()
	t.Cleanup(func() { r.Sandbox.Close(); server.CloseClientConnections(); server.Close() })
	if r.Engine != nil {
		person.NewWatch(t, r.Sandbox)
	}
	if !o.still {
		r.run(sink)
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

// run runs the engine, or the platform alone if there is no engine, until the
// test ends.
func (r *Rig) run(sink bridge.Sink) {
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

// connected waits until the platform receives clicks.
func (r *Rig) connected() *Rig {
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

// Eventually polls until ok holds.
func (r *Rig) Eventually(what string, ok func() bool) {
	r.T.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			r.T.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// await receives from a channel, or fails the test after a while.
func await[T any](r *Rig, what string, from <-chan T) T {
	r.T.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		r.T.Fatalf("%s: not within %s", what, patience)
	}
	panic("unreachable")
}

// place returns the place of a message.
func (r *Rig) place(ref bridge.MessageRef) sandbox.Place {
	return sandbox.Place{Service: r.Harness.Name, Channel: ref.Channel, Message: ref.Message}
}

// Controls returns the controls of a message.
func (r *Rig) Controls(at sandbox.Place) []sandbox.Control {
	return sandbox.Controls(r.Harness.Name, r.Sandbox.Message(at))
}

// Text returns the text of a message.
func (r *Rig) Text(at sandbox.Place) string { return sandbox.Texts(r.Sandbox.Message(at)) }

// Says waits until a message contains a text.
func (r *Rig) Says(at sandbox.Place, words string) {
	r.T.Helper()
	r.Eventually("the message says "+words, func() bool { return strings.Contains(r.Text(at), words) })
}

// Has waits until a message has a control with a label.
func (r *Rig) Has(at sandbox.Place, label string) {
	r.T.Helper()
	r.Eventually("the message offers "+label, func() bool {
		return slices.ContainsFunc(r.Controls(at), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) })
	})
}

// told waits until a person has a reply with the words.
func (r *Rig) told(who string, at sandbox.Place, reaction sandbox.Reaction, words string) {
	r.T.Helper()
	r.Harness.Client.Told(r, who, at, reaction, words)
}

// fault injects a fault into the service.
func (r *Rig) fault(f sandbox.Fault) {
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
