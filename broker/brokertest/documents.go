package brokertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

var documents = tests{
	"documents": func(t *testing.T, s broker.Store) {
		if all := must[[]broker.Doc](t)(s.Get(t.Context())); len(all) != 0 {
			t.Errorf("no keys returned %v", all)
		}
		for _, v := range []string{"", "{}", "é\u2028<&>", "\x00\n|\xff", strings.Repeat("long ", 1<<16)} {
			for _, id := range []string{"a", "a b", "{x}", "a:b", "é\x00\n"} {
				d := get(t, s, id)
				d.Format, d.Value = 12, []byte(v)
				done := do(t, s, broker.Change{Put: []broker.Doc{d}})
				all := must[[]broker.Doc](t)(s.Get(t.Context(), key("none"), key(id), key("none")))
				want := broker.Doc{Key: key(id), Format: 12, Version: done.Versions[0], Value: []byte(v)}
				if got := all[1]; string(got.Value) != v || got.Key != want.Key || got.Format != 12 || got.Version != want.Version || got.Problem != "" || got.Entry != "" {
					t.Errorf("%q: got %+v", id, got)
				}
				if all[0].Exists() || all[2].Exists() || all[0].Key != key("none") {
					t.Errorf("a missing document is %+v", all[0])
				}
			}
		}
	},
	"versions": func(t *testing.T, s broker.Store) {
		seen := map[int64]bool{}
		for range 30 {
			d := doc("a", "v")
			for range 2 {
				d.Version = do(t, s, broker.Change{Put: []broker.Doc{d}}).Versions[0]
				if seen[d.Version] || d.Version <= 0 {
					t.Fatalf("version %d is repeated", d.Version)
				}
				seen[d.Version] = true
			}
			do(t, s, broker.Change{Drop: []broker.Version{d.At()}})
			if get(t, s, "a").Exists() {
				t.Fatal("the document was not dropped")
			}
		}
	},
	"life": func(t *testing.T, s broker.Store) {
		suffix := inTime(t, s, func(suffix string) string {
			short, tiny, replaced := doc("short"+suffix, "v"), doc("tiny"+suffix, "v"), doc("replaced"+suffix, "v")
			short.Keep, tiny.Keep, replaced.Keep = shortly, time.Microsecond, shortly
			done := do(t, s, broker.Change{Put: []broker.Doc{short, tiny, replaced}})
			replaced.Version, replaced.Keep = done.Versions[2], 0
			if _, err := s.Do(t.Context(), broker.Change{Put: []broker.Doc{replaced}}); err != nil {
				return err.Error()
			}
			if !get(t, s, short.Key.ID).Exists() {
				return "the document expired too early"
			}
			return ""
		})
		await.Until(t, "the documents have expired", func() bool { return !get(t, s, "short"+suffix).Exists() && !get(t, s, "tiny"+suffix).Exists() })
		if !get(t, s, "replaced"+suffix).Exists() {
			t.Error("the document has the lifetime of the document that it replaced")
		}
		do(t, s, broker.Change{Put: []broker.Doc{doc("short"+suffix, "again")}}) // an expired document counts as missing
	},
	"entries of documents": func(t *testing.T, s broker.Store) {
		d := doc("a", "v")
		d.Noted = 2
		c := broker.Change{Journal: []broker.Entry{entry("1"), entry("2"), entry("3")}, Put: []broker.Doc{doc("b", "v"), d}}
		done := do(t, s, c)
		if got := get(t, s, "a"); got.Entry != done.Entries[1] || got.Problem != "" || string(got.Value) != "v" {
			t.Errorf("got %+v, want one of the entries %v", got, done.Entries)
		}
		if got := put(t, s, "a", "w"); got.Entry != done.Entries[1] || string(got.Value) != "w" {
			t.Errorf("after another change: got %+v", got)
		}
		if got := get(t, s, "b"); got.Entry != "" {
			t.Errorf("document b: got %+v", got)
		}
	},
}

var changes = tests{
	"conditions": func(t *testing.T, s broker.Store) {
		old := put(t, s, "old", "v")
		do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: "old"}}, Request: []broker.Job{job("old", time.Minute)}})
		former, none := old, doc("none", "v")
		old = put(t, s, "old", "w")
		none.Version = 7
		create := doc("old", "v")
		for name, add := range map[string]broker.Change{
			"if, another version": {If: []broker.Version{former.At()}},
			"if, none":            {If: []broker.Version{{Key: key("old")}}},
			"if, one":             {If: []broker.Version{{Key: key("none"), Version: 7}}},
			"put, former":         {Put: []broker.Doc{former}},
			"put, none":           {Put: []broker.Doc{create}},
			"put, one":            {Put: []broker.Doc{none}},
			"drop, former":        {Drop: []broker.Version{former.At()}},
			"drop, one":           {Drop: []broker.Version{none.At()}},
			"one of two":          {If: []broker.Version{old.At(), former.At()}},
			"the other of two":    {If: []broker.Version{former.At(), old.At()}},
		} {
			c := everything().With(add)
			stale := refused[*broker.Stale](t, s, name, c)
			nothing(t, s, name)
			if stale == nil || len(stale.Docs) != len(c.Versions()) {
				t.Fatalf("%s: %+v", name, stale)
			}
			for n, v := range c.Versions() {
				if d := cmp.Diff(must[[]broker.Doc](t)(s.Get(t.Context(), v.Key))[0], stale.Docs[n]); d != "" {
					t.Errorf("%s: document %d: %s", name, n, d)
				}
			}
		}
		fresh := doc("old", "fresh")
		fresh.Fresh = true
		do(t, s, everything().With(broker.Change{If: []broker.Version{{Key: key("none")}, old.At()}, Put: []broker.Doc{fresh}}))
		if got := get(t, s, "old"); string(got.Value) != "fresh" || got.Version == old.Version {
			t.Errorf("the new document is %+v", got)
		}
		if !get(t, s, "new").Exists() || !same(members(t, s, broker.Query{Index: "x"}), []string{"new"}) {
			t.Error("a change whose conditions hold was not applied")
		}
		claims(t, s, "new")
		if all := must[[]broker.Entry](t)(s.Entries(t.Context(), broker.Journal, "", 10)); !same(values(all), []string{"new"}) {
			t.Errorf("the journal has %v", values(all))
		}
	},
	"times": func(t *testing.T, s broker.Store) {
		do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: "old"}}, Request: []broker.Job{job("old", time.Minute)}})
		now := s.Now()
		for name, c := range map[string]broker.Change{
			"early": {From: now.Add(time.Hour)}, "late": {Until: now.Add(-time.Hour)}, "at its end": {Until: now.Add(-time.Millisecond)},
		} {
			if got := refused[broker.Untimely](t, s, name, everything().With(c)); got.At.Sub(now).Abs() > time.Minute {
				t.Errorf("%s: the error has the time %s", name, got.At)
			}
			nothing(t, s, name)
		}
		done := do(t, s, broker.Change{From: now.Add(-time.Minute), Until: now.Add(time.Minute), Put: []broker.Doc{doc("a", "v")}})
		if done.At.Before(now.Add(-time.Second)) || done.At.After(s.Now().Add(time.Second)) {
			t.Errorf("the change was made at %s", done.At)
		}
	},
	"bounds": func(t *testing.T, s broker.Store) {
		do(t, s, broker.Change{Set: []broker.Member{{Index: "x", Name: "old"}, {Index: "two", Name: "a"}, {Index: "two", Name: "b"}}, Request: []broker.Job{job("old", time.Minute)}})
		for _, most := range []int{0, 1, 2} {
			c := everything().With(broker.Change{Below: []broker.Bound{{Index: "none", Max: 1}, {Index: "two", Max: most}}})
			if got := refused[broker.Full](t, s, "full", c); got.Index != "two" {
				t.Errorf("index %q is full, want two", got.Index)
			}
			nothing(t, s, "full")
		}
		do(t, s, broker.Change{Below: []broker.Bound{{Index: "two", Max: 3}}, Set: []broker.Member{{Index: "two", Name: "c"}}})
	},
	"bounds at once": func(t *testing.T, s broker.Store) {
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				c := broker.Change{Below: []broker.Bound{{Index: "x", Max: 5}}, Set: []broker.Member{{Index: "x", Name: fmt.Sprint(n)}}}
				_, err := s.Do(t.Context(), c)
				if _, full := errors.AsType[broker.Full](err); err != nil && !full {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := must[int](t)(s.Count(t.Context(), "x", time.Time{})); n != 5 {
			t.Errorf("the index has %d members, want 5", n)
		}
	},
	"several": func(t *testing.T, s broker.Store) {
		a := put(t, s, "a", "v")
		wrong, first := a, a
		wrong.Version++
		first.Next = wrong.Version
		out := s.DoAll(t.Context(), []broker.Change{
			{Put: []broker.Doc{first}}, {Put: []broker.Doc{wrong}}, {Put: []broker.Doc{a}}, {From: s.Now().Add(time.Hour)},
			{Below: []broker.Bound{{Index: "x"}}}, {Put: []broker.Doc{doc("b", "v")}, Journal: []broker.Entry{entry("b")}},
		})
		got := ""
		for _, r := range out {
			got += fmt.Sprintf("%T,", r.Err)
		}
		// The first change makes the version of the second one the current one.
		if want := "<nil>,<nil>,*broker.Stale,broker.Untimely,broker.Full,<nil>,"; got != want {
			t.Errorf("the results are %s, want %s", got, want)
		}
		if out[5].Versions[0] != get(t, s, "b").Version || len(out[5].Entries) != 1 {
			t.Errorf("the last result is %+v", out[5])
		}
		if got := s.DoAll(t.Context(), nil); len(got) != 0 {
			t.Errorf("no changes returned %v", got)
		}
	},
	"one writer wins": func(t *testing.T, s broker.Store) {
		put(t, s, "a", "0")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for left := 20; left > 0; {
					docs, err := s.Get(t.Context(), key("a"))
					if err != nil {
						t.Error(err)
						return
					}
					d := docs[0]
					var n int
					fmt.Sscan(string(d.Value), &n)
					d.Value = fmt.Append(nil, n+1)
					_, err = s.Do(t.Context(), broker.Change{Put: []broker.Doc{d}})
					if err == nil {
						left--
					} else if _, stale := errors.AsType[*broker.Stale](err); !stale {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if got := string(get(t, s, "a").Value); got != "160" {
			t.Errorf("after 160 changes, the value is %s", got)
		}
	},
	"callers that leave": func(t *testing.T, s broker.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Do(ctx, broker.Change{Put: []broker.Doc{doc("a", "v")}}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	},
}
