package brokertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// journal appends n entries, and returns their IDs.
func journal(t *testing.T, s broker.Store, n int) (ids []string) {
	t.Helper()
	for k := range n {
		ids = append(ids, do(t, s, broker.Change{Journal: []broker.Entry{entry(fmt.Sprint(k))}}).Entries...)
	}
	return ids
}

func ids(all []broker.Entry) []string {
	out := []string{}
	for _, e := range all {
		out = append(out, e.ID)
	}
	return out
}

// kept checks which entries a stream has.
func kept(t *testing.T, s broker.Store, st broker.Stream, want []string) {
	t.Helper()
	if got := ids(must[[]broker.Entry](t)(s.Entries(t.Context(), st, "", 100))); !same(got, want) {
		t.Errorf("%s has %v, want %v", st, got, want)
	}
}

// first returns the first n elements, or all if there are fewer.
func first(all []string, n int) []string { return all[:min(n, len(all))] }

var streams = tests{
	"pages": func(t *testing.T, s broker.Store) {
		all := journal(t, s, 7)
		newest := slices.Clone(all)
		slices.Reverse(newest)
		for n := 1; n <= 8; n++ {
			for k := range all {
				if got := ids(must[[]broker.Entry](t)(s.Entries(t.Context(), broker.Journal, all[k], n))); !same(got, first(all[k+1:], n)) {
					t.Errorf("%d entries after entry %d: %v", n, k, got)
				}
				if got := ids(must[[]broker.Entry](t)(s.Newest(t.Context(), broker.Journal, newest[k], n))); !same(got, first(newest[k+1:], n)) {
					t.Errorf("%d entries before entry %d: %v", n, k, got)
				}
			}
			if got := ids(must[[]broker.Entry](t)(s.Newest(t.Context(), broker.Journal, "", n))); !same(got, first(newest, n)) {
				t.Errorf("the newest %d entries: %v", n, got)
			}
		}
		e := must[[]broker.Entry](t)(s.Entries(t.Context(), broker.Journal, "", 1))[0]
		if e.Get("a") != "0" || e.Get("b") != "x" || e.Get("c") != "" || len(e.Fields) != 4 {
			t.Errorf("unexpected entry %+v", e)
		}
		kept(t, s, broker.Archive, []string{})
	},
	"archives": func(t *testing.T, s broker.Store) {
		journal(t, s, 5)
		all := must[[]broker.Entry](t)(s.Entries(t.Context(), broker.Journal, "", 100))
		for _, part := range [][]broker.Entry{all[:2], all[:3], {all[4]}, all[:3], nil} { // entries that the stream already has are ignored
			if err := s.Copy(t.Context(), broker.Archive, part); err != nil {
				t.Fatal(err)
			}
		}
		other := entry("other")
		other.ID = all[1].ID
		for _, part := range [][]broker.Entry{all, {all[3]}, {other}} { // each has an earlier entry that the stream does not have
			err := s.Copy(t.Context(), broker.Archive, part)
			if got, ok := errors.AsType[broker.Passed](err); !ok || got.Stream != broker.Archive || got.ID != all[3].ID && got.ID != other.ID {
				t.Errorf("a copy of an earlier entry: error %v", err)
			}
		}
		kept(t, s, broker.Archive, ids([]broker.Entry{all[0], all[1], all[2], all[4]}))
		if got := must[[]broker.Entry](t)(s.Entries(t.Context(), broker.Archive, all[2].ID, 5)); !same(values(got), []string{"4"}) {
			t.Errorf("the copy is %+v", got)
		}
	},
	"trimming": func(t *testing.T, s broker.Store) {
		all := journal(t, s, 6)
		before := must[broker.Census](t)(s.Census(t.Context(), broker.Journal))
		counts := before.Added != 0 // Redis 6.2 does not
		if before.Last != all[5] || counts && before.Added != 6 {
			t.Errorf("the census is %+v", before)
		}
		for _, n := range []int{1, 0, 1} { // backward, it has nothing to do
			if err := s.Trim(t.Context(), broker.Journal, all[n]); err != nil {
				t.Fatal(err)
			}
			kept(t, s, broker.Journal, all[2:])
		}
		if after := must[broker.Census](t)(s.Census(t.Context(), broker.Journal)); after != before {
			t.Errorf("after a trim, the census is %+v, not %+v", after, before)
		}
		if err := s.Remove(t.Context(), broker.Journal, []string{all[4], all[3], "1-1"}); err != nil {
			t.Fatal(err)
		}
		kept(t, s, broker.Journal, []string{all[2], all[5]})
		if after := must[broker.Census](t)(s.Census(t.Context(), broker.Journal)); counts && (after.Removed != all[4] || after.Added != 6) {
			t.Errorf("after a removal, the census is %+v", after)
		}
		if err := s.Remove(t.Context(), broker.Journal, nil); err != nil {
			t.Error(err)
		}
		if err := s.Trim(t.Context(), broker.Journal, all[5]); err != nil {
			t.Error(err)
		}
		kept(t, s, broker.Journal, []string{})
		next := journal(t, s, 1)
		if kept(t, s, broker.Journal, next); next[0] == all[5] {
			t.Error("an ID is repeated")
		}
	},
	"highest IDs": func(t *testing.T, s broker.Store) {
		odd := []broker.Entry{{ID: "9000-7", Fields: []string{"a", "1"}}, {ID: "9000-9223372036854775807", Fields: []string{"a", "2"}}, {ID: "9001-0", Fields: []string{"a", "3"}}}
		if err := s.Copy(t.Context(), broker.Archive, odd); err != nil {
			t.Fatal(err)
		}
		if err := s.Trim(t.Context(), broker.Archive, odd[1].ID); err != nil {
			t.Fatal(err)
		}
		kept(t, s, broker.Archive, []string{"9001-0"})
	},
	"no stream": func(t *testing.T, s broker.Store) {
		if c := must[broker.Census](t)(s.Census(t.Context(), broker.Journal)); c.Last != "" || c.Added != 0 {
			t.Errorf("the census is %+v", c)
		}
		if all := must[[]broker.Entry](t)(s.Newest(t.Context(), broker.Journal, "", 5)); len(all) != 0 {
			t.Errorf("the newest entries: %v", all)
		}
		if err := s.Trim(t.Context(), broker.Journal, "1-1"); err != nil {
			t.Error(err)
		}
	},
	"following": func(t *testing.T, s broker.Store) {
		before := journal(t, s, 3)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan broker.Entry, 3000)
		follow := func(after string) <-chan struct{} {
			done := make(chan struct{})
			go func() {
				defer close(done)
				s.Follow(ctx, after, func(all []broker.Entry) {
					for _, e := range all {
						got <- e
					}
				}, func() { t.Error("entries may be lost") })
			}()
			return done
		}
		receive := func(want []string) {
			t.Helper()
			for _, id := range want {
				if e := await.Receive(t, "an entry", got); e.ID != id {
					t.Fatalf("got entry %s, want %s", e.ID, id)
				}
			}
		}
		done := follow(before[0])
		receive(before[1:])
		receive(journal(t, s, 20))
		var c broker.Change
		for range 1500 {
			c.Journal = append(c.Journal, entry("many"))
		}
		receive(do(t, s, c).Entries)
		cancel()
		await.Receive(t, "the end of Follow", done)
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		done = follow("") // from the current end
		await.Until(t, "Follow returns entries", func() bool {
			journal(t, s, 1)
			<-time.After(time.Millisecond)
			return len(got) > 0
		})
		if e := <-got; slices.Contains(before, e.ID) || e.Get("a") != "0" {
			t.Errorf("the first entry is %+v", e)
		}
		cancel()
		await.Receive(t, "the end of Follow", done)
	},
}
