package engine_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
)

// counted is a context whose calls of Redis a trips counts.
type counted struct{}

// trips counts the round trips and commands of counted contexts. It is a hook of
// go-redis.
type trips struct{ trips, commands atomic.Int64 }

func (n *trips) add(ctx context.Context, commands int) {
	if ctx.Value(counted{}) != nil {
		n.trips.Add(1)
		n.commands.Add(int64(commands))
	}
}

func (n *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (n *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		n.add(ctx, 1)
		return next(ctx, cmd)
	}
}

func (n *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		n.add(ctx, len(cmds))
		return next(ctx, cmds)
	}
}

// TestTripsOfClick checks how often a click that decides waits for Redis before
// it is acknowledged: once on the daemon that posted or read the card, and
// elsewhere for the record, the mode of the channel and the decision.
func TestTripsOfClick(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		warm            bool
		quorum          int
		trips, commands int64
	}{
		"remembered":         {warm: true, trips: 1, commands: 2},
		"read by no one yet": {trips: 3, commands: 4},
		"vote":               {warm: true, quorum: 2, trips: 3, commands: 4},
	} {
		for _, d := range []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny} {
			t.Run(name+", "+string(d), func(t *testing.T) {
				t.Parallel()
				s := newSetup()
				s.signer = newSigner(t)
				route := s.routes["default"]
				route.Quorum = c.quorum
				s.routes["default"] = route
				w := newWorld(t, s)
				var n trips
				w.redis.AddHook(&n)
				first := w.open(agentCI, shell("make w")).Interaction.ID
				// The server has the scripts from here on.
				if err := w.answer("ana", first, bridge.Reply{Decision: d}); err != nil {
					t.Fatal(err)
				}
				id := w.open(agentCI, shell("make x")).Interaction.ID
				card := w.drawn(id, "C1")
				if c.warm {
					w.remembers(id) // the posting may still be on its way to memory
				} else {
					w.reload(s)
				}
				ctx := context.WithValue(t.Context(), counted{}, true)
				i := card.Record.Interaction
				action, question, option := i.DecisionControl(slices.Index(i.Decisions(), d))
				v, err := w.engine.Click(ctx, bridge.Click{
					Token: card.Token(action, question, option), Actor: bridge.Actor{Platform: "chat", User: "U-ana", Name: "ana"},
					Ref: bridge.MessageRef{Channel: "C1", Message: card.Record.Messages[0].Message},
				})
				if err != nil || v.Kind != bridge.VerdictSettled {
					t.Fatalf("%+v, %v", v, err)
				}
				// A call that joins those of others is not counted.
				if got, commands := n.trips.Load(), n.commands.Load(); got > c.trips || commands > c.commands {
					t.Errorf("%d round trips with %d commands, want at most %d with %d", got, commands, c.trips, c.commands)
				}
			})
		}
	}
}

// TestRememberedElsewhereChanged checks clicks on a daemon that remembers a
// request which has changed on another daemon since.
func TestRememberedElsewhereChanged(t *testing.T) {
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
		"a channel that is read-only": {change: func(_ *testing.T, w *world, _ bridge.ID) {
			w.say("bo", "mute")
		}, d: bridge.DecideDeny, kind: bridge.VerdictForbidden, word: "read-only", state: bridge.StatePending},
		"answered": {change: func(t *testing.T, w *world, id bridge.ID) {
			if err := w.answer("bo", id, bridge.Reply{Decision: bridge.DecideDeny}); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictLate, word: "Already decided by bo", state: bridge.StateDenied},
		"cancelled": {change: func(t *testing.T, w *world, id bridge.ID) {
			if _, err := w.engine.Cancel(t.Context(), id, "changed my mind"); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictLate, word: "the agent cancelled", state: bridge.StateCancelled},
		"gone": {change: func(t *testing.T, w *world, id bridge.ID) {
			if err := w.redis.Del(t.Context(), recordKey(id)).Err(); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictUnknown, word: "no longer has"},
		"written to": {change: func(t *testing.T, w *world, id bridge.ID) {
			text := w.redis.HGet(t.Context(), recordKey(id), "req").Val()
			text = strings.Replace(text, "make x", "make y", 1)
			if err := w.redis.HSet(t.Context(), recordKey(id), "req", text).Err(); err != nil {
				t.Error(err)
			}
		}, d: bridge.DecideOnce, kind: bridge.VerdictLate, word: "Nothing was recorded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup()
			s.signer = newSigner(t)
			s.policy = ruledBy(bridge.Ruling{})
			w := newWorld(t, s)
			id := w.open(agentCI, shell("make x")).Interaction.ID
			card := w.drawn(id, "C1")
			w.reload(s) // the first engine reads the request again to draw it
			here := w.engine
			w.remembers(id)
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

// remembers makes the engine remember a request.
func (w *world) remembers(id bridge.ID) {
	w.t.Helper()
	if _, err := w.engine.Get(w.t.Context(), id); err != nil {
		w.t.Fatal(err)
	}
}

// recordKey is the key of a record.
func recordKey(id bridge.ID) string { return fmt.Sprintf("nod:{%d}:i:%s", id.Partition(), id) }

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

// TestRememberedWhileChanging checks that a decision on what a daemon remembers
// does not count if the request changes elsewhere right before it is stored.
func TestRememberedWhileChanging(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*world, bridge.ID){
		"read-only": func(w *world, _ bridge.ID) { w.say("bo", "mute") },
		"removed": func(w *world, id bridge.ID) {
			here := w.engine
			restated(func(s *setup) { s.routes["default"] = routeTo("C1", "bo", "cy") })(nil, w, id)
			w.engine = here
		},
	} {
		for n, d := range []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny, bridge.DecideOnce, bridge.DecideDeny} {
			warm := n < 2
			t.Run(fmt.Sprintf("%s, %s, remembered %t", name, d, warm), func(t *testing.T) {
				t.Parallel()
				s := newSetup()
				s.policy = ruledBy(bridge.Ruling{})
				w := newWorld(t, s)
				id := w.open(agentCI, shell("make x")).Interaction.ID
				card := w.drawn(id, "C1")
				between := &meddler{Store: w.store}
				w.between = between
				w.reload(s)
				w.between = nil
				if warm {
					w.remembers(id)
				}
				between.first = func() { first(w, id) }
				if v := w.pressOn("ana", card, "C1", d, ""); v.Kind != bridge.VerdictForbidden {
					t.Errorf("the click: %+v", v)
				}
				w.state(id, bridge.StatePending)
			})
		}
	}
}

// TestUnlinkedWhileRemembered checks that an account that was unlinked on another
// daemon decides nothing from then on.
func TestUnlinkedWhileRemembered(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.linked = true
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	card := w.drawn(id, "C1")
	if err := w.store.PutLink(t.Context(), bridge.Link{Platform: "chat", User: "U-phone", Person: "ana"}); err != nil {
		t.Fatal(err)
	}
	phone := bridge.Actor{Platform: "chat", User: "U-phone"}
	if ok, err := w.engine.People.MayAnswer(t.Context(), card.Record.Interaction, phone); err != nil || !ok {
		t.Fatalf("linked: %t, %v", ok, err)
	}
	if _, err := w.store.DropLink(t.Context(), "chat", "U-phone"); err != nil {
		t.Fatal(err)
	}
	w.said(w.pressOn("phone", card, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "You may not answer")
	w.state(id, bridge.StatePending)
}
