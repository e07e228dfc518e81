package core_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// storm lets people click and agents wait on several daemons while faults are injected.
type storm struct {
	t *testing.T
	// open opens a daemon. It may fail while a fault lasts.
	open func(n int) (*stored.Store, error)
	// all adds reads, votes, amendments, follow-ups and grants. A failover may drop what
	// no caller has seen yet, so its history has only decisions and the final states.
	all  bool
	rand *rand.Rand

	mu    sync.Mutex
	nodes []*stored.Store
	asked []asked
	calls int
	done  history
	waits sync.WaitGroup
}

const (
	stormNodes   = 8
	stormCallers = 64
	stormPatient = 20 * time.Second // before the result of a call counts as unknown
	stormLeast   = 10               // interactions that a run must at least open
)

// span returns how long faults are injected.
func span(t *testing.T) time.Duration {
	t.Helper()
	return redistest.ChaosSpan(t, time.Duration(level.Often(3, 1))*time.Second)
}

// run runs the callers during the fault, then lets everything be resolved and checks
// the history.
func (s *storm) run(fault func(ctx context.Context)) {
	t := s.t
	t.Helper()
	s.done.start, s.rand = time.Now(), seed.Rand(t)
	for n := range stormNodes {
		s.nodes = append(s.nodes, s.node(n))
	}
	span := span(t)
	ctx, heal := context.WithTimeout(t.Context(), span+await.Limit)
	defer heal()
	all, end := context.WithTimeout(t.Context(), span+3*await.Limit)
	defer end()
	var wg sync.WaitGroup
	wg.Go(func() { // a busy machine needs longer to get anything done
		for bridge.Pause(ctx, span); s.opened() < stormLeast && bridge.Pause(ctx, 50*time.Millisecond); {
		}
		heal()
	})
	sweeping, swept := context.WithCancel(all)
	for n := range stormNodes {
		s.waits.Go(func() { // as a daemon does
			for bridge.Pause(sweeping, 50*time.Millisecond) {
				_, _, _ = s.at(n).Expire(sweeping, 50) // the next sweep tries again
			}
		})
	}
	for n := range stormCallers {
		wg.Go(func() {
			for bridge.Pause(ctx, time.Duration(s.rand.IntN(60))*time.Millisecond) {
				s.act(all, n)
			}
		})
	}
	wg.Go(func() { fault(ctx) })
	wg.Wait()
	s.finish(all)
	swept()
	s.waits.Wait()
	s.check()
}

// opened returns the number of interactions so far.
func (s *storm) opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func (s *storm) node(n int) *stored.Store {
	for {
		b, err := s.open(n)
		if err == nil {
			return b
		}
		if !bridge.Pause(s.t.Context(), 50*time.Millisecond) { // the database may be unreachable, too
			s.t.Fatal(err)
		}
	}
}

func (s *storm) at(n int) *stored.Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[n%len(s.nodes)]
}

// crash stops a daemon and starts another in its place.
func (s *storm) crash(n int) {
	was, next := s.at(n), s.node(n)
	s.mu.Lock()
	s.nodes[n%len(s.nodes)] = next
	s.mu.Unlock()
	was.Close()
}

// insist repeats a call on one daemon after another until it succeeds, as a persistent
// caller does.
func (s *storm) insist(ctx context.Context, f func(context.Context, *stored.Store) error) error {
	ctx, cancel := context.WithTimeout(ctx, stormPatient)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, 2*time.Second)
		err := f(try, s.at(s.rand.IntN(stormNodes)))
		stop()
		if code := bridge.ErrorCode(err); err == nil || code != bridge.CodeUnavailable && code != bridge.CodeInternal && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if !bridge.Pause(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

// await waits for an interaction as its agent does: if its daemon stops, it waits on
// another one.
func (s *storm) await(ctx context.Context, caller int, a asked) {
	told := callOutput{}
	call := func() callOutput {
		for ctx.Err() == nil {
			rec, err := s.either(ctx, s.at(s.rand.IntN(stormNodes)), a.id)
			if err == nil {
				told = callOutput{known: true, outcome: outcome(*rec)}
				return told
			}
			bridge.Pause(ctx, 10*time.Millisecond)
		}
		return callOutput{}
	}
	if s.all {
		s.done.record(caller, callInput{await: true, id: a.id, family: a.family}, call)
	} else {
		call()
	}
	if !told.known {
		s.t.Errorf("the caller of %s got no response", a.id)
	}
}

// either waits with Await or with AwaitThen.
func (s *storm) either(ctx context.Context, b *stored.Store, id bridge.ID) (*bridge.Record, error) {
	if s.rand.IntN(2) == 0 {
		return core.Await(ctx, b, id)
	}
	o := <-awaitThen(ctx, b, id)
	return o.rec, o.err
}

// outcome returns the cause of a resolution: an actor, a reason or a state.
func outcome(r bridge.Record) string {
	switch {
	case !r.State.Final() || r.Response == nil:
		return outPending
	case r.Response.Actor != nil:
		return r.Response.Actor.User
	case r.State == bridge.StateCancelled:
		return r.Response.Reason
	}
	return string(r.State)
}

// finish resolves everything that is still pending, and waits until every caller has
// its response.
func (s *storm) finish(ctx context.Context) {
	s.mu.Lock()
	all := slices.Clone(s.asked)
	s.mu.Unlock()
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for k := range next {
				s.settle(ctx, stormCallers+k, all[k])
				s.done.record(stormCallers+k, callInput{read: true, id: all[k].id, family: all[k].family}, func() callOutput {
					var rec bridge.Record
					err := s.insist(ctx, func(ctx context.Context, b *stored.Store) (err error) { rec, err = b.Load(ctx, all[k].id); return err })
					return sees(rec, err)
				})
			}
		})
	}
	for k := range all {
		next <- k
	}
	close(next)
	wg.Wait()
}

// check compares the history with the model, and the journal with the resolutions.
func (s *storm) check() {
	t := s.t
	t.Helper()
	s.done.check(t)
	opened, decided := map[bridge.ID]int{}, map[bridge.ID]int{}
	for after := ""; ; {
		page := must[[]broker.Entry](t)(s.at(0).DB.Entries(t.Context(), broker.Journal, after, 1000))
		for _, e := range page {
			after = e.ID
			switch id := bridge.ID(e.Get("i")); {
			case e.Get("t") == string(bridge.EventRequest):
				opened[id]++
			case e.Get("k") == string(bridge.AuditDecision):
				decided[id]++
			}
		}
		if len(page) == 0 {
			break
		}
	}
	for _, a := range s.asked {
		if opened[a.id] != 1 || decided[a.id] != 1 {
			t.Errorf("the journal has %d openings and %d decisions of %s", opened[a.id], decided[a.id], a.id)
		}
	}
	kinds := map[string]int{}
	for _, op := range s.done.ops {
		in, out := op.Input.(callInput), op.Output.(callOutput)
		switch {
		case !out.known:
			kinds[in.kind()+" unknown"]++
		case changed(in, out):
			kinds[in.kind()+" "+out.result]++
		default:
			kinds[in.kind()]++
		}
	}
	t.Logf("%d interactions: %s", len(s.asked), strings.TrimPrefix(fmt.Sprint(kinds), "map"))
	if len(s.asked) < stormLeast {
		t.Error("too few interactions were opened")
	}
}

// crashes replaces daemons one after another.
func (s *storm) crashes(ctx context.Context) {
	every(ctx, 100*time.Millisecond, func() { s.crash(s.rand.IntN(stormNodes)) })
}

// every calls f at an interval until ctx ends. Its errors are dropped, because one
// fault may make another fail.
func every(ctx context.Context, d time.Duration, f func()) {
	for bridge.Pause(ctx, d) {
		f()
	}
}
