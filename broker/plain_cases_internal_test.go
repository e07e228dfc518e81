package broker

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// newPair starts two sides.
func newPair(t *testing.T) *pair {
	t.Helper()
	now := time.Date(2026, 11, 1, 10, 0, 0, 123456789, time.UTC)
	p := &pair{t: t, rand: rand.New(rand.NewPCG(1, 4)), now: now, plain: newSide(t, now, true), full: newSide(t, now, false)}
	p.store(p.usual(nil)) // loads the script
	return p
}

// pass moves the clock.
func (p *pair) pass(d time.Duration) {
	p.now = p.now.Add(d)
	p.plain.server.SetTime(p.now)
	p.full.server.SetTime(p.now)
}

// usual returns an opening with three destinations and a deadline in a minute.
func (p *pair) usual(change func(*bridge.Opening)) bridge.Opening {
	o := p.opening()
	i := &o.Interaction
	i.Deadline, i.Destinations = p.now.Add(time.Minute), nil
	for n := range 3 {
		i.Destinations = append(i.Destinations, bridge.Destination{Platform: "chat", Channel: fmt.Sprint("C", n)})
	}
	o.Limited, o.FrontEnds, o.Awaited = false, false, false
	o.Timeout = bridge.Response{State: bridge.StateExpired, Annotations: map[string]bridge.Annotation{}, At: i.Deadline, Digest: i.Digest}
	if change != nil {
		change(&o)
	}
	return o
}

// store opens a request on both sides.
func (p *pair) store(o bridge.Opening) bridge.ID {
	p.t.Helper()
	p.both("an opening", func(s *side) (any, error) {
		r, created, err := s.Open(p.t.Context(), o)
		s.hub.drop(o.Interaction.ID)
		return []any{r, created}, err
	})
	return o.Interaction.ID
}

func (p *pair) marks(id bridge.ID, m bridge.Mark) {
	p.t.Helper()
	p.both("a mark", func(s *side) (any, error) { return s.Mark(p.t.Context(), id, m) })
}

func (p *pair) settles(t bridge.Settlement) {
	p.t.Helper()
	p.both(fmt.Sprintf("the settlement %+v", t), func(s *side) (any, error) {
		r, won, err := s.Settle(p.t.Context(), t)
		return []any{r, won}, err
	})
}

func (p *pair) posts(id bridge.ID, n int) {
	p.t.Helper()
	ref := bridge.MessageRef{Channel: "C", Message: fmt.Sprint(id, n)}
	p.marks(id, bridge.Mark{Posted: &bridge.Posted{Destination: n, Ref: ref, Revision: 1, Content: "shown"}})
}

func (p *pair) claims() {
	p.t.Helper()
	p.both("a claim", func(s *side) (any, error) { return s.Claim(p.t.Context(), 100, time.Minute) })
}

// command sends a command on the record of a request on both sides.
func (p *pair) command(id bridge.ID, name string, args ...any) {
	p.t.Helper()
	p.both(name, func(s *side) (any, error) {
		return s.client.Do(p.t.Context(), append([]any{name, s.core.keys.record(id)}, args...)...).Result()
	})
}

// waits registers another daemon that waits.
func (p *pair) waits(id bridge.ID) {
	p.t.Helper()
	p.both("the wait of another daemon", func(s *side) (any, error) {
		keys := []string{s.core.keys.record(id), s.core.keys.nodes(0)}
		return s.core.run(p.t.Context(), 0, s.core.scripts.await, keys, s.core.keys.wake("m"), "5000").Result()
	})
}

// settling has the requests that a settlement meets.
var settling = map[string]func(*pair) bridge.ID{
	"usual":   func(p *pair) bridge.ID { return p.store(p.usual(nil)) },
	"limited": func(p *pair) bridge.ID { return p.store(p.usual(func(o *bridge.Opening) { o.Limited = true })) },
	"several limited": func(p *pair) bridge.ID {
		limited := func(o *bridge.Opening) { o.Limited, o.Interaction.Agent = true, "many" }
		p.store(p.usual(limited))
		return p.store(p.usual(limited))
	},
	"no longer limited": func(p *pair) bridge.ID {
		p.store(p.usual(func(o *bridge.Opening) { o.Limited, o.Interaction.Agent = true, "many" }))
		return p.store(p.usual(func(o *bridge.Opening) { o.Interaction.Agent = "many" }))
	},
	"session, correlation, webhooks": func(p *pair) bridge.ID {
		return p.store(p.usual(func(o *bridge.Opening) {
			o.Interaction.Session, o.Interaction.ToolCall, o.Interaction.Webhooks = "s", "call", []string{"one", "two"}
		}))
	},
	"awaited here": func(p *pair) bridge.ID { return p.store(p.usual(func(o *bridge.Opening) { o.Awaited = true })) },
	"awaited elsewhere": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.waits(id)
		return id
	},
	"awaited by a daemon that stopped": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.waits(id)
		p.pass(6 * time.Second)
		return id
	},
	"awaited until now": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.waits(id)
		p.pass(5 * time.Second)
		return id
	},
	"awaited here and elsewhere": func(p *pair) bridge.ID {
		id := p.store(p.usual(func(o *bridge.Opening) { o.Awaited = true }))
		p.waits(id)
		return id
	},
	"amended": func(p *pair) bridge.ID {
		o := p.usual(nil)
		p.store(o)
		p.marks(o.Interaction.ID, bridge.Mark{Amended: &bridge.Amendment{Interaction: o.Interaction}})
		return o.Interaction.ID
	},
	"posted first": func(p *pair) bridge.ID { return p.posted(0) }, "posted second": func(p *pair) bridge.ID { return p.posted(1) },
	"posted third": func(p *pair) bridge.ID { return p.posted(2) }, "posted everywhere": func(p *pair) bridge.ID { return p.posted(0, 1, 2) },
	"posted fourth": func(p *pair) bridge.ID {
		id := p.store(p.usual(func(o *bridge.Opening) {
			o.Interaction.Destinations = append(o.Interaction.Destinations, bridge.Destination{Platform: "chat", Channel: "C3"})
		}))
		p.posts(id, 3)
		return id
	},
	"edit leased": func(p *pair) bridge.ID {
		id := p.posted(1)
		p.marks(id, bridge.Mark{Joined: true})
		p.pass(time.Second)
		p.claims()
		return id
	},
	"first of a batch": func(p *pair) bridge.ID { first, _ := p.batch(); return first },
	"in a batch":       func(p *pair) bridge.ID { _, second := p.batch(); return second },
	"later round": func(p *pair) bridge.ID {
		first := p.posted(0)
		return p.store(p.usual(func(o *bridge.Opening) { o.Interaction.Previous, o.Interaction.Root = first, first }))
	},
	"in steps": func(p *pair) bridge.ID {
		return p.store(p.usual(func(o *bridge.Opening) {
			o.Interaction.Steps = []bridge.Step{{After: bridge.Duration(time.Second), Remind: true}}
		}))
	},
	"deferred": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.marks(id, bridge.Mark{Queued: time.Hour})
		return id
	},
	"due now": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.pass(time.Minute)
		return id
	},
	"almost due": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.pass(time.Minute - time.Millisecond)
		return id
	},
	"settled with the nonce": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.settles(settlementOf(id, "n"))
		return id
	},
	"settled otherwise": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.settles(settlementOf(id, "other"))
		return id
	},
	"of an unknown version": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.command(id, "hset", fieldPacked, "9|1|99999999999999|expired|1|1|0|0|0|0|a")
		return id
	},
	"gone": func(p *pair) bridge.ID {
		id := p.store(p.usual(nil))
		p.command(id, "del")
		return id
	},
}

// posted opens a request and posts some of its cards.
func (p *pair) posted(at ...int) bridge.ID {
	p.t.Helper()
	id := p.store(p.usual(nil))
	for _, n := range at {
		p.posts(id, n)
	}
	return id
}

// batch opens two requests that one message shows.
func (p *pair) batch() (first, second bridge.ID) {
	p.t.Helper()
	session := fmt.Sprint("batch ", p.rand.Uint64())
	join := func(o *bridge.Opening) {
		o.Interaction.Batch, o.Interaction.Session = bridge.Duration(time.Minute), session
	}
	first = p.store(p.usual(join))
	p.posts(first, 0)
	second = p.store(p.usual(join))
	p.claims()
	return first, second
}

// TestPlainSettlements compares settlements of each kind of request that the short
// script has to notice.
func TestPlainSettlements(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	for name, make := range settling {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			p.both("a note", func(s *side) (any, error) {
				return s.client.Set(t.Context(), s.core.keys.note("stored"), "yes", 24*time.Hour).Result()
			})
			for n, s := range []bridge.Settlement{
				{}, {Expect: &zero}, {Expect: &one},
				{Card: &bridge.Shown{Destination: 0, Content: "shown"}}, {Card: &bridge.Shown{Destination: 0, Content: "other"}},
				{Card: &bridge.Shown{Destination: 2, Content: "shown"}}, {Expect: &zero, Card: &bridge.Shown{Destination: 1, Content: "shown"}},
				{Unless: "free"}, {Unless: "stored"},
			} {
				states := []bridge.State{bridge.StateApproved}
				if n == 0 {
					states = append(states, bridge.StateDenied, bridge.StateAnswered, bridge.StateCancelled)
				}
				for _, state := range states {
					full := settlementOf(make(p), "n")
					full.Expect, full.Card, full.Unless, full.Response.State = s.Expect, s.Card, s.Unless, state
					p.settles(full)
				}
			}
			p.pass(time.Minute)
			p.claims()
			if name == "usual" && (p.plain.calls.seen["settle true"] > 0 || p.plain.calls.seen["settle false"] == 0) {
				t.Errorf("the usual case is slow: %v", p.plain.calls.seen)
			}
		})
	}
}

// TestPlainOpenings compares openings with each of the values that the short
// script stores, and with each obstacle that it has to notice.
func TestPlainOpenings(t *testing.T) {
	t.Parallel()
	values := []func(*bridge.Opening){
		func(o *bridge.Opening) { o.Interaction.Session = "s" },
		func(o *bridge.Opening) { o.Interaction.Session, o.Stoppable = "s", true },
		func(o *bridge.Opening) { o.IdempotencyKey, o.RequestDigest = "k", "v:1" },
		func(o *bridge.Opening) { o.Timeout.Reason = "no one answered" },
		func(o *bridge.Opening) { o.Interaction.ToolCall = "call" },
		func(o *bridge.Opening) { o.Limited = true },
		func(o *bridge.Opening) { o.Awaited = true },
		func(o *bridge.Opening) { o.Interaction.Grace = bridge.Duration(time.Second) },
		func(o *bridge.Opening) { o.Timeout.State, o.AfterHold.State = bridge.StatePending, bridge.StateExpired },
		func(o *bridge.Opening) { o.Interaction.Destinations = nil },
		func(o *bridge.Opening) {
			o.Interaction.Steps = []bridge.Step{{After: bridge.Duration(time.Second), Remind: true}}
		},
	}
	stop := func(p *pair) {
		p.both("a stop", func(s *side) (any, error) {
			return s.PutStop(t.Context(), bridge.Stop{Agent: "a", Session: "s", At: p.now})
		})
	}
	older := func(p *pair) {
		p.both("a key of an older version", func(s *side) (any, error) {
			return s.client.Set(t.Context(), s.core.keys.plainIdem(0, "a", "k"), "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f00|v:1", time.Hour).Result()
		})
	}
	for n := range 1 << len(values) {
		if n&(n-1) != 0 && n%73 != 0 { // each value alone, and some together
			continue
		}
		t.Run(fmt.Sprintf("%b", n), func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			next := func() bridge.Opening {
				return p.usual(func(o *bridge.Opening) {
					o.Interaction.Agent = "a"
					for k, set := range values {
						if n&(1<<k) != 0 {
							set(o)
						}
					}
				})
			}
			first := next()
			p.store(first)
			if p.plain.calls.seen["open false"] != 1 {
				t.Errorf("the usual case is slow: %v", p.plain.calls.seen)
			}
			p.store(first)
			p.store(next())
			other := next()
			other.RequestDigest = "v:2"
			p.store(other)
			p.pass(time.Second)
			p.claims()
			stop(p)
			p.store(next())
			fresh := newPair(t)
			fresh.t = t
			older(fresh)
			o := next()
			fresh.store(o)
			fresh.pass(bridge.MaxTimeout)
			fresh.both("what is due", func(s *side) (any, error) {
				over, _, err := s.Expire(t.Context(), 10)
				return over, err
			})
		})
	}
}
