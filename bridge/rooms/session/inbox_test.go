package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// boxes is the inbox of the session s of the agent ci.
type boxes struct {
	*testing.T
	*session.Inbox
	store *stored.Store
}

func newBoxes(t *testing.T, s *stored.Store) boxes {
	return boxes{t, session.NewInbox(s.Documents(), s), s}
}

// says sends a message from a person, and returns its ID.
func (b boxes) says(text string) string {
	b.Helper()
	return stored.Must[bridge.Steering](b.T)(b.Put(b.Context(), bridge.Steering{Agent: "ci", Session: "s", Text: text}, "")).ID
}

// asks opens and defers a request.
func (b boxes) asks(change func(*bridge.Interaction)) bridge.ID {
	b.Helper()
	id := stored.Open(b.T, b.store, func(i *bridge.Interaction) {
		if i.Session = "s"; change != nil {
			change(i)
		}
	}).Interaction.ID
	stored.Must[bridge.Record](b.T)(b.store.Mark(b.Context(), id, life.Deferred{Hold: time.Hour}))
	return id
}

// answers opens and defers a request, and answers it late. It returns the ID.
func (b boxes) answers() string {
	b.Helper()
	id := b.asks(nil)
	b.decides(id)
	return string(id)
}

// decides approves a request.
func (b boxes) decides(id bridge.ID) {
	b.Helper()
	if _, won, err := b.store.Resolve(b.Context(), stored.Yes(id, "ana")); err != nil || !won {
		b.Fatal(won, err)
	}
}

func ids(all []bridge.Message) (out []string) {
	for _, m := range all {
		out = append(out, m.ID)
	}
	return out
}

// reads checks what a reader of late answers gets.
func (b boxes) reads(want ...string) {
	b.Helper()
	if d := cmp.Diff(want, ids(stored.Must[[]bridge.Message](b.T)(b.Messages(b.Context(), "ci", "s"))), cmpopts.EquateEmpty()); d != "" {
		b.Errorf("the reader of late answers gets %s", d)
	}
}

// takes checks what a named reader gets. An empty name is a peek.
func (b boxes) takes(reader string, want ...string) {
	b.Helper()
	t := bridge.Taking{Agent: "ci", Session: "s", Reader: reader, Lease: time.Minute}
	if d := cmp.Diff(want, ids(stored.Must[[]bridge.Message](b.T)(b.Take(b.Context(), t)))); d != "" {
		b.Errorf("%q gets %s", reader, d)
	}
}

// acknowledges acknowledges messages through the given one.
func (b boxes) acknowledges(through string) {
	b.Helper()
	stored.Must[int](b.T)(b.Acknowledge(b.Context(), "ci", "s", through))
}

// TestOneOrder checks that late answers and messages from people have one order,
// and that each waits until its agent acknowledges it.
func TestOneOrder(t *testing.T) {
	t.Parallel()
	stored.Each(t, func(t *testing.T, daemon stored.Opener) {
		a, b := newBoxes(t, daemon("a")), newBoxes(t, daemon("b"))
		var want []string
		for range 3 {
			want = append(want, a.answers(), b.says("x"), b.answers(), a.says("y"))
		}
		a.decides(stored.Open(t, a.store, func(i *bridge.Interaction) { i.Session = "s" }).Interaction.ID) // the caller waits
		a.reads(want...)
		b.reads(want...)
		for n, through := range want {
			daemons := []boxes{a, b}
			daemons[n%2].acknowledges(through)
			daemons[n%2].acknowledges(through) // the caller repeats the call
			b.reads(want[n+1:]...)
		}
		for _, other := range [][2]string{{"ci", "other"}, {"other", "s"}} {
			if all := stored.Must[[]bridge.Message](t)(a.Messages(t.Context(), other[0], other[1])); len(all) != 0 {
				t.Errorf("%v reads %v", other, ids(all))
			}
		}
	})
}

// TestCovered checks that an acknowledgment covers only the messages that its
// reader was given, so that none is lost.
func TestCovered(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(b boxes){
		"a named reader gets no late answers": func(b boxes) {
			late, text := b.answers(), b.says("x")
			b.takes("hook", text)
			b.acknowledges(text)
			b.reads(late)
		},
		"a reader of late answers gets no reserved messages": func(b boxes) {
			text, late := b.says("x"), b.answers()
			b.takes("hook", text)
			more, last := b.says("y"), b.answers() // the lease covers it as well
			b.reads(late, last)
			stored.Pass(b.T, 2*time.Minute) // the hook has died
			b.acknowledges(last)
			b.takes("other", text, more)
		},
		"a slow reader": func(b boxes) {
			first := b.says("x")
			b.takes("slow", first)
			stored.Pass(b.T, 2*time.Minute)
			second := b.says("y")
			b.takes("other", first, second)
			b.acknowledges(first)
			b.takes("other", second)
		},
		"a reader of late answers acknowledges both": func(b boxes) {
			text, late, last := b.says("x"), b.answers(), b.says("y")
			b.reads(text, late, last)
			b.acknowledges(last)
			b.reads()
		},
		"a slow reader, and a reader of late answers that was cut": func(b boxes) {
			late, text := b.answers(), b.says("x")
			b.takes("slow", text)
			stored.Pass(b.T, 2*time.Minute)
			b.reads(late, text)
			b.acknowledges(text) // by the slow one
			b.reads(late)
			b.acknowledges(late)
			b.reads()
		},
		"a reader of late answers that was slow": func(b boxes) {
			late, text, last := b.answers(), b.says("x"), b.answers()
			b.reads(late, text, last)
			b.takes("hook", text)
			b.acknowledges(last)
			b.takes("hook", text)
			b.acknowledges(text)
			b.reads()
		},
		"a peek reserves nothing": func(b boxes) {
			late, text := b.answers(), b.says("x")
			b.takes("", text)
			b.takes("hook", text)
			b.takes("")
			b.acknowledges(text)
			b.reads(late)
		},
		"what someone only peeked at": func(b boxes) {
			late, text := b.answers(), b.says("x")
			b.takes("", text)
			b.acknowledges(text)
			b.reads(late)
		},
		"a message that no longer waits": func(b boxes) {
			text := b.says("x")
			b.takes("hook", text)
			b.acknowledges(text)
			next, late := b.says("y"), b.answers()
			b.acknowledges(text)
			b.reads(next, late)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored.Bubble(t, func(t *testing.T, daemon stored.Opener) { check(newBoxes(t, daemon("n"))) })
		})
	}
}

// TestClocks checks that the order does not depend on the clocks of daemons and
// masters.
func TestClocks(t *testing.T) {
	t.Parallel()
	now, seals := time.Now(), broker.NewSeals([]byte("key"))
	b := newBoxes(t, stored.On(t, memory.NewAt(seals, func() time.Time { return now }), seals, core.Options{Node: "n"}))
	for _, back := range []time.Duration{0, time.Second, time.Minute} { // within one millisecond, and after a failover
		var want []string
		for range 3 {
			want = append(want, b.says("x"), b.answers())
			now = now.Add(-back)
		}
		b.reads(want...)
		b.acknowledges(want[3])
		b.reads(want[4:]...)
		now = now.Add(-back)
		last := b.answers()
		b.acknowledges(want[3])
		b.reads(append(want[4:], last)...)
		b.acknowledges(last)
		b.reads()
	}
	// An answer whose record is gone leaves the inbox.
	b.answers()
	now = now.Add(core.DefaultRetention + 2*time.Hour)
	left := b.answers()
	b.reads(left)
	if all := stored.Must[[]broker.Member](t)(b.store.DB.Range(t.Context(), broker.Query{Index: life.InboxIndex("ci", "s")})); len(all) != 1 {
		t.Errorf("the index has %v", all)
	}
}

// racing is a database that another caller changes just before the next change.
type racing struct {
	broker.Store
	first *func()
}

// Do implements broker.Store.
func (r racing) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if first := *r.first; first != nil {
		*r.first = nil
		first()
	}
	return r.Store.Do(ctx, c)
}

// TestClosedInbox checks that no reader gets a message of a stopped session, that
// no one can send one to a session that is stopped or has finished, even at the
// same time, and that nothing is lost.
func TestClosedInbox(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stopped", "finished"} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", how, late), func(t *testing.T) {
				t.Parallel()
				seals, first := broker.NewSeals([]byte("key")), new(func())
				b, ctx := newBoxes(t, stored.On(t, racing{memory.New(seals), first}, seals, core.Options{Node: "n"})), t.Context()
				stops, reports := session.NewStops(b.store.Documents()), session.NewReports(b.store.Documents())
				text, answer := b.says("x"), b.answers()
				closes := func() {
					if how == "stopped" {
						stored.Must[bridge.Stop](t)(stops.Put(ctx, bridge.Stop{Agent: "ci", Session: "s"}))
						return
					}
					_, _, err := reports.PutReport(ctx, "ci", "s", bridge.SessionReport{State: bridge.SessionFinished})
					stored.NoError(t, err)
				}
				while := func() { // closes the session before the next call, or while it runs
					if *first = closes; !late {
						*first = nil
						closes()
					}
				}
				while()
				if _, err := b.Put(ctx, bridge.Steering{Agent: "ci", Session: "s", Text: "y"}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
					t.Errorf("a message: %v", err)
				}
				if how == "stopped" {
					stored.Must[bool](t)(stops.Drop(ctx, "ci", "s", bridge.Actor{}))
					while()
					b.takes("hook")
					b.takes("")
					b.reads()
					stored.Must[bool](t)(stops.Drop(ctx, "ci", "s", bridge.Actor{}))
				}
				b.takes("hook", text)
				b.reads(answer)
			})
		}
	}
}

// TestForgedIndex checks that a changed index adds nothing to an inbox, and does
// not change the order of the messages from people.
func TestForgedIndex(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b, ctx := newBoxes(t, daemon("n")), t.Context()
		done, read := b.answers(), b.says("read")
		b.reads(done, read)
		b.acknowledges(read)
		open := b.asks(nil) // pending
		direct := stored.Open(t, b.store, func(i *bridge.Interaction) { i.Session = "s" }).Interaction.ID
		b.decides(direct)
		elsewhere := stored.Must[bridge.Steering](t)(b.Put(ctx, bridge.Steering{Agent: "other", Session: "s", Text: "rm"}, "")).ID
		theirs := stored.Open(t, b.store, func(i *bridge.Interaction) { i.Agent, i.Session = "other", "s" }).Interaction.ID
		stored.Must[bridge.Record](t)(b.store.Mark(ctx, theirs, life.Deferred{Hold: time.Hour}))
		b.decides(theirs)
		first, late, second := b.says("first"), b.answers(), b.says("second")
		c := broker.Change{}
		for _, name := range []string{done, read, string(open), string(direct), elsewhere, string(theirs), "m-1", "", "x\x00y"} {
			c.Set = append(c.Set, broker.Member{Index: life.InboxIndex("ci", "s"), Name: name, At: b.store.DB.Now().Add(-time.Hour)})
		}
		c.Set = append(c.Set, broker.Member{Index: life.InboxIndex("ci", "s"), Name: second, At: b.store.DB.Now().Add(-2 * time.Hour)})
		stored.Must[broker.Done](t)(b.store.DB.Do(ctx, c))
		b.takes("hook", first, second)
		b.acknowledges(second)
		b.reads(late)
		b.acknowledges(late)
		b.reads()
		if all := stored.Must[[]broker.Member](t)(b.store.DB.Range(ctx, broker.Query{Index: life.InboxIndex("ci", "s")})); len(all) != 0 {
			t.Errorf("the index has %v", all)
		}
	})
}

// failing is a database whose n-th call fails, before or after it has an effect.
type failing struct {
	broker.Store
	left  *int
	after bool
}

var errDown = errors.New("the database is down")

func (f failing) fails() bool { *f.left--; return *f.left == 0 }

// Get implements broker.Store.
func (f failing) Get(ctx context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	if f.fails() {
		return nil, errDown
	}
	return f.Store.Get(ctx, keys...)
}

// Range implements broker.Store.
func (f failing) Range(ctx context.Context, q broker.Query) ([]broker.Member, error) {
	if f.fails() {
		return nil, errDown
	}
	return f.Store.Range(ctx, q)
}

// Do implements broker.Store.
func (f failing) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if !f.fails() {
		return f.Store.Do(ctx, c)
	}
	if f.after { // the reply is lost
		if _, err := f.Store.Do(ctx, c); err != nil {
			return broker.Done{}, err
		}
	}
	return broker.Done{}, errDown
}

// TestFailingStore checks that a call of the database that fails loses no message,
// and that a caller who repeats its call gets each message once.
func TestFailingStore(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for n := 1; n <= 25; n++ {
			stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
				left, seals := 0, broker.NewSeals([]byte("key"))
				s := stored.On(t, failing{memory.New(seals), &left, after}, seals, core.Options{Node: "n"})
				b, ctx := newBoxes(t, s), t.Context()
				late := b.answers()
				left = n
				again := func(what string, do func() error) {
					t.Helper()
					if err := do(); err != nil {
						if !errors.Is(err, errDown) {
							t.Errorf("call %d of the database: %s: %v", n, what, err)
						}
						stored.NoError(t, do())
					}
				}
				var text string
				again("send", func() error {
					got, err := b.Put(ctx, bridge.Steering{Agent: "ci", Session: "s", Text: "x"}, "key")
					text = got.ID
					return err
				})
				var all []bridge.Message
				again("read", func() (err error) { all, err = b.Messages(ctx, "ci", "s"); return err })
				if d := cmp.Diff([]string{late, text}, ids(all)); d != "" {
					t.Errorf("call %d of the database: the reader gets %s", n, d)
				}
				again("acknowledge", func() error { _, err := b.Acknowledge(ctx, "ci", "s", text); return err })
				again("read", func() (err error) { all, err = b.Messages(ctx, "ci", "s"); return err })
				left = 0
				r := stored.Must[bridge.Record](t)(s.Load(ctx, bridge.ID(late)))
				got := stored.Must[bridge.Steering](t)(b.Steering(ctx, "s", text))
				if len(all) != 0 || r.Delivered.IsZero() || got.Fate != bridge.FateDelivered {
					t.Errorf("call %d of the database: left %v, delivered %s, %s", n, ids(all), r.Delivered, got.Fate)
				}
			})
		}
	}
}

// TestNames checks that the inboxes of agents and sessions with odd names are
// apart, and that a malformed acknowledgment has no effect.
func TestNames(t *testing.T) {
	t.Parallel()
	b, ctx := newBoxes(t, stored.InMemory(t, nil, nil)), t.Context()
	owners := [][2]string{{"ci", "s"}, {"ci", "s:t"}, {"ci:s", "t"}, {"ci", "s\nt"}, {"ci", "s/t"}, {"ci", "\u202es"}, {"c", "is"}}
	sent := map[string]bool{}
	for _, o := range owners {
		id := stored.Must[bridge.Steering](t)(b.Put(ctx, bridge.Steering{Agent: o[0], Session: o[1], Text: "x"}, "key")).ID
		if sent[id] {
			t.Errorf("%q has the message of another session", o)
		}
		sent[id] = true
	}
	for _, o := range owners {
		if all := stored.Must[[]bridge.Message](t)(b.Messages(ctx, o[0], o[1])); len(all) != 1 || all[0].Session != o[1] {
			t.Errorf("%q gets %v", o, all)
		}
	}
	for _, through := range []string{"", "x", "1-1", strings.Repeat("x", 1<<20)} {
		if _, err := b.Acknowledge(ctx, "ci", "s", through); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("through %.10q: %v", through, err)
		}
	}
}

// TestManyLate checks that an agent can read and acknowledge many late
// answers, and that people can still write to it.
func TestManyLate(t *testing.T) {
	t.Parallel()
	b := newBoxes(t, stored.InMemory(t, nil, nil))
	want := map[string]bool{}
	for range 250 {
		want[b.answers()] = true
	}
	text := b.says("x")
	b.takes("hook", text)
	b.acknowledges(text)
	for len(want) > 0 {
		all := stored.Must[[]bridge.Message](t)(b.Messages(t.Context(), "ci", "s"))
		if len(all) == 0 {
			t.Fatalf("%d are lost", len(want))
		}
		for _, m := range all {
			delete(want, m.ID)
		}
		b.acknowledges(all[len(all)-1].ID)
	}
	b.reads()
}

// TestUntold checks that the author of each message is told once of each outcome,
// even if the index of the session lost the message, or a newer daemon wrote
// another one.
func TestUntold(t *testing.T) {
	t.Parallel()
	stored.Bubble(t, func(t *testing.T, daemon stored.Opener) {
		b, ctx := newBoxes(t, daemon("n")), t.Context()
		taken, lost, left := b.says("x"), b.says("y"), b.says("z")
		c := broker.Change{
			Put:   []broker.Doc{{Key: broker.Key{Kind: "message", ID: "m-newer"}, Format: 99, Value: []byte(`{}`)}},
			Set:   []broker.Member{{Index: "untold", Name: "m-newer", At: b.store.DB.Now().Add(-time.Hour)}},
			Unset: []broker.Member{{Index: life.InboxIndex("ci", "s"), Name: lost}},
		}
		stored.Must[broker.Done](t)(b.store.DB.Do(ctx, c))
		tells := func(want map[string]bridge.Fate) {
			t.Helper()
			got := map[string]bridge.Fate{}
			for range 2 { // the second finds nothing, because the first has a lease
				for _, s := range stored.Must[[]bridge.Steering](t)(b.Untold(ctx, 10, time.Minute)) {
					got[s.ID] = s.Fate
					s.Told = s.Fate
					stored.NoError(t, b.Told(ctx, s))
				}
			}
			if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("the authors are told %s", d)
			}
		}
		tells(nil)
		b.takes("hook", taken, left)
		b.acknowledges(taken)
		tells(map[string]bridge.Fate{taken: bridge.FateDelivered})
		stored.Pass(t, time.Minute)
		tells(map[string]bridge.Fate{lost: bridge.FateWaiting, left: bridge.FateWaiting})
		stored.Pass(t, bridge.SteeringTTL)
		tells(map[string]bridge.Fate{lost: bridge.FateExpired, left: bridge.FateExpired})
		b.takes("hook")
	})
}
