package broker_test

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

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redistest"
)

// chaosShort is how long faults go on in `make test`.
const chaosShort = 3 * time.Second

// storm is a run of callers on several daemons while things break.
type storm struct {
	t      *testing.T
	client func() redis.UniversalClient
	// reads are part of the history. Where a failover may drop what nobody was
	// told yet, only decisions and what stands in the end are.
	reads   bool
	options broker.Options

	mu    sync.Mutex
	nodes []*broker.Broker
	ids   []bridge.ID
	calls int
	done  history
	waits sync.WaitGroup
}

const (
	stormNodes   = 3
	stormCallers = 8
	stormPatient = 20 * time.Second // until a call is given up as unknown
	stormLeast   = 10               // interactions without which nothing was tried
	stormSettle  = 40 * time.Second // until everything stands after the faults
)

// run runs callers while fault breaks things, then lets everything come to its
// end and checks it.
func (s *storm) run(fault func(ctx context.Context)) {
	t := s.t
	t.Helper()
	s.done.start = time.Now()
	for n := range stormNodes {
		s.nodes = append(s.nodes, s.node(n))
	}
	span := redistest.ChaosSpan(t, chaosShort)
	ctx, heal := context.WithTimeout(t.Context(), span+stormSettle)
	defer heal()
	all, end := context.WithTimeout(t.Context(), span+3*stormSettle)
	defer end()
	var wg sync.WaitGroup
	wg.Go(func() { // on a busy machine it takes longer until something was done
		for bridge.Pause(ctx, span); s.opened() < stormLeast && bridge.Pause(ctx, 50*time.Millisecond); {
		}
		heal()
	})
	sweeping, swept := context.WithCancel(all)
	for n := range stormNodes {
		s.waits.Go(func() { // as a daemon does
			for bridge.Pause(sweeping, 20*time.Millisecond) {
				_, _, _ = s.at(n).Expire(sweeping, 50) // tried again in a moment
			}
		})
	}
	for n := range stormCallers {
		wg.Go(func() {
			for bridge.Pause(ctx, time.Duration(rand.IntN(8))*time.Millisecond) {
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

// opened counts the interactions so far.
func (s *storm) opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids)
}

func (s *storm) node(n int) *broker.Broker {
	o := s.options
	o.Client, o.Node = s.client(), fmt.Sprintf("n%d-%d", n, rand.Int())
	for {
		b, err := broker.New(s.t.Context(), o)
		if err == nil {
			s.t.Cleanup(func() { b.Close() })
			return b
		}
		if !bridge.Pause(s.t.Context(), 50*time.Millisecond) { // Redis is unreachable as well
			s.t.Fatal(err)
		}
	}
}

func (s *storm) at(n int) *broker.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[n%len(s.nodes)]
}

// crash ends a daemon, and starts another in its place.
func (s *storm) crash(n int) {
	was := s.at(n)
	next := s.node(n)
	s.mu.Lock()
	s.nodes[n%len(s.nodes)] = next
	s.mu.Unlock()
	was.Close()
}

// some returns an interaction of late; empty if there is none.
func (s *storm) some() bridge.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		return ""
	}
	return s.ids[max(0, len(s.ids)-1-rand.IntN(30))]
}

// act does one thing as a caller.
func (s *storm) act(ctx context.Context, caller int) {
	id, b := s.some(), s.at(rand.IntN(stormNodes))
	switch k := rand.IntN(10); {
	case k < 3 || id == "":
		s.open(ctx, caller, b)
	case k < 6:
		s.settle(ctx, caller, id)
	case s.reads:
		s.done.record(caller, callInput{kind: callRead, id: id}, func() callOutput {
			rec, err := b.Load(ctx, id)
			return callOutput{known: err == nil, outcome: outcome(rec)}
		})
	}
}

func (s *storm) open(ctx context.Context, caller int, b *broker.Broker) {
	o := opening(s.t, b, "", func(i *bridge.Interaction) {
		if rand.IntN(4) == 0 {
			i.Deadline = i.Created.Add(time.Duration(20+rand.IntN(200)) * time.Millisecond)
		}
	})
	id := o.Interaction.ID
	o.Awaited = rand.IntN(2) == 0
	out := s.done.record(caller, callInput{kind: callOpen, id: id}, func() callOutput {
		return callOutput{known: s.insist(ctx, func(ctx context.Context, b *broker.Broker) error { _, _, err := b.Open(ctx, o); return err }) == nil}
	})
	if !out.known {
		return
	}
	s.mu.Lock()
	s.ids = append(s.ids, id)
	n := len(s.ids)
	s.mu.Unlock()
	s.waits.Go(func() { s.await(ctx, stormCallers+n, id) })
}

// insist repeats a call on one daemon or another until it works, as whoever
// wants it done does.
func (s *storm) insist(ctx context.Context, f func(context.Context, *broker.Broker) error) error {
	ctx, cancel := context.WithTimeout(ctx, stormPatient)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, 2*time.Second)
		err := f(try, s.at(rand.IntN(stormNodes)))
		stop()
		if code := bridge.ErrorCode(err); err == nil || code != bridge.CodeUnavailable && code != bridge.CodeInternal && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if !bridge.Pause(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

func (s *storm) settle(ctx context.Context, caller int, id bridge.ID) {
	s.mu.Lock()
	s.calls++
	who := fmt.Sprintf("U%d", s.calls)
	s.mu.Unlock()
	call := yes(id, who)
	if rand.IntN(5) == 0 {
		call.Response = bridge.Response{State: bridge.StateCancelled, Reason: who, Annotations: map[string]bridge.Annotation{}}
	}
	s.done.record(caller, callInput{kind: callSettle, id: id, who: who}, func() callOutput {
		var out callOutput
		err := s.insist(ctx, func(ctx context.Context, b *broker.Broker) error {
			rec, won, err := b.Settle(ctx, call)
			out = callOutput{known: err == nil, won: won, outcome: outcome(rec)}
			return err
		})
		out.known = err == nil
		return out
	})
}

// await waits for an interaction as its agent does: again elsewhere when its
// daemon goes.
func (s *storm) await(ctx context.Context, caller int, id bridge.ID) {
	in := callInput{kind: callAwait, id: id}
	told := callOutput{}
	call := func() callOutput {
		for ctx.Err() == nil {
			rec, err := s.at(rand.IntN(stormNodes)).Await(ctx, id)
			if err == nil {
				told = callOutput{known: true, outcome: outcome(rec)}
				return told
			}
			bridge.Pause(ctx, 10*time.Millisecond)
		}
		return callOutput{}
	}
	if s.reads {
		s.done.record(caller, in, call)
	} else {
		call()
	}
	if !told.known {
		s.t.Errorf("the caller of %s was never told", id)
	}
}

// outcome is who or what ended a record.
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

// finish ends what is still pending, and waits until every caller was told.
func (s *storm) finish(ctx context.Context) {
	began := time.Now()
	s.mu.Lock()
	ids := slices.Clone(s.ids)
	s.mu.Unlock()
	var wg sync.WaitGroup
	next := make(chan int)
	for range stormCallers {
		wg.Go(func() {
			for k := range next {
				s.settle(ctx, stormCallers+k, ids[k])
				s.stands(ctx, stormCallers+k, ids[k])
			}
		})
	}
	for k := range ids {
		next <- k
	}
	close(next)
	wg.Wait()
	if took := time.Since(began); took > stormSettle {
		s.t.Errorf("it took %s until everything had ended", took)
	}
}

// stands reads what an interaction came to.
func (s *storm) stands(ctx context.Context, caller int, id bridge.ID) {
	s.done.record(caller, callInput{kind: callRead, id: id}, func() callOutput {
		var rec bridge.Record
		err := s.insist(ctx, func(ctx context.Context, b *broker.Broker) (err error) { rec, err = b.Load(ctx, id); return err })
		return callOutput{known: err == nil, outcome: outcome(rec)}
	})
}

// check compares the history with the model, and the events and the audit log
// with what ended.
func (s *storm) check() {
	t := s.t
	t.Helper()
	s.done.check(t)
	ctx, cancel := context.WithTimeout(t.Context(), stormSettle)
	defer cancel()
	opened, ended, cursor := map[bridge.ID]int{}, map[bridge.ID]int{}, ""
	for {
		events, next, err := s.at(0).Events(ctx, cursor, bridge.EventFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Type {
			case bridge.EventRequest:
				opened[e.InteractionID]++
			case bridge.EventResponse:
				ended[e.InteractionID]++
			}
			if len(e.Data) == 0 {
				t.Errorf("%s of %s has no data", e.Type, e.InteractionID)
			}
		}
		if cursor = next; len(events) == 0 {
			break
		}
	}
	decided := map[bridge.ID]int{}
	for p := range broker.DefaultPartitions {
		entries, err := s.at(0).AuditEntries(ctx, p, "", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			decided[e.ID]++
		}
	}
	for _, id := range s.ids {
		if opened[id] != 1 || ended[id] != 1 || decided[id] != 1 {
			t.Errorf("%s has %d openings, %d ends and %d entries in the audit log", id, opened[id], ended[id], decided[id])
		}
	}
	kinds := map[string]int{}
	for _, op := range s.done.ops {
		in, out := op.Input.(callInput), op.Output.(callOutput)
		name := in.kind
		if in.kind == callSettle && out.won {
			name = "won"
		}
		if !out.known {
			name += " unknown"
		}
		kinds[name]++
	}
	t.Logf("%d interactions: %s; at worst %s without a success", len(s.ids), strings.Trim(fmt.Sprint(kinds), "map[]"), s.done.outage())
	if len(s.ids) < stormLeast {
		t.Error("hardly anything was done")
	}
}
