package core_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms/grant"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// faulty is a database that refuses some changes. It counts what is read.
type faulty struct {
	*memory.Store
	refuses func(broker.Change) bool
	after   func() // what happens after the next read
	read    atomic.Int64
}

// Get implements broker.Store.
func (f *faulty) Get(ctx context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	f.read.Add(int64(len(keys)))
	docs, err := f.Store.Get(ctx, keys...)
	if after := f.after; after != nil {
		f.after = nil
		after()
	}
	return docs, err
}

// Do implements broker.Store.
func (f *faulty) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if f.refuses != nil && f.refuses(c) {
		return broker.Done{}, bridge.Errorf(bridge.CodeUnavailable, "refused")
	}
	return f.Store.Do(ctx, c)
}

// DoAll implements broker.Store.
func (f *faulty) DoAll(ctx context.Context, cs []broker.Change) []broker.Result {
	out := make([]broker.Result, len(cs))
	for n, c := range cs {
		out[n].Done, out[n].Err = f.Do(ctx, c)
	}
	return out
}

// spoiled is a daemon with requests that cannot expire.
type spoiled struct {
	*stored.Store
	db    *faulty
	seals *broker.Seals
	ids   map[string]bool
}

// onFaulty runs a test on a faulty database in this process, in fake time.
func onFaulty(t *testing.T, f func(t *testing.T, s *spoiled)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		seals := broker.NewSeals([]byte("key"))
		db := &faulty{Store: memory.New(seals)}
		f(t, &spoiled{Store: stored.On(t, db, seals, core.Options{}), db: db, seals: seals, ids: map[string]bool{}})
	})
}

// refused reports whether a change is one of the spoiled requests.
func (s *spoiled) refused(c broker.Change) bool {
	for _, d := range c.Put {
		if s.ids[d.ID] {
			return true
		}
	}
	return false
}

// sweep applies deadlines a few times without a delay, some at a time, and returns what
// has ended.
func (s *spoiled) sweep(t *testing.T, some int) (over []core.Expiry, failed error) {
	t.Helper()
	for range 3 {
		some, _, err := s.Expire(t.Context(), some)
		over = append(over, some...)
		failed = errors.Join(failed, err)
	}
	return over, failed
}

// TestBadRequestsDelayNoOthers checks that many requests whose deadlines cannot be
// applied keep theirs, are not read again at once, and do not keep others from
// expiring. They expire once the cause is repaired.
func TestBadRequestsDelayNoOthers(t *testing.T) {
	t.Parallel()
	const bad = 200
	for name, x := range map[string]struct {
		spoil, repair func(t *testing.T, s *spoiled)
	}{
		"the database refuses": {
			spoil:  func(_ *testing.T, s *spoiled) { s.db.refuses = s.refused },
			repair: func(_ *testing.T, s *spoiled) { s.db.refuses = nil },
		},
		"another key": { // the daemon does not have the new one yet
			spoil:  func(_ *testing.T, s *spoiled) { s.seals.Use([][]byte{[]byte("other")}) },
			repair: func(_ *testing.T, s *spoiled) { s.seals.Use([][]byte{[]byte("other"), []byte("key")}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onFaulty(t, func(t *testing.T, s *spoiled) {
				for range bad {
					o := opening(t, "", nil)
					s.ids[string(o.Interaction.ID)] = true
					if _, _, err := s.Open(t.Context(), o); err != nil {
						t.Fatal(err)
					}
				}
				x.spoil(t, s)
				behind := open(t, s, func(i *bridge.Interaction) { i.Deadline = i.Created.Add(2 * time.Minute) }).Interaction.ID
				pass(t, time.Hour)
				some := 1
				if s.db.refuses != nil { // the store may be unreachable: the call ends early
					some = 100
				}
				if over, err := s.sweep(t, some); len(over) != 1 || over[0].ID != behind {
					t.Fatalf("expired: %v, %v", over, err)
				}
				before := s.db.read.Load()
				if over, err := s.sweep(t, 100); len(over) > 0 || err != nil || s.db.read.Load() > before {
					t.Errorf("at once, %d documents are read again: %v, %v", s.db.read.Load()-before, over, err)
				}
				if n := must[int](t)(s.DB.Count(t.Context(), life.Deadlines, time.Time{})); n != bad {
					t.Errorf("%d deadlines are left", n)
				}
				x.repair(t, s)
				pass(t, time.Minute)
				if over, err := s.sweep(t, 100); len(over) != bad || err != nil {
					t.Errorf("after the repair, %d expire: %v", len(over), err)
				}
			})
		})
	}
}

// TestExpiryTellsTheRest checks that a change that the database refuses does
// not hide the changes that were stored in the same call.
func TestExpiryTellsTheRest(t *testing.T) {
	t.Parallel()
	onFaulty(t, func(t *testing.T, s *spoiled) {
		s.ids[string(open(t, s, nil).Interaction.ID)] = true
		pass(t, time.Second) // so it is the first
		other := open(t, s, nil).Interaction.ID
		s.db.refuses = s.refused
		pass(t, time.Hour)
		over, _, err := s.Expire(t.Context(), 100)
		if len(over) != 1 || over[0].ID != other || err == nil {
			t.Errorf("expired: %v, %v", over, err)
		}
	})
}

// TestDeferralsWithoutMemory checks that a database that takes only urgent changes
// applies deadlines that defer requests, too.
func TestDeferralsWithoutMemory(t *testing.T) {
	t.Parallel()
	onFaulty(t, func(t *testing.T, s *spoiled) {
		o := opening(t, "", nil)
		o.Interaction.OnTimeout, o.Interaction.Hold = bridge.OnTimeoutPending, bridge.Duration(time.Hour)
		if _, _, err := s.Open(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		s.db.refuses = func(c broker.Change) bool { return !c.Urgent }
		pass(t, time.Minute)
		over, _, err := s.Expire(t.Context(), 100)
		if len(over) != 1 || over[0].State != bridge.StatePending || err != nil {
			t.Errorf("deferred: %v, %v", over, err)
		}
	})
}

// TestEndLostBeforeDeadlineIsRemoved checks that a request keeps its deadline
// if a failover drops its end after a sweep has read it.
func TestEndLostBeforeDeadlineIsRemoved(t *testing.T) {
	t.Parallel()
	onFaulty(t, func(t *testing.T, s *spoiled) {
		i := open(t, s, nil).Interaction
		was := must[[]broker.Doc](t)(s.db.Get(t.Context(), life.Key(i.ID)))[0]
		approve(t, s, i.ID)
		pass(t, time.Hour) // no one records it again
		_, err := s.db.Do(t.Context(), broker.Change{Set: []broker.Member{{Index: life.Deadlines, Name: was.ID, At: i.Deadline}}})
		noError(t, err)
		s.db.after = func() { lose(t, s.Store, was, i.Deadline) }
		if over, err := s.sweep(t, 1); len(over) != 1 || over[0].State != bridge.StateExpired || err != nil {
			t.Errorf("expired: %v, %v", over, err)
		}
	})
}

// TestChangesLeaveInTime checks that a call ends with its context, although an earlier
// change of the same interaction hangs in the database.
func TestChangesLeaveInTime(t *testing.T) {
	t.Parallel()
	onFaulty(t, func(t *testing.T, s *spoiled) {
		id := open(t, s, nil).Interaction.ID
		hangs := make(chan struct{})
		s.db.refuses = func(broker.Change) bool { <-hangs; return false }
		first := make(chan error, 1)
		go func() {
			_, _, err := s.Resolve(t.Context(), yes(id, "U1"))
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := s.Resolve(ctx, yes(id, "U2")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the second click: %v", err)
		}
		close(hangs)
		noError(t, <-first)
		if rec, won, err := s.Resolve(t.Context(), yes(id, "U3")); err != nil || won || rec.Response.Actor.User != "U1" {
			t.Errorf("the third click: won %v, %v", won, err)
		}
	})
}

// TestJoinsWhileLeaving checks that a request stays open if another caller joins it at
// the moment at which the last one leaves.
func TestJoinsWhileLeaving(t *testing.T) {
	t.Parallel()
	onFaulty(t, func(t *testing.T, s *spoiled) {
		call := func(caller string) bridge.Record {
			o := opening(t, "", nil)
			o.Identity = bridge.CallID{Key: "k", Caller: caller}.Identity("ci", "", "d")
			rec, _, err := s.Open(t.Context(), o)
			noError(t, err)
			return rec
		}
		id := call("a").Interaction.ID
		leaves := func(caller string) bridge.State {
			end := bridge.Response{State: bridge.StateCancelled, Annotations: map[string]bridge.Annotation{}}
			return must[bridge.Record](t)(s.Abandon(t.Context(), id, bridge.CallerName(caller), false, end)).State
		}
		s.db.after = func() { call("b") }
		if got := leaves("a"); got != bridge.StatePending {
			t.Errorf("after a left, it is %s", got)
		}
		if got := leaves("b"); got != bridge.StateCancelled {
			t.Errorf("after both left, it is %s", got)
		}
	})
}

// lose makes a failover lose what came after a version of the life of an interaction.
func lose(t *testing.T, s *stored.Store, was broker.Doc, deadline time.Time) {
	t.Helper()
	was.Next, was.Fresh = was.Version, true
	_, err := s.DB.Do(t.Context(), broker.Change{
		Put: []broker.Doc{was}, Set: []broker.Member{{Index: life.Deadlines, Name: was.ID, At: deadline}},
	})
	noError(t, err)
}

// TestLostBeforeTheDeadline checks that a decision or a vote that a failover lost is
// recorded again, with its time, although the deadline has passed since, unless a
// sweep has applied the deadline before.
func TestLostBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		quorum, swept bool
		want          bridge.State
	}{
		"a decision":                   {want: bridge.StateApproved},
		"a decision, after a sweep":    {swept: true, want: bridge.StateExpired},
		"the last vote":                {quorum: true, want: bridge.StateApproved},
		"the last vote, after a sweep": {quorum: true, swept: true, want: bridge.StateExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, daemon opener) {
				s := daemon("n")
				i := open(t, s, func(i *bridge.Interaction) {
					if x.quorum {
						i.Quorum = 2
					}
				}).Interaction
				if x.quorum {
					vote(t, s, ballot(i.ID, "ana", bridge.StateApproved), core.BallotCounted)
				}
				pass(t, time.Minute-time.Second/2)
				was := must[[]broker.Doc](t)(s.DB.Get(t.Context(), life.Key(i.ID)))[0]
				if x.quorum {
					vote(t, s, ballot(i.ID, "ben", bridge.StateApproved), core.BallotDecided)
				} else {
					approve(t, s, i.ID)
				}
				told := must[bridge.Record](t)(s.Load(t.Context(), i.ID))
				lose(t, s, was, i.Deadline)
				pass(t, 600*time.Millisecond)
				if x.swept {
					if _, _, err := s.Expire(t.Context(), 10); err != nil {
						t.Fatal(err)
					}
				}
				pass(t, 10*time.Second)
				got := must[bridge.Record](t)(s.Load(t.Context(), i.ID))
				if got.State != x.want || !x.swept && (!got.Response.At.Equal(told.Response.At) || got.Receipt != told.Receipt) {
					t.Errorf("it is %s: %+v", got.State, got.Response)
				}
			})
		})
	}
}

// TestStoppedGetsNoDefault checks that the deadline of a request does not answer it with its
// defaults if its session is stopped, although the daemon that stopped the session ended
// before it cancelled the request.
func TestStoppedGetsNoDefault(t *testing.T) {
	t.Parallel()
	sweep := func(t *testing.T, s *spoiled, _ bridge.ID) {
		t.Helper()
		_, err := s.sweep(t, 10)
		noError(t, err)
	}
	for name, x := range map[string]struct {
		session string
		reads   int // number of reads after which the session is stopped
		apply   func(t *testing.T, s *spoiled, id bridge.ID)
		want    bridge.State
	}{
		"a sweep":                        {"s", 0, sweep, bridge.StateExpired},
		"a sweep that has read no stop":  {"s", 2, sweep, bridge.StateExpired},
		"a sweep in another session":     {"other", 0, sweep, bridge.StateAnswered},
		"a sweep for no session":         {"", 0, sweep, bridge.StateAnswered},
		"a caller that leaves":           {"s", 0, leave, bridge.StateExpired},
		"a caller that has read no stop": {"s", 2, leave, bridge.StateExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onFaulty(t, func(t *testing.T, s *spoiled) {
				stop := func() {
					must[bridge.Stop](t)(session.NewStops(s.Documents()).Put(t.Context(), bridge.Stop{Agent: "ci", Session: "s"}))
				}
				id := open(t, s, func(i *bridge.Interaction) {
					i.Kind, i.Approval, i.Session, i.OnTimeout = bridge.KindAsk, nil, x.session, bridge.OnTimeoutDefault
					i.Questions = []bridge.Question{{ID: "q", Widget: bridge.WidgetText, Default: new(bridge.TextAnswer("b"))}}
				}).Interaction.ID
				pass(t, time.Minute)
				switch x.reads {
				case 0:
					stop()
				case 2:
					s.db.after = func() { s.db.after = stop }
				}
				x.apply(t, s, id)
				if got := must[bridge.Record](t)(s.Load(t.Context(), id)); got.State != x.want {
					t.Errorf("it is %s: %+v", got.State, got.Response)
				}
			})
		})
	}
}

// leave makes the only caller of a request leave.
func leave(t *testing.T, s *spoiled, id bridge.ID) {
	t.Helper()
	must[bridge.Record](t)(s.Abandon(t.Context(), id, bridge.Anyone, false, bridge.Response{State: bridge.StateCancelled}))
}

// TestUnreadableJob checks that a job that no daemon can read becomes a dead letter, and
// does not hold up the next one of its queue.
func TestUnreadableJob(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, daemon opener) {
		s := daemon("n")
		for _, name := range []string{"nonsense", "post:x:0"} {
			_, err := s.DB.Do(t.Context(), broker.Change{Request: []broker.Job{{Name: broker.InQueue(name, "q"), Due: s.DB.Now().Add(-time.Second)}}})
			noError(t, err)
		}
		if j := claimAll(t, s, 1)[0]; j.Kind != life.JobPost {
			t.Errorf("the job is %+v", j)
		}
		if got := must[bridge.Stats](t)(s.Stats(t.Context())); got.Dead != 1 || got.Jobs != 1 {
			t.Errorf("the figures are %+v", got)
		}
	})
}

// TestGrantsEndByTheStore checks that grants end by the clock of the store, which ends
// everything, whatever that of the daemon says.
func TestGrantsEndByTheStore(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			seals := broker.NewSeals()
			db := memory.NewAt(seals, func() time.Time { return time.Now().Add(ahead) })
			s := stored.On(t, db, seals, core.Options{})
			must[bool](t)(give(t, s, bridge.Grant{Agent: "ci", Key: "k", Origin: "x", Expires: db.Now().Add(time.Hour)}))
			for _, want := range []int{1, 0} {
				if got := must[[]grant.Held](t)(grant.NewGrants(s.Documents()).Covering(t.Context(), "ci", "", []string{"k"})); len(got) != want {
					t.Errorf("the store is %s ahead: %d grants cover it, want %d", ahead, len(got), want)
				}
				pass(t, time.Hour)
			}
		})
	}
}
