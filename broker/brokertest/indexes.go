package brokertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

var indexes = tests{
	"ranges": func(t *testing.T, s broker.Store) {
		t0 := time.UnixMilli(1_800_000_000_000)
		at := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Second) }
		var c broker.Change
		for n, name := range []string{"a", "b", "c", "d", "e"} {
			c.Set = append(c.Set, broker.Member{Index: "x", Name: name, At: at(n)})
		}
		c.Set = append(c.Set, broker.Member{Index: "x", Name: "c2", At: at(2)}, broker.Member{Index: "y", Name: "z", At: at(2)})
		do(t, s, c)
		for _, x := range []struct {
			q    broker.Query
			want string
		}{
			{broker.Query{}, "[a b c c2 d e]"},
			{broker.Query{Newest: true}, "[e d c2 c b a]"},
			{broker.Query{N: 2}, "[a b]"},
			{broker.Query{N: 2, Newest: true}, "[e d]"},
			{broker.Query{N: 2, Skip: 3}, "[c2 d]"},
			{broker.Query{N: 2, Skip: 3, Newest: true}, "[c b]"},
			{broker.Query{Skip: 4}, "[d e]"},
			{broker.Query{N: 5, Skip: 9}, "[]"},
			{broker.Query{From: at(2)}, "[c c2 d e]"},
			{broker.Query{To: at(2)}, "[a b c c2]"},
			{broker.Query{From: at(1), To: at(3)}, "[b c c2 d]"},
			{broker.Query{From: at(1), To: at(3), Newest: true}, "[d c2 c b]"},
			{broker.Query{From: at(1), To: at(3), Newest: true, N: 2, Skip: 1}, "[c2 c]"},
			{broker.Query{From: at(2).Add(time.Millisecond), To: at(3).Add(-time.Millisecond)}, "[]"},
			{broker.Query{From: at(3), To: at(1)}, "[]"},
		} {
			x.q.Index = "x"
			if got := fmt.Sprint(members(t, s, x.q)); got != x.want {
				t.Errorf("%+v: %s, want %s", x.q, got, x.want)
			}
		}
		all := must[[]broker.Member](t)(s.Range(t.Context(), broker.Query{Index: "x", N: 1}))
		if m := all[0]; m.Index != "x" || !m.At.Equal(t0) {
			t.Errorf("unexpected member %+v", m)
		}
		if got := members(t, s, broker.Query{Index: "none"}); len(got) != 0 {
			t.Errorf("a missing index has %v", got)
		}
		for from, want := range map[time.Time]int{{}: 6, at(2): 4, at(4).Add(time.Millisecond): 0} {
			if n := must[int](t)(s.Count(t.Context(), "x", from)); n != want {
				t.Errorf("from %s: %d members, want %d", from, n, want)
			}
		}
	},
	"members without a time": func(t *testing.T, s broker.Store) {
		var want []string
		began := s.Now().Add(-time.Second)
		for n := range 30 {
			want = append(want, fmt.Sprintf("m%02d", n))
			do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: want[n]}}})
		}
		all := must[[]broker.Member](t)(s.Range(t.Context(), broker.Query{Index: "x"}))
		if !same(names(all), want) || all[0].At.Before(began) || all[29].At.After(s.Now().Add(time.Second)) {
			t.Errorf("the members are %v", all)
		}
	},
	"members of one change": func(t *testing.T, s broker.Store) {
		now := s.Now()
		clock := func(index string, at time.Time) {
			do(t, s, broker.Change{Set: []broker.Member{{Index: index, Name: "clock", At: at}}})
			do(t, s, broker.Change{Set: []broker.Member{{Index: index, Name: "b"}, {Index: index, Name: "a"}}})
		}
		clock("ahead", now.Add(time.Minute)) // the clock of the former master was ahead
		if got := members(t, s, broker.Query{Index: "ahead"}); !same(got, []string{"clock", "b", "a"}) {
			t.Errorf("the members are %v", got)
		}
		clock("wrong", now.Add(1e5*time.Hour)) // too far ahead for a clock
		if all := must[[]broker.Member](t)(s.Range(t.Context(), broker.Query{Index: "wrong"})); !same(names(all), []string{"b", "a", "clock"}) || all[1].At.After(now.Add(time.Hour)) {
			t.Errorf("the members are %v", all)
		}
	},
	"replaced members": func(t *testing.T, s broker.Store) {
		at := time.UnixMilli(1_800_000_000_000)
		do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: "a", At: at}, {Index: "x", Name: "b", At: at.Add(time.Second)}}})
		do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: "a", At: at.Add(time.Minute + 999*time.Microsecond)}}, Unset: []broker.Member{{Index: "x", Name: "none"}, {Index: "none", Name: "a"}}})
		all := must[[]broker.Member](t)(s.Range(t.Context(), broker.Query{Index: "x"}))
		if !same(names(all), []string{"b", "a"}) || !all[1].At.Equal(at.Add(time.Minute)) {
			t.Errorf("the members are %v", all)
		}
		do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: "b"}}, Unset: []broker.Member{{Index: "x", Name: "b"}}})
		if got := members(t, s, broker.Query{Index: "x"}); !same(got, []string{"a"}) {
			t.Errorf("after the removal of b: %v", got)
		}
	},
	"life of indexes": func(t *testing.T, s broker.Store) {
		suffix := ""
		set := func(index, name string, keep time.Duration) broker.Member {
			return broker.Member{Index: index + suffix, Name: name, IndexTTL: keep}
		}
		inTime(t, s, func(own string) string {
			suffix = own
			do(t, s, broker.Change{Set: []broker.Member{
				set("short", "a", shortly), set("longer", "a", shortly), set("unchanged", "a", shortly), set("emptied", "a", shortly), set("forever", "a", 0),
			}})
			do(t, s, broker.Change{Set: []broker.Member{set("longer", "b", time.Hour), set("unchanged", "b", 0)}, Unset: []broker.Member{{Index: "emptied" + suffix, Name: "a"}}})
			do(t, s, broker.Change{Set: []broker.Member{set("emptied", "b", 0)}})
			return ""
		})
		of := func(index string) []string { return members(t, s, broker.Query{Index: index + suffix}) }
		await.Until(t, "the indexes have expired", func() bool { return len(of("short"))+len(of("unchanged")) == 0 })
		for index, want := range map[string][]string{"longer": {"a", "b"}, "emptied": {"b"}, "forever": {"a"}} {
			if got := of(index); !same(got, want) {
				t.Errorf("%s has %v, want %v", index, got, want)
			}
		}
		do(t, s, broker.Change{Below: []broker.Bound{{Index: "short" + suffix, Max: 1}}, Set: []broker.Member{set("short", "b", 0)}})
		if got := of("short"); !same(got, []string{"b"}) {
			t.Errorf("the new index has %v", got)
		}
	},
	"old members": func(t *testing.T, s broker.Store) {
		now := s.Now()
		set := func(name string, age, keep time.Duration) broker.Change {
			return broker.Change{Set: []broker.Member{{Index: "x", Name: name, At: now.Add(-age), IndexTTL: keep}}}
		}
		do(t, s, set("old", 2*time.Hour, 0))
		do(t, s, set("young", 30*time.Minute, 0))
		do(t, s, set("new", 0, time.Hour))
		if got := members(t, s, broker.Query{Index: "x"}); !same(got, []string{"young", "new"}) {
			t.Errorf("the members are %v", got)
		}
	},
	"samples": func(t *testing.T, s broker.Store) {
		var c broker.Change
		for n := range 50 {
			c.Set = append(c.Set, broker.Member{Index: "x", Name: fmt.Sprint(n)})
		}
		do(t, s, c)
		for n, want := range map[int]int{10: 10, 50: 50, 80: 50} {
			got := must[[]string](t)(s.Sample(t.Context(), "x", n))
			slices.Sort(got)
			if len(slices.Compact(got)) != want || slices.ContainsFunc(got, func(name string) bool { var k int; _, err := fmt.Sscan(name, &k); return err != nil || k >= 50 }) {
				t.Errorf("a sample of %d is %v", n, got)
			}
		}
		if got := must[[]string](t)(s.Sample(t.Context(), "none", 5)); len(got) != 0 {
			t.Errorf("a sample of a missing index is %v", got)
		}
	},
}

var others = tests{
	"counters": func(t *testing.T, s broker.Store) {
		for n := 1; n <= 3; n++ {
			if got := must[int](t)(s.Tally(t.Context(), "a", time.Minute)); got != n {
				t.Errorf("count %d returned %d", n, got)
			}
		}
		if got := must[int](t)(s.Tally(t.Context(), "b", time.Hour)); got != 1 {
			t.Errorf("another counter returned %d", got)
		}
		if got := must[int](t)(s.Tally(t.Context(), "a", time.Hour)); got != 4 { // another lifetime does not start a new counter
			t.Errorf("the counter returned %d", got)
		}
		must[int](t)(s.Tally(t.Context(), "short", 100*time.Millisecond))
		// Each count extends the lifetime of the counter, so the test waits between counts.
		await.Until(t, "the counter starts again", func() bool {
			<-time.After(150 * time.Millisecond)
			return must[int](t)(s.Tally(t.Context(), "short", 100*time.Millisecond)) == 1
		})
	},
	"readiness": func(t *testing.T, s broker.Store) {
		if err := s.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Confirm(t.Context()); err != nil {
			t.Error(err)
		}
		if off := time.Since(s.Now()).Abs(); off > time.Minute {
			t.Errorf("the clock is off by %s", off)
		}
	},
}
