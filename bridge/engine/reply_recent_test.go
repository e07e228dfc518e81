package engine_test

import (
	"context"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestTripsOfReply checks how often a reply through the API waits for Redis: once
// on the daemon that opened the request, and twice elsewhere.
func TestTripsOfReply(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w := newWorld(t, s)
	n := &trips{}
	w.redis.AddHook(n)
	ana := bridge.Actor{Platform: bridge.PlatformAPI, User: "ana", Name: "ana", Person: "ana"}
	ctx := context.WithValue(t.Context(), counted{}, true)
	first := w.open(agentCI, shell("make w")).Interaction.ID
	if err := w.answer("ana", first, bridge.Reply{Decision: bridge.DecideOnce}); err != nil { // the server has the scripts from here on
		t.Fatal(err)
	}
	for _, c := range []struct {
		elsewhere bool
		want      int64
	}{{false, 1}, {true, 2}} {
		rec, err := w.engine.Open(t.Context(), agentCI, shell("make x"), "")
		if err != nil {
			t.Fatal(err)
		}
		if c.elsewhere {
			w.reload(s)
		}
		n.trips.Store(0)
		got, err := w.engine.Answer(ctx, rec.Interaction.ID, ana, bridge.Reply{Decision: bridge.DecideOnce})
		if err != nil || got.State != bridge.StateApproved || got.Receipt == "" {
			t.Fatalf("%+v %v", got, err)
		}
		if trips := n.trips.Load(); trips > c.want { // a call that joins those of others is not counted
			t.Errorf("elsewhere %v: %d round trips, want at most %d", c.elsewhere, trips, c.want)
		}
	}
}

// TestReplyToChanged checks that what a daemon remembers of a request that it
// opened approves nothing once another daemon has changed or closed the request,
// and nothing by a person who may not approve.
func TestReplyToChanged(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w := newWorld(t, s)
	first := w.engine
	once := bridge.Reply{Decision: bridge.DecideOnce}
	refused := func(what, who string, id bridge.ID, want bridge.Code) {
		t.Helper()
		w.engine = first
		if err := w.answer(who, id, once); bridge.ErrorCode(err) != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	id := w.open(agentCI, shell("make x")).Interaction.ID
	refused("not a responder", "cy", id, bridge.CodeForbidden)

	stricter := s
	stricter.policy = ruledBy(bridge.Ruling{Confirm: "yes"})
	w.reload(stricter)
	if err := w.answer("ana", id, once); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Fatalf("the other daemon: %v", err)
	}
	refused("earlier terms", "ana", id, bridge.CodeConflict)
	w.state(id, bridge.StatePending)

	w.engine = first
	id = w.open(agentCI, shell("make y")).Interaction.ID
	w.reload(s)
	if err := w.answer("bo", id, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
		t.Fatal(err)
	}
	refused("closed elsewhere", "ana", id, bridge.CodeConflict)
	w.state(id, bridge.StateDenied)
}
