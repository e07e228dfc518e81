package engine_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
)

// TestChangedElsewhere checks clicks on a daemon that has read a request which has
// changed on another daemon since.
func TestChangedElsewhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*testing.T, *world, bridge.ID) // on the other daemon
		d      bridge.Decision
		kind   bridge.VerdictKind
		word   string
		state  bridge.State
	}{
		"stricter requirements": {change: restated(func(s *setup) {
			s.policy = ruledBy(bridge.Ruling{Risk: "critical"})
		}), d: bridge.DecideOnce, kind: bridge.VerdictForbidden, word: "requirements have changed",
			state: bridge.StatePending},
		"removed from the responders": {change: restated(func(s *setup) {
			s.routes["default"] = routeTo("C1", "bo", "cy")
		}), d: bridge.DecideDeny, kind: bridge.VerdictForbidden, word: "You may not answer", state: bridge.StatePending},
		"answered": {change: func(t *testing.T, w *world, id bridge.ID) {
			if err := w.answer("bo", id, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictLate, word: "bo already denied this", state: bridge.StateDenied},
		"cancelled": {change: func(t *testing.T, w *world, id bridge.ID) {
			if _, err := w.engine.Cancel(t.Context(), id, "changed my mind"); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictLate, word: "The agent has already cancelled", state: bridge.StateCancelled},
		"gone": {change: func(t *testing.T, w *world, id bridge.ID) {
			if err := w.redis.Del(t.Context(), document("life", id)).Err(); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictUnknown, word: "no longer has"},
		"written to": {change: func(t *testing.T, w *world, id bridge.ID) {
			w.rewrite("body", id, func(text string) string { return strings.Replace(text, "make x", "make y", 1) })
		}, d: bridge.DecideOnce, kind: bridge.VerdictLate, word: "Nothing was recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup()
			s.signer = newSigner(t)
			s.policy = ruledBy(bridge.Ruling{})
			w := inRedis(t, s)
			id := w.open(agentCI, shell("make x")).Interaction.ID
			card := w.drawn(id, "C1")
			w.get(id)
			here := w.engine
			w.reload(s)
			c.change(t, w, id)
			w.engine = here
			v := w.pressOn("ana", card, "C1", c.d, "")
			w.said(v, c.kind, c.word)
			if c.state != "" {
				w.state(id, c.state)
			}
			rec, err := here.Get(t.Context(), id)
			if err == nil && rec.State == bridge.StateApproved {
				t.Errorf("approved: %+v", rec)
			}
		})
	}
}

// restated is a change in which another daemon with another config amends the
// request, because bo clicks on it there.
func restated(change func(*setup)) func(*testing.T, *world, bridge.ID) {
	return func(_ *testing.T, w *world, id bridge.ID) {
		s := w.setup
		s.routes = newSetup().routes
		change(&s)
		w.reload(s)
		_ = w.answer("bo", id, bridge.Reply{Decision: bridge.DecideOnce}) // refused, because the requirements change
		if rec := w.state(id, bridge.StatePending); rec.Amended == 0 {
			w.t.Error("not amended")
		}
	}
}

// TestChangedWhileClicking checks that a decision does not count if the request
// changes elsewhere right before it is stored.
func TestChangedWhileClicking(t *testing.T) {
	t.Parallel()
	for _, d := range []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s := newSetup()
			s.policy = ruledBy(bridge.Ruling{})
			w := newWorld(t, s)
			id := w.open(agentCI, shell("make x")).Interaction.ID
			card := w.drawn(id, "C1")
			between := &meddler{Port: w.store}
			w.between = between
			w.reload(s)
			w.between = nil
			between.first = func() {
				here := w.engine
				restated(func(s *setup) { s.routes["default"] = routeTo("C1", "bo", "cy") })(nil, w, id)
				w.engine = here
			}
			if v := w.pressOn("ana", card, "C1", d, ""); v.Kind != bridge.VerdictForbidden {
				t.Errorf("the click: %+v", v)
			}
			w.state(id, bridge.StatePending)
		})
	}
}

// TestUnlinkedElsewhere checks that an account that was unlinked on another
// daemon decides nothing from then on.
func TestUnlinkedElsewhere(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.linked = true
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	card := w.drawn(id, "C1")
	if err := engine.NewLinked(w.store.Documents()).PutLink(t.Context(), bridge.Link{Platform: "chat", User: "U-phone", Person: "ana"}); err != nil {
		t.Fatal(err)
	}
	phone := bridge.Actor{Platform: "chat", User: "U-phone"}
	if !w.engine.People.MayAnswer(t.Context(), card.Record.Interaction, phone) {
		t.Fatal("a linked account may not answer")
	}
	if _, err := engine.NewLinked(w.store.Documents()).DropLink(t.Context(), "chat", "U-phone"); err != nil {
		t.Fatal(err)
	}
	w.said(w.pressOn("phone", card, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "You may not answer")
	w.state(id, bridge.StatePending)
}

// TestReplyToChanged checks that the daemon that opened a request approves nothing
// once another daemon has changed or closed it, and nothing by a person who may not
// approve.
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

// TestRanAgain checks that the report of a call that ran has its effect when it is
// repeated, after the database failed at the first one.
func TestRanAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	i := w.open(agentCI, shell("make x")).Interaction
	if err := w.engine.Expect(t.Context(), i, "call"); err != nil {
		t.Fatal(err)
	}
	ran := func() error {
		return w.engine.Ran(t.Context(), i.Agent, i.Session, []string{"call"}, func(bridge.Record) string { return "it ran" })
	}
	w.between = stopped{w.store}
	w.reload(w.setup)
	if err := ran(); bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Fatal(err)
	}
	w.between = nil
	w.reload(w.setup)
	for range 2 {
		if err := ran(); err != nil {
			t.Fatal(err)
		}
		w.state(i.ID, bridge.StateCancelled)
	}
}
