package broker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
)

type thing struct {
	N    int    `json:"n"`
	Text string `json:"text,omitempty"`
}

var things = broker.NewDocs[thing]("test-thing", 2)

func add(v *thing, _ *broker.Doc) (broker.Change, error) { v.N++; return broker.Change{}, nil }

// TestUpdate checks that an update counts once, although others change the document at
// the same time, and which documents it replaces.
func TestUpdate(t *testing.T) {
	t.Parallel()
	ctx, seals := t.Context(), broker.NewSeals([]byte("key"))
	s := memory.New(seals)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if _, err := things.Update(ctx, s, "a", add); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	v, d, err := things.Get(ctx, s, "a")
	if v.N != 160 || err != nil || d.Format != 2 {
		t.Errorf("it is %+v in %+v, %v", v, d, err)
	}
	refuse := func(err error) func(*thing, *broker.Doc) (broker.Change, error) {
		return func(v *thing, _ *broker.Doc) (broker.Change, error) { v.N = 0; return broker.Change{}, err }
	}
	other := errors.New("no")
	if _, err := things.Update(ctx, s, "a", refuse(broker.ErrUnchanged)); err != nil {
		t.Error(err)
	}
	if _, err := things.Update(ctx, s, "a", refuse(other)); !errors.Is(err, other) {
		t.Error(err)
	}
	if v, _, _ := things.Get(ctx, s, "a"); v.N != 160 {
		t.Errorf("it was changed to %+v", v)
	}
	d.Format = 3
	if _, err := s.Do(ctx, broker.Change{Put: []broker.Doc{d}}); err != nil {
		t.Fatal(err)
	}
	_, err = things.Update(ctx, s, "a", add)
	if _, newer := errors.AsType[*broker.NewerError](err); !newer {
		t.Errorf("one of a newer nod: %v", err)
	}
	if _, err := things.Update(ctx, s, "b", add); err != nil {
		t.Fatal(err)
	}
	seals.Use([][]byte{[]byte("other")}) // nothing verifies any longer
	_, _, err = things.Get(ctx, s, "b")
	if _, forged := errors.AsType[*broker.ForgedError](err); !forged {
		t.Errorf("a forged one: %v", err)
	}
	var refused int
	if out, err := things.List(ctx, s, []string{"b", "none"}, func(error) { refused++ }); len(out) != 0 || refused != 1 || err != nil {
		t.Errorf("the list is %v, %d refused, %v", out, refused, err)
	}
	if _, err := things.Update(ctx, s, "b", add); err != nil { // the document counts as missing
		t.Fatal(err)
	}
	if out, err := things.List(ctx, s, []string{"b"}, nil); err != nil || !slices.Equal(out, []thing{{N: 1}}) {
		t.Errorf("the list is %v, %v", out, err)
	}
}

// TestUpdateForged checks that if two updates replace a document that does not
// verify, the second one starts again with the document of the first one.
func TestUpdateForged(t *testing.T) {
	t.Parallel()
	ctx, seals := t.Context(), broker.NewSeals([]byte("key"))
	s := memory.New(seals)
	if _, err := things.Update(ctx, s, "a", add); err != nil {
		t.Fatal(err)
	}
	seals.Use([][]byte{[]byte("other")})
	var seen []int
	_, err := things.Update(ctx, s, "a", func(v *thing, d *broker.Doc) (broker.Change, error) {
		seen = append(seen, v.N)
		if len(seen) == 1 {
			if _, err := things.Update(ctx, s, "a", add); err != nil {
				t.Fatal(err)
			}
		}
		return add(v, d)
	})
	if v, _, _ := things.Get(ctx, s, "a"); err != nil || v.N != 2 || !slices.Equal(seen, []int{0, 1}) {
		t.Errorf("it is %+v, and the rule saw %v: %v", v, seen, err)
	}
}

// TestWith checks that a change with another one has the conditions of both, and that
// the entries of its documents stay the same.
func TestWith(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.UnixMilli(int64(n)) }
	one := broker.Entry{Fields: []string{"a", "1"}}
	a := broker.Change{From: at(1), Until: at(9), Journal: []broker.Entry{one}, Put: []broker.Doc{{Noted: 1}}, Urgent: true}
	b := broker.Change{From: at(2), Until: at(5), Journal: []broker.Entry{one, one}, Put: []broker.Doc{{Noted: 2}, {}}, Replicated: true}
	for _, c := range []broker.Change{a.With(b), b.With(a)} {
		if !c.From.Equal(at(2)) || !c.Until.Equal(at(5)) || len(c.Journal) != 3 || !c.Urgent || !c.Replicated {
			t.Errorf("it is %+v", c)
		}
	}
	noted := func(c broker.Change) (out []int) {
		for _, d := range c.Put {
			out = append(out, d.Noted)
		}
		return out
	}
	if got := fmt.Sprint(noted(a.With(b)), noted(b.With(a))); got != "[1 3 0] [2 0 3]" {
		t.Errorf("the entries are %s", got)
	}
	if c := (broker.Change{}).With(a); !c.Until.Equal(at(9)) || c.Empty() || !(broker.Change{If: []broker.Version{{}}}).Empty() {
		t.Errorf("it is %+v", c)
	}
	if name, queue := (broker.Job{Name: broker.InQueue("a:b:1", "q")}).Parts(); name != "a:b:1" || queue != "q" {
		t.Errorf("the parts are %q, %q", name, queue)
	}
}

// TestRetry checks how often a change is retried if others change its
// documents, however long an attempt takes.
func TestRetry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes       time.Duration
		least, most int
	}{
		"a fast store":              {time.Millisecond, 9, 200},
		"a store that takes longer": {400 * time.Millisecond, 8, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, began := 0, time.Now()
				err := broker.Retry(t.Context(), func() error {
					calls++
					time.Sleep(c.takes)
					return &broker.Stale{}
				})
				if !errors.As(err, new(*broker.Stale)) || calls < c.least || calls > c.most || time.Since(began) < time.Second {
					t.Errorf("%d calls in %s: %v", calls, time.Since(began), err)
				}
			})
		})
	}
	over, end := context.WithCancel(t.Context())
	end()
	calls := 0
	if err := broker.Retry(over, func() error { calls++; return &broker.Stale{} }); !errors.Is(err, context.Canceled) || calls > 2 {
		t.Errorf("after the end of the context: %d calls, %v", calls, err)
	}
}
