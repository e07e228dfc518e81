package engine_test

import (
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestEvaluatedOnce checks that a request is not evaluated again under the version
// of the config that it was opened under, even by another daemon, and that
// everything else is: one of another version, and an edited input.
func TestEvaluatedOnce(t *testing.T) {
	t.Parallel()
	var judged atomic.Int64
	s := newSetup()
	s.signer, s.config = newSigner(t), "1"
	s.policy = func(bridge.Act) bridge.Ruling { judged.Add(1); return bridge.Ruling{Effect: bridge.EffectAsk} }
	w := newWorld(t, s)
	costs := func(want int64, r bridge.Reply, between func()) {
		t.Helper()
		id := w.open(agentCI, shell("make x")).Interaction.ID
		between()
		before := judged.Load()
		if err := w.answer("ana", id, r); err != nil {
			t.Fatal(err)
		}
		if got := judged.Load() - before; got != want {
			t.Errorf("the policy was evaluated %d times, want %d", got, want)
		}
		w.state(id, bridge.StateApproved)
	}
	once := bridge.Reply{Decision: bridge.DecideOnce}
	costs(0, once, func() {})
	costs(1, bridge.Reply{Decision: bridge.DecideEdit, Input: []byte(`{"command":"make y"}`)}, func() {})
	costs(0, once, func() { w.reload(s) })
	next := s
	next.config = "2"
	costs(1, once, func() { w.reload(next) })
}

// TestEvaluatedAgain checks that a request that an engine opened is evaluated
// again after it was amended, although another config has amended it.
func TestEvaluatedAgain(t *testing.T) {
	t.Parallel()
	var judged atomic.Int64
	s := newSetup()
	s.signer = newSigner(t)
	s.policy = func(bridge.Act) bridge.Ruling { judged.Add(1); return bridge.Ruling{Effect: bridge.EffectAsk} }
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	first := w.engine
	stricter := s
	stricter.policy = func(bridge.Act) bridge.Ruling { return bridge.Ruling{Effect: bridge.EffectAsk, Confirm: "yes"} }
	w.reload(stricter)
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce}); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Fatalf("approved under earlier rules: %v", err)
	}
	w.engine = first
	before := judged.Load()
	terms := 1
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce, Confirm: "yes", Terms: &terms}); err != nil {
		t.Fatal(err)
	}
	if judged.Load() == before {
		t.Error("the amended request was not evaluated")
	}
}
