package core_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// ended is the result of a caller of AwaitThen.
type ended struct {
	rec *bridge.Record
	err error
}

// awaitThen calls AwaitThen. The channel gets each result.
func awaitThen(ctx context.Context, s core.Port, id bridge.ID) <-chan ended {
	done := make(chan ended, 2)
	s.AwaitThen(ctx, id, func(result core.Awaited) {
		rec, err := result()
		done <- ended{rec, err}
	})
	return done
}

// result returns the only result of a caller.
func result(t *testing.T, done <-chan ended) ended {
	t.Helper()
	o := await.Receive(t, "a result", done)
	t.Cleanup(func() { // a second one would be there at the end
		if len(done) > 0 {
			t.Errorf("there is a second result: %+v", <-done)
		}
	})
	return o
}

// TestAwaitThen checks that callers without a goroutine get the one response,
// however they learn of it, and that they stop waiting when their context ends
// or the daemon stops.
func TestAwaitThen(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		a, b := daemon("n1"), daemon("n2")
		approved := func(what string, done <-chan ended) {
			t.Helper()
			if o := result(t, done); o.err != nil || o.rec.State != bridge.StateApproved || o.rec.Response.Actor.User != "U1" {
				t.Errorf("%s: %+v, %v", what, o.rec, o.err)
			}
		}
		id := open(t, a, nil).Interaction.ID
		here, there := awaitThen(t.Context(), a, id), awaitThen(t.Context(), b, id)
		approve(t, b, id)
		approved("on the daemon that settles", there)
		approved("on another daemon", here)
		approved("after the end", awaitThen(t.Context(), a, id))

		id = open(t, a, nil).Interaction.ID
		ctx, cancel := context.WithCancel(t.Context())
		left, stays := awaitThen(ctx, a, id), awaitThen(t.Context(), a, id)
		cancel()
		if o := result(t, left); !errors.Is(o.err, context.Canceled) || o.rec != nil {
			t.Errorf("a caller that left gets %+v, %v", o.rec, o.err)
		}
		if o := result(t, awaitThen(ctx, a, id)); !errors.Is(o.err, context.Canceled) {
			t.Errorf("a caller that never waited gets %+v, %v", o.rec, o.err)
		}
		noError(t, a.Close())
		if o := result(t, stays); bridge.ErrorCode(o.err) != bridge.CodeUnavailable {
			t.Errorf("after the daemon stopped: %+v, %v", o.rec, o.err)
		}
		missing := must[bridge.ID](t)(bridge.NewID())
		if o := result(t, awaitThen(t.Context(), b, missing)); bridge.ErrorCode(o.err) != bridge.CodeNotFound {
			t.Errorf("for no interaction: %+v, %v", o.rec, o.err)
		}
	})
}

// TestWakeUpIsNotLost checks that a caller gets the response whenever the decision of
// another daemon comes: before, while and after it registers.
func TestWakeUpIsNotLost(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		a, b := daemon("a"), daemon("b")
		for n := range 200 {
			o := opening(t, "", nil)
			o.Awaited = n%2 == 0
			if _, _, err := a.Open(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			go func() { _, _, _ = b.Resolve(t.Context(), yes(o.Interaction.ID, "U1")) }()
			if got := must[*bridge.Record](t)(core.Await(t.Context(), a, o.Interaction.ID)); got.State != bridge.StateApproved {
				t.Errorf("it is %s", got.State)
			}
		}
	})
}

// deaf is a database whose journal says nothing until it is lost.
type deaf struct {
	broker.Store
	lost chan struct{}
}

func (d deaf) Follow(ctx context.Context, _ string, _ func([]broker.Entry), lost func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.lost:
			lost()
		}
	}
}

// TestReservations checks that the reservation of a caller that will wait for
// its request ends: after an opening that needs no wait, and if the caller
// never waits.
func TestReservations(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		waiting := func(when string, want int) {
			t.Helper()
			if n := must[bridge.Stats](t)(s.Stats(t.Context())).Waiting; int(n) != want {
				t.Errorf("%s, %d callers wait, want %d", when, n, want)
			}
		}
		o := opening(t, "key", nil)
		o.Awaited = true
		for _, when := range []string{"after the opening", "after its repetition"} {
			if _, _, err := s.Open(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			waiting(when, 1)
			o.Interaction.ID = must[bridge.ID](t)(bridge.NewID())
		}
		pass(t, 30*time.Second)
		waiting("if the caller never waits", 0)
	})
}

// TestLostJournal checks that callers get the response although the journal lost it,
// and that one whose interaction is gone stops waiting.
func TestLostJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seals := broker.NewSeals()
		db := memory.New(seals)
		lost := make(chan struct{})
		here, other := stored.On(t, deaf{db, lost}, seals, core.Options{}), stored.On(t, db, seals, core.Options{})
		ids := []bridge.ID{open(t, here, nil).Interaction.ID, open(t, here, nil).Interaction.ID, open(t, here, nil).Interaction.ID}
		var all []<-chan ended
		for _, id := range ids {
			all = append(all, awaitThen(t.Context(), here, id))
		}
		synctest.Wait() // until they have read
		approve(t, other, ids[0])
		doc := must[[]broker.Doc](t)(db.Get(t.Context(), life.Key(ids[1])))[0]
		if _, err := db.Do(t.Context(), broker.Change{Drop: []broker.Version{doc.At()}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(all[0])+len(all[1])+len(all[2]) > 0 {
			t.Error("a caller was woken by a journal that says nothing")
		}
		lost <- struct{}{}
		if o := result(t, all[0]); o.err != nil || o.rec.State != bridge.StateApproved {
			t.Errorf("the decided one: %+v, %v", o.rec, o.err)
		}
		if o := result(t, all[1]); bridge.ErrorCode(o.err) != bridge.CodeNotFound {
			t.Errorf("the one that is gone: %+v, %v", o.rec, o.err)
		}
		synctest.Wait()
		if len(all[2]) > 0 {
			t.Error("the caller of a pending one does not wait any longer")
		}
	})
}

// TestAwaitThenHasNoGoroutine checks that callers of AwaitThen take no goroutine while
// they wait, whether their opening has registered them or not.
func TestAwaitThenHasNoGoroutine(t *testing.T) { //nolint:paralleltest // it counts the goroutines of the process
	const callers = 300
	s := stored.InMemory(t, nil, nil)
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	var all []<-chan ended
	for n := range callers {
		o := opening(t, "", nil)
		o.Awaited = n%2 == 0
		if _, _, err := s.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		all = append(all, awaitThen(ctx, s, o.Interaction.ID))
	}
	await.Until(t, "the callers take no goroutines", func() bool { return runtime.NumGoroutine() <= before+callers/10 })
	cancel()
	for _, done := range all {
		if o := <-done; !errors.Is(o.err, context.Canceled) {
			t.Errorf("a caller that left gets %+v, %v", o.rec, o.err)
		}
	}
}

// TestAwaitSurvivesRestart checks that a caller gets the response although Redis
// restarted.
func TestAwaitSurvivesRestart(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes", "--appendfsync", "always")
	s := onRedis(t, server.Client(t), "n", 0)
	id := open(t, s, nil).Interaction.ID
	done := awaitThen(t.Context(), s, id)
	server.Kill()
	server.Restart()
	await.Until(t, "the decision is stored", func() bool { _, _, err := s.Resolve(t.Context(), yes(id, "U1")); return err == nil })
	if got := result(t, done); got.err != nil || got.rec.State != bridge.StateApproved {
		t.Errorf("woke with %+v, %v", got.rec, got.err)
	}
}

// TestWaitReplicas checks that neither a decision that no replica confirms, nor its
// repeat, nor the opening, is reported as stored, that no caller gets it before, and
// that all of it can be repeated.
func TestWaitReplicas(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	c := master.Client(t)
	s, plain := onRedis(t, c, "n", 1), onRedis(t, c, "plain", 0)
	fresh, o := opening(t, "", nil), opening(t, "", nil)
	if _, _, err := plain.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	done := awaitThen(t.Context(), s, o.Interaction.ID)
	for range 2 {
		if _, _, err := s.Open(t.Context(), fresh); bridge.ErrorCode(err) != bridge.CodeUnavailable {
			t.Errorf("an opening without a replica: %v", err)
		}
		if _, won, err := s.Resolve(t.Context(), yes(o.Interaction.ID, "U1")); bridge.ErrorCode(err) != bridge.CodeUnavailable || won {
			t.Errorf("a decision without a replica: won %v, %v", won, err)
		}
	}
	if _, _, err := s.Resolve(t.Context(), yes(o.Interaction.ID, "U2")); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("another decision without a replica: %v", err)
	}
	if len(done) > 0 {
		t.Errorf("a caller got what no replica has: %+v", <-done)
	}
	host, port := "127.0.0.1", master.Addr[len("127.0.0.1:"):]
	redistest.Start(t, "--replicaof", host+" "+port)
	await.Until(t, "a replica confirms", func() bool { _, _, err := s.Open(t.Context(), fresh); return err == nil })
	if got := result(t, done); got.err != nil || got.rec.State != bridge.StateApproved {
		t.Errorf("the caller got %+v, %v", got.rec, got.err)
	}
	won := false
	await.Until(t, "a replica confirms the decision", func() (confirmed bool) {
		var err error
		_, won, err = s.Resolve(t.Context(), yes(o.Interaction.ID, "U1"))
		return err == nil
	})
	if !won {
		t.Error("the decision did not win")
	}
}

// connections are the connections of callers that wait for one request.
type connections struct {
	t    *testing.T
	id   bridge.ID
	open map[string]func() error // by name: ends one, and waits until it has ended
}

// enter lets a connection wait at a daemon.
func (c connections) enter(name string, s core.Port) {
	ctx, hangUp := context.WithCancel(c.t.Context())
	done := awaitThen(ctx, s, c.id)
	c.open[name] = func() error {
		hangUp()
		return await.Receive(c.t, "the end of the connection "+name, done).err
	}
}

// TestCallersLeave checks that the end of a connection closes a request only if no
// caller waits for it any longer, whether they are at this daemon or another, with an
// ID or without. A caller with an ID is where it connected last;
// an earlier connection may still count.
func TestCallersLeave(t *testing.T) {
	t.Parallel()
	type call struct {
		caller string
		node   int
	}
	for name, calls := range map[string][]call{
		"one caller":                      {{"a", 0}, {"a", 1}},
		"one caller at one daemon":        {{"a", 0}, {"a", 0}},
		"one caller that comes back":      {{"a", 0}, {"a", 1}, {"a", 0}},
		"two callers":                     {{"a", 0}, {"b", 1}},
		"two callers, one twice":          {{"a", 0}, {"a", 0}, {"b", 1}},
		"two callers, one moves":          {{"a", 0}, {"a", 1}, {"b", 0}},
		"two callers, one moves later":    {{"b", 0}, {"a", 1}, {"a", 0}},
		"two callers at one daemon":       {{"a", 0}, {"b", 0}, {"a", 0}},
		"no IDs":                          {{"", 0}, {"", 1}},
		"no IDs at one daemon":            {{"", 0}, {"", 0}},
		"no IDs at two daemons":           {{"", 0}, {"", 1}, {"", 0}},
		"one without an ID":               {{"", 0}, {"a", 1}},
		"one without an ID, later":        {{"a", 0}, {"", 1}},
		"one without an ID at one daemon": {{"a", 0}, {"", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, daemon opener) {
				nodes := []*stored.Store{daemon("n1"), daemon("n2")}
				for first := range calls {
					for second := range calls {
						at, newest := map[int]bool{}, map[string]int{}
						w := connections{t: t, open: map[string]func() error{}}
						for n, c := range calls {
							o := opening(t, "", nil)
							o.Identity = bridge.CallID{ID: "call", Caller: c.caller}.Identity("agent", string(rune('0'+first))+string(rune('0'+second)), "digest")
							o.Interaction.RequestKey = o.Identity.Key
							rec, created, err := nodes[c.node].Open(t.Context(), o)
							if err != nil || created != (n == 0) {
								t.Fatalf("call %d: created %v, %v", n, created, err)
							}
							w.id, at[n], newest[c.caller] = rec.Interaction.ID, true, c.node
							w.enter(string(rune('0'+n)), nodes[c.node])
							synctest.Wait()
						}
						for _, n := range []int{first, second, 0, 1, 2} {
							if !at[n] {
								continue
							}
							delete(at, n)
							waits := false
							for k := range at {
								waits = waits || calls[k].caller == "" || calls[k].node == newest[calls[k].caller]
							}
							if err := w.open[string(rune('0'+n))](); !errors.Is(err, context.Canceled) {
								t.Fatalf("connection %d ended with %v", n, err)
							}
							rec, err := nodes[calls[n].node].Abandon(t.Context(), w.id, bridge.CallerName(calls[n].caller), true, bridge.Response{State: bridge.StateCancelled})
							last := rec.State == bridge.StateCancelled
							if err != nil || last && waits || !last && len(at) == 0 {
								t.Errorf("connection %d ended, %v are left of %v: last %v, %v", n, at, calls, last, err)
							}
							if last {
								break
							}
						}
						for n := range at {
							_ = w.open[string(rune('0'+n))]()
						}
					}
				}
			})
		})
	}
}
