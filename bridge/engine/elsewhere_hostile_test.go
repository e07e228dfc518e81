package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// unrecorded is a Store on which the first record that is loaded does not have yet
// what its card shows. Then it changes the request.
type unrecorded struct {
	core.Port
	change func()
}

func (u *unrecorded) Load(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	r, err := u.Port.Load(ctx, id)
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
	between := &unrecorded{Port: w.store}
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
func twoDaemons(t *testing.T, s setup) (w *world, first, second *rooms.House) {
	t.Helper()
	server := redistest.Shared(t)
	w = newWorldOn(t, s, server.Client(t))
	store := stored.InRedis(t, server.Client(t))
	if s.signer != nil {
		store.Keys.Use(s.signer.SealKeys(""))
	}
	first = w.engine
	w.between = store
	w.reload(s)
	w.between = nil
	second, w.engine = w.engine, first
	return w, first, second
}

// TestHostileTexts checks that a decision on a request whose texts change when they
// are stored and read has a receipt that verifies on another daemon.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w := newWorld(t, s)
	r := seed.Rand(t)
	texts := []string{"\xff", "\xed\xa0\x80", "\ufffd", "\u2028\u2029", "<&>", `\ufffd`, "\x00", "é", "\U0010ffff", `"`, "a", "\u0085"}
	text := func() string {
		out := "x"
		for range r.IntN(5) {
			out += texts[r.IntN(len(texts))]
		}
		return out
	}
	here, accepted := w.engine, 0
	for n := 0; n < 600 && accepted < 30; n++ {
		q := shell(text())
		q.Prompt, q.Session = text(), []string{"", text()}[r.IntN(2)]
		q.Approval.Where, q.Approval.Tool = text(), text()
		w.engine = here
		rec, err := here.Open(t.Context(), agentCI, q, "")
		if err != nil {
			continue // refused: nothing to decide
		}
		accepted++
		id := rec.Interaction.ID
		d := []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny}[r.IntN(2)]
		want := bridge.StateDenied
		if d.Approves() {
			want = bridge.StateApproved
		}
		if n%2 == 0 {
			err = w.answer("ana", id, bridge.Reply{Decision: d})
		} else if w.posted(id); w.press("ana", id, "C1", d, "").Kind != bridge.VerdictSettled {
			err = bridge.Errorf(bridge.CodeInternal, "not settled")
		}
		if err != nil {
			t.Fatalf("%+v: %v", q.Ask, err)
		}
		w.reload(s)
		got, err := w.engine.Get(t.Context(), id)
		if err != nil || got.State != want || got.Unverified != "" || got.Receipt == "" {
			t.Errorf("%+v: %s, %q, %q, %v", q.Ask, got.State, got.Unverified, got.Receipt, err)
		}
	}
	if accepted < 10 {
		t.Errorf("only %d requests were accepted", accepted)
	}
}

// TestVotesFromTwoDaemons checks that votes that people give at the same time on two
// daemons, which count them on what they have loaded, count once each, and that the
// decision that they make together verifies on both.
func TestVotesFromTwoDaemons(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	voters := []string{"ana", "bo", "cy", "di"}
	route := routeTo("C1", voters...)
	route.Quorum = 3
	s.routes["default"] = route
	w, first, second := twoDaemons(t, s)
	r := seed.Rand(t)
	for n := range 12 {
		w.engine = first
		id := w.open(agentCI, shell(fmt.Sprint("make ", n))).Interaction.ID
		w.drawn(id, "C1")
		var votes sync.WaitGroup
		for _, who := range voters {
			for range 2 { // each clicks twice
				here := []*rooms.House{first, second}[r.IntN(2)]
				votes.Go(func() {
					_, err := here.Answer(t.Context(), id, bridge.Actor{Platform: bridge.PlatformAPI, User: who, Name: who, Person: who}, bridge.Reply{Decision: bridge.DecideOnce})
					if code := bridge.ErrorCode(err); err != nil && code != bridge.CodeConflict && code != bridge.CodeForbidden { // a repeat
						t.Error(err)
					}
				})
			}
		}
		votes.Wait()
		for _, here := range []*rooms.House{first, second} {
			rec, err := here.Get(t.Context(), id)
			if err != nil || rec.State != bridge.StateApproved || rec.Unverified != "" || len(rec.Votes) != 3 {
				t.Fatalf("%s with %d votes, %q, %v", rec.State, len(rec.Votes), rec.Unverified, err)
			}
		}
	}
}
