package webhook

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/fake"
)

// receiverOf is a webhook for one agent's requests.
type receiverOf struct {
	agent  string
	err    error
	bodies []string
	busy   chan struct{} // closed when a delivery may end; a nil channel does not block it
	began  chan struct{}
}

func (*receiverOf) Name() string              { return "ops" }
func (r *receiverOf) Wants(agent string) bool { return agent == r.agent }

func (r *receiverOf) Send(_ context.Context, id string, body []byte) error {
	if r.busy != nil {
		r.began <- struct{}{}
		<-r.busy
		return nil
	}
	r.bodies = append(r.bodies, id+" "+string(body))
	return r.err
}

// office is an engine with webhooks on a fake store.
type office struct {
	*engine.Engine
	t     *testing.T
	store *fake.Store
	room  *Room
}

func newOffice(t *testing.T, o engine.Options, hooks ...bridge.Webhook) *office {
	t.Helper()
	store := fake.New()
	o.Store, o.DB = store, store.DB
	o.Default()
	x := &office{Engine: engine.New(o), t: t, store: store}
	x.room = New(x.Engine, o, hooks)
	x.Use(engine.Seams{Workers: []engine.Worker{{Kind: life.JobHook, Work: x.room.Work}}})
	return x
}

// outcomes checks the outcome of the jobs so far.
func (o *office) outcomes(want ...string) {
	o.t.Helper()
	if got := o.store.Outcomes(); !slices.Equal(got, want) {
		o.t.Errorf("the jobs ended as %q; want %q", got, want)
	}
}

// closed stores a request that was denied, and that a webhook is told about.
func (o *office) closed() bridge.Record {
	o.t.Helper()
	i := fake.Question("Ship it?")
	i.Webhooks = []string{"ops"}
	r := o.store.Put(o.t, i)
	r.State = bridge.StateDenied
	r.Response = &bridge.Response{State: bridge.StateDenied, At: time.Now()}
	o.store.Set(r)
	return r
}

// TestHookErrors checks the outcome of a delivery to a webhook.
func TestHookErrors(t *testing.T) {
	t.Parallel()
	away := bridge.Errorf(bridge.CodeUnavailable, "no connection")
	later := bridge.Errorf(bridge.CodeUnavailable, "come back")
	later.RetryAfter = 30 * time.Minute
	nextYear := bridge.Errorf(bridge.CodeUnavailable, "come back next year")
	nextYear.RetryAfter = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		err     error
		attempt int
		age     time.Duration
		want    string
	}{
		"delivered":      {want: "hook done"},
		"away":           {err: away, want: "hook retry in 5s"},
		"away for long":  {err: away, attempt: 20, want: "hook retry in 1h0m0s"},
		"asked to wait":  {err: later, want: "hook retry in 30m0s"},
		"asked too much": {err: nextYear, want: "hook retry in 1h0m0s"},
		"away for a day": {err: away, age: 25 * time.Hour, want: "hook dead: unavailable: no connection"},
		"wants no more":  {err: bridge.Errorf(bridge.CodeNotFound, "gone"), want: "hook dead: not_found: gone"},
		"takes too long": {err: context.DeadlineExceeded, want: "hook retry in 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &receiverOf{agent: "ci", err: c.err}
			o := newOffice(t, engine.Options{}, w)
			r := o.closed()
			j := o.store.Work(life.JobHook, r.Interaction.ID, 0)
			j.Attempt, j.Began = max(c.attempt, 1), j.Began.Add(-c.age)
			if err := o.Work(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			o.outcomes(c.want)
			id, body, _ := strings.Cut(w.bodies[0], " ")
			var ev outcomeEvent
			if err := json.Unmarshal([]byte(body), &ev); err != nil {
				t.Fatal(err)
			}
			if id != "msg_"+string(r.Interaction.ID) || ev.Type != "interaction.denied" || ev.Data.State != bridge.StateDenied {
				t.Errorf("it was told %s as %s", ev.Type, id)
			}
		})
	}
}

// TestHookIsBusy checks that a receiver that hangs holds up no other job, and that its
// jobs ask for a slot less and less often, until they are too old.
func TestHookIsBusy(t *testing.T) {
	t.Parallel()
	w := &receiverOf{agent: "ci", busy: make(chan struct{}), began: make(chan struct{})}
	o := newOffice(t, engine.Options{}, w)
	r := o.closed()
	ended := make(chan error, hooksAtOnce)
	for range hooksAtOnce {
		j := o.store.Work(life.JobHook, r.Interaction.ID, 0)
		go func() { ended <- o.Work(t.Context(), j) }()
		<-w.began
	}
	for _, age := range []time.Duration{0, time.Hour, 23 * time.Hour, 25 * time.Hour} {
		j := o.store.Work(life.JobHook, r.Interaction.ID, 0)
		j.Began = j.Began.Add(-age)
		if err := o.Work(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	o.outcomes("hook retry in 1s, not counted", "hook retry in 15m0s, not counted", "hook retry in 1h0m0s, not counted",
		"hook dead: unavailable: earlier deliveries to the receiver have not ended")
	close(w.busy)
	for range hooksAtOnce {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestHookIsGone checks that jobs for webhooks that the config does not have wait for a
// daemon that has them, and are then buried, as are those of requests without an outcome.
func TestHookIsGone(t *testing.T) {
	t.Parallel()
	o := newOffice(t, engine.Options{})
	r := o.closed()
	pending := o.store.Put(t, fake.Question("Ship it?"))
	waits, old, other := o.store.Work(life.JobHook, r.Interaction.ID, 0), o.store.Work(life.JobHook, r.Interaction.ID, 0), o.store.Work(life.JobHook, pending.Interaction.ID, 0)
	old.Began = time.Now().Add(-time.Hour)
	for _, j := range []core.Job{waits, old, other} {
		if err := o.Work(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	o.outcomes("hook retry in 5s", "hook dead: not_found: webhook ops is not configured", "hook dead: internal: webhook 0 of 0 does not exist")
	d := &engine.Draft{}
	d.Interaction.Agent = "ci"
	if err := newOffice(t, engine.Options{}, &receiverOf{agent: "ci"}, &receiverOf{agent: "cd"}).room.Open(t.Context(), d); err != nil || len(d.Interaction.Webhooks) != 1 {
		t.Errorf("%d webhooks want the requests of ci; want 1: %v", len(d.Interaction.Webhooks), err)
	}
}
