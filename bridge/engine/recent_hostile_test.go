package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redistest"
)

// unrecorded is a Store on which the first record that is loaded does not have yet
// what its card shows. Then it changes the request.
type unrecorded struct {
	bridge.Store
	change func()
}

func (u *unrecorded) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := u.Store.Load(ctx, id)
	if change := u.change; change != nil {
		u.change, r.Shown = nil, nil
		change()
	}
	return r, err
}

// TestRemovedWhileCardIsRecorded checks that a click that waits until nod has
// recorded what its card shows answers nothing if another daemon has removed the
// person in the meantime.
func TestRemovedWhileCardIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	s := w.setup
	id := w.asked(nil, versions).Interaction.ID
	click := w.control("ana", id, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{0: {Options: []int{1}}})
	between := &unrecorded{Store: w.store}
	w.between = between
	w.reload(s)
	w.between = nil
	here := w.engine
	between.change = func() {
		changed := newSetup()
		changed.routes["default"] = routeTo("C1", "bo", "cy")
		w.reload(changed)
		_ = w.answer("bo", id, bridge.Reply{Answers: map[string]bridge.Answer{"version": bridge.TextAnswer("1.0")}}) // refused
		if rec := w.state(id, bridge.StatePending); rec.Amended == 0 {
			t.Error("not amended")
		}
	}
	v, err := here.Click(t.Context(), click)
	if err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictForbidden, "")
	w.state(id, bridge.StatePending)
}

// twoDaemons returns a world on a real server, and a second engine with a store of
// its own, like that of another daemon.
func twoDaemons(t *testing.T, s setup) (w *world, other func(*world)) {
	t.Helper()
	server := redistest.Start(t)
	w = newWorldOn(t, s, server.Client(t), func() {})
	store, err := broker.New(t.Context(), broker.Options{Client: server.Client(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return w, func(w *world) {
		w.between = store
		w.reload(s)
		w.between = nil
	}
}

// TestReadOnlyAtOnce checks that nothing is decided after a channel has become
// read-only on one of two daemons, even by clicks that they received before, on
// what they remember or read: neither approvals, nor denials, nor votes.
func TestReadOnlyAtOnce(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w, other := twoDaemons(t, s)
	first := w.engine
	other(w)
	second := w.engine
	r := rand.New(rand.NewPCG(1, 18))
	decided, kept := 0, 0
	for range 6 {
		w.engine = first
		var ids []bridge.ID
		var cards []bridge.View
		for n := range 16 {
			rec := w.open(agentCI, shell(fmt.Sprint("make ", n)))
			ids = append(ids, rec.Interaction.ID)
			cards = append(cards, w.drawn(rec.Interaction.ID, "C1"))
			if _, err := second.Get(t.Context(), rec.Interaction.ID); err != nil { // now both remember it
				t.Fatal(err)
			}
		}
		var clicks sync.WaitGroup
		for n, card := range cards {
			for _, who := range []string{"ana", "bo"} {
				here := []*engine.Engine{first, second}[r.IntN(2)]
				d := []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny}[r.IntN(2)]
				after := time.Duration(r.IntN(12_000)) * time.Microsecond
				clicks.Go(func() {
					i := card.Record.Interaction
					bridge.Pause(t.Context(), after)
					action, question, option := i.DecisionControl(slices.Index(i.Decisions(), d))
					_, err := here.Click(t.Context(), bridge.Click{
						Token: card.Token(action, question, option), Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
						Ref: bridge.MessageRef{Channel: "C1", Message: fmt.Sprint(n)},
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
		bridge.Pause(t.Context(), time.Duration(r.IntN(8))*time.Millisecond)
		w.engine = second
		w.say("bo", "mute")
		var then []bridge.State
		for _, id := range ids {
			then = append(then, w.get(id).State)
		}
		clicks.Wait()
		for n, id := range ids {
			switch now := w.get(id).State; {
			case now != then[n]:
				t.Errorf("%s became %s after the channel was read-only", id, now)
			case now.Final():
				decided++
			default:
				kept++
			}
		}
		w.say("bo", "unmute")
	}
	t.Logf("%d decided before, %d kept", decided, kept)
	if decided == 0 || kept == 0 {
		t.Errorf("%d decided before, %d kept", decided, kept)
	}
}
