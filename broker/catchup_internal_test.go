package broker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// hubOf returns a hub with one waiter for each of n interactions.
func hubOf(h *hub, n int) (ids []bridge.ID, leave map[bridge.ID]func() bool) {
	leave = map[bridge.ID]func() bool{}
	for range n {
		id := newID()
		ids = append(ids, id)
		ch := make(sleeper, 1)
		h.enter(id, ch)
		leave[id] = func() bool { return h.remove(id, ch) }
	}
	return ids, leave
}

// TestSweepSkipsNone checks that a round of the sweep reads every interaction
// that is waited for during the whole round, while others come and go.
func TestSweepSkipsNone(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	for range 200 {
		h := newHub(&core{})
		ids, leave := hubOf(h, 1+r.IntN(300))
		h.swept = len(ids)
		read := map[bridge.ID]bool{}
		for rounds := 0; h.swept > 0; rounds++ {
			for _, id := range h.next(1 + r.IntN(40)) {
				read[id] = true
			}
			for range r.IntN(20) {
				id := ids[r.IntN(len(ids))]
				if leave[id] != nil {
					leave[id]()
					leave[id] = nil
				}
			}
			hubOf(h, r.IntN(10))
			if rounds > 1000 {
				t.Fatal("the round does not end")
			}
		}
		for _, id := range ids {
			if leave[id] != nil && !read[id] {
				t.Fatalf("%s was not read", id)
			}
		}
	}
}

// TestSweepIsBounded checks that the number of states that are read in an
// interval does not grow with the number of callers.
func TestSweepIsBounded(t *testing.T) {
	t.Parallel()
	for waiting, want := range map[int]int{0: 0, 1: 1, 30: 1, 31: 2, 3000: 100, 60_000: sweepMost} {
		h := newHub(&core{})
		hubOf(h, waiting)
		if got := h.share(); got != want {
			t.Errorf("with %d callers, %d states are read, want %d", waiting, got, want)
		}
	}
}

// fails makes commands fail while it is set.
type fails struct{ atomic.Bool }

func (f *fails) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f *fails) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !f.Load() {
			return next(ctx, cmd)
		}
		return f.fail(cmd)
	}
}

func (f *fails) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if !f.Load() {
			return next(ctx, cmds)
		}
		return f.fail(cmds...)
	}
}

func (f *fails) fail(cmds ...redis.Cmder) error {
	err := errors.New("the server is loading")
	for _, c := range cmds {
		c.SetErr(err)
	}
	return err
}

// TestSweep checks that the sweep wakes the callers whose interaction has ended
// although they were not told, and nobody else: neither the callers of pending
// interactions, nor all callers while the server does not answer.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := newSide(t, time.Now())
	down := &fails{}
	s.client.AddHook(down)
	pending, over, gone := s.stored(t), s.stored(t), newID()
	s.server.HSet(s.core.keys.record(over), fieldState, string(bridge.StateApproved))
	h := s.hub
	woken := map[bridge.ID]sleeper{}
	for _, id := range []bridge.ID{pending, over, gone} {
		woken[id] = make(sleeper, 1)
		h.enter(id, woken[id])
	}
	down.Store(true)
	h.round(t.Context())
	for id, ch := range woken {
		if len(ch) > 0 {
			t.Errorf("%s was woken by a server that does not answer", id)
		}
	}
	down.Store(false)
	h.round(t.Context())
	if len(woken[pending]) != 0 || len(woken[over]) != 1 || len(woken[gone]) != 1 {
		t.Errorf("woken: pending %d, over %d, gone %d", len(woken[pending]), len(woken[over]), len(woken[gone]))
	}
}

// TestCatchUp checks that callers who were not told are woken from the journal,
// whether little or much has happened, and that a position is
// kept while the server does not answer.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]int{"quiet": 0, "as many as are read": quietEvents - 1, "busy": 5 * quietEvents} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSide(t, time.Now())
			down := &fails{}
			s.client.AddHook(down)
			h := s.hub
			pending, over := s.stored(t), s.stored(t)
			woken := map[bridge.ID]sleeper{}
			for _, id := range []bridge.ID{pending, over} {
				woken[id] = make(sleeper, 1)
				h.enter(id, woken[id])
			}
			const since = "0-0"
			h.mu.Lock()
			h.since = since
			h.mu.Unlock()
			for range others {
				s.stored(t)
			}
			s.server.HSet(s.core.keys.record(over), fieldState, string(bridge.StateApproved))
			if _, err := s.server.XAdd(s.core.keys.journal(), "*", []string{"t", string(bridge.EventResponse), "i", string(over)}); err != nil {
				t.Fatal(err)
			}
			at := func() string {
				h.mu.Lock()
				defer h.mu.Unlock()
				return h.since
			}
			down.Store(true)
			h.readEvents(t.Context(), since)
			if len(woken[over]) > 0 || at() != since {
				t.Errorf("it went on to %s although the server does not answer", at())
			}
			down.Store(false)
			h.readEvents(t.Context(), since)
			end := s.client.XRevRangeN(t.Context(), s.core.keys.journal(), "+", "-", 1).Val()[0].ID
			if len(woken[over]) != 1 || at() != end {
				t.Errorf("woken %d times, and read until %s of %s", len(woken[over]), at(), end)
			}
			if len(woken[pending]) > 0 {
				t.Error("the caller of a pending request was woken")
			}
		})
	}
}

// TestCatchUpReadsLittle checks that what is read of a busy journal depends on
// the callers that wait, not on what happens, unless they are many.
func TestCatchUpReadsLittle(t *testing.T) {
	t.Parallel()
	s := newSide(t, time.Now())
	s.hub.enter(newID(), make(sleeper, 1))
	for range 10 * quietEvents {
		s.stored(t)
	}
	read := &entriesRead{}
	s.client.AddHook(read)
	s.hub.readEvents(t.Context(), "0-0")
	if n := read.Load(); n > 2*quietEvents {
		t.Errorf("%d entries were read for one caller", n)
	}
	before := read.Load()
	hubOf(s.hub, checkMost)
	s.hub.readEvents(t.Context(), "0-0")
	if n := read.Load() - before; n < 10*quietEvents {
		t.Errorf("only %d entries were read for many callers", n)
	}
}

// entriesRead counts the entries of streams in the replies to commands.
type entriesRead struct{ atomic.Int64 }

func (e *entriesRead) DialHook(next redis.DialHook) redis.DialHook { return next }
func (e *entriesRead) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (e *entriesRead) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if x, ok := cmd.(*redis.XMessageSliceCmd); ok {
			e.Add(int64(len(x.Val())))
		}
		return err
	}
}

// stored opens an interaction.
func (s *side) stored(t *testing.T) bridge.ID {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	o := bridge.Opening{Interaction: bridge.Interaction{
		ID: newID(), Agent: "ci",
		Ask:      bridge.Ask{Kind: bridge.KindApproval, Prompt: "May I?", Approval: &bridge.Approval{Tool: "bash"}},
		Schedule: bridge.Schedule{Created: now, Deadline: now.Add(time.Hour)},
	}}
	if _, _, err := s.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o.Interaction.ID
}

// newID returns an ID.
func newID() bridge.ID {
	id, err := bridge.NewID()
	if err != nil {
		panic(err)
	}
	return id
}
