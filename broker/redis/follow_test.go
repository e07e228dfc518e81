package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	rdb "github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

const journalKey = "nod:{nod}:s:journal"

// note appends an entry to the journal, and returns its ID.
func note(t *testing.T, s broker.Store, value string) string {
	t.Helper()
	done, err := s.Do(t.Context(), broker.Change{Journal: []broker.Entry{{Fields: []string{"a", value}}}})
	if err != nil {
		t.Fatal(err)
	}
	return done.Entries[0]
}

// follower follows a journal.
type follower struct {
	got  chan string // values
	lost atomic.Int32
}

func follow(t *testing.T, s broker.Store, after string) *follower {
	t.Helper()
	f := &follower{got: make(chan string, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Follow(ctx, after, func(all []broker.Entry) {
			for _, e := range all {
				f.got <- e.Get("a")
			}
		}, func() { f.lost.Add(1) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// until waits until a value comes.
func (f *follower) until(t *testing.T, want string) {
	t.Helper()
	for await.Receive(t, want, f.got) != want {
	}
}

// TestFollowLost checks that a follower learns that entries may be missing, once, and
// goes on from the end: after a failover to a journal that lacks some, even if it has
// grown past the position, and after a trim.
func TestFollowLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, c *rdb.Client, s broker.Store){
		"rewound": func(t *testing.T, c *rdb.Client, _ broker.Store) { c.Del(t.Context(), journalKey) },
		"rewound and grown": func(t *testing.T, c *rdb.Client, _ broker.Store) {
			_, err := c.TxPipelined(t.Context(), func(p rdb.Pipeliner) error {
				p.Del(t.Context(), journalKey)
				for n := range 20 {
					p.XAdd(t.Context(), &rdb.XAddArgs{Stream: journalKey, ID: fmt.Sprintf("99999999999999-%d", n), Values: []string{"a", "other"}})
				}
				p.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes") // as a failover does
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		},
		"trimmed": func(t *testing.T, _ *rdb.Client, s broker.Store) {
			if err := s.Trim(t.Context(), broker.Journal, note(t, s, "last")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			s := newStore(t, server.Client(t), redis.Options{})
			first := note(t, s, "first")
			for range 3 {
				note(t, s, "seen")
			}
			f := follow(t, s, first)
			f.until(t, "seen")
			lose(t, server.Client(t), s)
			await.Until(t, "the follower is told", func() bool { return f.lost.Load() > 0 })
			note(t, s, "next")
			f.until(t, "next")
			if n := f.lost.Load(); n != 1 {
				t.Errorf("it was told %d times", n)
			}
		})
	}
}

// deafTo is a hook that refuses to read streams, a number of times.
type deafTo struct {
	left atomic.Int32
	at   chan time.Time // of each refusal
}

func (r *deafTo) DialHook(next rdb.DialHook) rdb.DialHook { return next }

func (r *deafTo) ProcessHook(next rdb.ProcessHook) rdb.ProcessHook { return next }

func (r *deafTo) ProcessPipelineHook(next rdb.ProcessPipelineHook) rdb.ProcessPipelineHook {
	return func(ctx context.Context, cmds []rdb.Cmder) error {
		for _, cmd := range cmds {
			if cmd.Name() == "xread" && r.left.Add(-1) >= 0 {
				r.at <- time.Now()
				cmd.SetErr(errors.New("NOPERM"))
				return cmd.Err()
			}
		}
		return next(ctx, cmds)
	}
}

// TestFollowRests checks that a follower that Redis refuses does not try again at once.
func TestFollowRests(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Client(t)
	r := &deafTo{at: make(chan time.Time, 3)}
	s := newStore(t, c, redis.Options{})
	r.left.Store(3)
	c.AddHook(r)
	f := follow(t, s, note(t, s, "first"))
	last := await.Receive(t, "a refusal", r.at)
	for range 2 {
		next := await.Receive(t, "another one", r.at)
		if d := next.Sub(last); d < 100*time.Millisecond {
			t.Errorf("it tried again after %s", d)
		}
		last = next
	}
	note(t, s, "next")
	f.until(t, "next")
}

// TestFollowThroughFaults checks that a follower misses nothing, and is told of no loss,
// although its connections are cut, or stay open and say nothing.
func TestFollowThroughFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(p *redistest.Proxy) (mend func()){
		"cut":     func(p *redistest.Proxy) func() { p.Cut(); return func() {} },
		"away":    func(p *redistest.Proxy) func() { p.Refuse(true); p.Cut(); return func() { p.Refuse(false) } },
		"stalled": func(p *redistest.Proxy) func() { p.Stall(true); return func() { p.Stall(false) } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			direct := newStore(t, server.Client(t), redis.Options{})
			proxy := redistest.StartProxy(t, server.Addr)
			s := newStore(t, server.Via(t, proxy.Addr), redis.Options{})
			f := follow(t, s, note(t, direct, "first"))
			note(t, direct, "before")
			f.until(t, "before")
			mend := fault(proxy)
			for n := range 10 {
				note(t, direct, fmt.Sprint(n))
			}
			mend()
			for n := range 10 {
				if got := await.Receive(t, "an entry", f.got); got != fmt.Sprint(n) {
					t.Errorf("it is %s, want %d", got, n)
				}
			}
			if f.lost.Load() > 0 {
				t.Error("it was told of a loss")
			}
		})
	}
}
