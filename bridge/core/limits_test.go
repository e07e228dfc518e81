package core_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// TestMaxPending checks that the pending requests of an agent never exceed the
// limit, even if many are opened at once, and that the limit refuses nothing
// else: neither repeats, nor what no one has to answer, nor the next round of
// one of them.
func TestMaxPending(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		ctx, nodes := t.Context(), []*stored.Store{daemon("a"), daemon("b")}
		s := nodes[0]
		bounded := func(key string, change func(*bridge.Interaction)) life.Opening {
			o := opening(t, key, change)
			o.MaxPending = 3
			return o
		}
		first := bounded("k", nil)
		if _, _, err := s.Open(ctx, first); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var opened, full atomic.Int64
		for n := range 20 {
			o := bounded("", nil)
			all.Go(func() {
				_, created, err := nodes[n%2].Open(ctx, o)
				switch {
				case err == nil && created:
					opened.Add(1)
				case bridge.ErrorCode(err) == bridge.CodeRateLimited:
					full.Add(1)
				default:
					t.Errorf("created %v, %v", created, err)
				}
			})
		}
		if all.Wait(); opened.Load() != 2 || full.Load() != 18 {
			t.Fatalf("%d were opened, and %d refused", opened.Load(), full.Load())
		}
		again := bounded("k", nil)
		if rec, created, err := s.Open(ctx, again); err != nil || created || rec.Interaction.ID != first.Interaction.ID {
			t.Errorf("a repeat: %s, created %v, %v", rec.Interaction.ID, created, err)
		}
		ruled := bounded("", nil)
		ruled.Response = &bridge.Response{State: bridge.StateDenied, Annotations: map[string]bridge.Annotation{}}
		if _, created, err := s.Open(ctx, ruled); err != nil || !created {
			t.Errorf("one that a rule answers: created %v, %v", created, err)
		}
		next := bounded("", func(i *bridge.Interaction) { i.Previous = first.Interaction.ID })
		next.Superseded = bridge.Response{State: bridge.StateSuperseded, Annotations: map[string]bridge.Annotation{}}
		if _, created, err := s.Open(ctx, next); err != nil || !created {
			t.Errorf("the next round: created %v, %v", created, err)
		}
		if _, _, err := s.Open(ctx, bounded("", nil)); bridge.ErrorCode(err) != bridge.CodeRateLimited {
			t.Errorf("one too many: %v", err)
		}
		gone, err := s.Documents().Get(ctx, life.Key(next.Interaction.ID))
		noError(t, err)
		must[broker.Done](t)(s.Documents().Do(ctx, broker.Change{Drop: []broker.Version{gone[0].At()}}))
		last := bounded("", nil)
		if _, created, err := s.Open(ctx, last); err != nil || !created {
			t.Errorf("after the documents of one were lost: created %v, %v", created, err)
		}
		if _, _, err := s.Open(ctx, bounded("", nil)); bridge.ErrorCode(err) != bridge.CodeRateLimited {
			t.Errorf("one too many after that: %v", err)
		}
		approve(t, s, last.Interaction.ID)
		if _, created, err := s.Open(ctx, bounded("", nil)); err != nil || !created {
			t.Errorf("after one was answered: created %v, %v", created, err)
		}
	})
}

// TestStats checks the figures about what is stored.
func TestStats(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		open(t, s, nil)
		if st := must[bridge.Stats](t)(s.Stats(t.Context())); st.Pending != 1 || st.Jobs != 2 || len(st.Ages) != 1 {
			t.Errorf("the figures are %+v", st)
		}
	})
}

// reads counts the documents and members that are read.
type reads struct {
	broker.Store
	n atomic.Int64
}

func (r *reads) Get(ctx context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	r.n.Add(int64(len(keys)))
	return r.Store.Get(ctx, keys...)
}

func (r *reads) Range(ctx context.Context, q broker.Query) ([]broker.Member, error) {
	found, err := r.Store.Range(ctx, q)
	r.n.Add(int64(len(found)))
	return found, err
}

// TestPendingOfLongSession checks that a list of the pending requests of a session reads
// neither all requests that the session ever had, nor those of other sessions.
func TestPendingOfLongSession(t *testing.T) {
	t.Parallel()
	seals := broker.NewSeals()
	db := &reads{Store: memory.New(seals)}
	s := stored.On(t, db, seals, core.Options{})
	inSession := func(i *bridge.Interaction) { i.Session = "long" }
	for range 300 {
		approve(t, s, open(t, s, inSession).Interaction.ID)
		open(t, s, func(i *bridge.Interaction) { i.Session = "busy" })
	}
	want := open(t, s, inSession).Interaction.ID
	db.n.Store(0)
	got := must[[]bridge.ID](t)(s.Pending(t.Context(), "ci", "long"))
	if len(got) != 1 || got[0] != want || db.n.Load() > 10 {
		t.Errorf("the pending requests are %v, after reading %d documents and members", got, db.n.Load())
	}
	open(t, s, func(i *bridge.Interaction) { i.Session = "other" })
	if got := must[[]bridge.ID](t)(s.Pending(t.Context(), "", "long")); len(got) != 1 || got[0] != want {
		t.Errorf("the pending requests of all agents in the session are %v", got)
	}
}
