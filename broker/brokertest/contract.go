// Package brokertest checks that a store keeps the promises of package broker.
package brokertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nodbridge/nod/broker"
)

// tests maps the name of each promise to its test.
type tests map[string]func(*testing.T, broker.Store)

// Contract checks all promises of broker.Store. Each store that open returns
// must be empty.
func Contract(t *testing.T, open func(t *testing.T) broker.Store) {
	t.Helper()
	for group, all := range map[string]tests{"documents": documents, "changes": changes, "indexes": indexes, "jobs": jobs, "queues": queues, "streams": streams, "others": others} {
		for name, f := range all {
			t.Run(group+", "+name, func(t *testing.T) {
				t.Parallel()
				f(t, open(t))
			})
		}
	}
}

// shortly is a lifetime that is long enough for a test on a busy machine to see a
// document before it expires, and short enough to wait for.
const shortly = 2 * time.Second

// inTime plays a scene with things that live shortly, and with names of its own. A
// scene that the machine delayed shows nothing, so inTime plays it again, up to 30
// times. It returns the suffix of the names.
func inTime(t *testing.T, s broker.Store, scene func(suffix string) (problem string)) string {
	t.Helper()
	for n := range 30 {
		began, suffix := s.Now(), fmt.Sprint(" ", n)
		problem := scene(suffix)
		if s.Now().Sub(began) > shortly/2 {
			continue
		}
		if problem != "" {
			t.Fatal(problem)
		}
		return suffix
	}
	t.Fatalf("the scene never took less than %v", shortly/2)
	return ""
}

// kind is the kind of the documents of the tests.
const kind = "thing"

func key(id string) broker.Key { return broker.Key{Kind: kind, ID: id} }

func doc(id, value string) broker.Doc {
	return broker.Doc{Key: key(id), Format: 1, Value: []byte(value)}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func do(t *testing.T, s broker.Store, c broker.Change) broker.Done {
	t.Helper()
	return must[broker.Done](t)(s.Do(t.Context(), c))
}

func get(t *testing.T, s broker.Store, id string) broker.Doc {
	t.Helper()
	return must[[]broker.Doc](t)(s.Get(t.Context(), key(id)))[0]
}

// put stores a document, regardless of whether it exists, and returns it.
func put(t *testing.T, s broker.Store, id, value string) broker.Doc {
	t.Helper()
	d := get(t, s, id)
	d.Format, d.Value = 1, []byte(value)
	do(t, s, broker.Change{Put: []broker.Doc{d}})
	return get(t, s, id)
}

func request(t *testing.T, s broker.Store, all ...broker.Job) {
	t.Helper()
	do(t, s, broker.Change{Request: all})
}

// job returns a job that is due since some time.
func job(name string, ago time.Duration) broker.Job {
	return broker.Job{Name: name, Due: time.Now().Add(-ago)}
}

// queued returns a job in a queue that has been due for some time.
func queued(name, queue string, ago time.Duration) broker.Job {
	return job(broker.InQueue(name, queue), ago)
}

func claim(t *testing.T, s broker.Store, n int, lease time.Duration) []broker.Job {
	t.Helper()
	all, _, err := s.Claim(t.Context(), n, lease)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// claims checks which jobs are due, and returns them.
func claims(t *testing.T, s broker.Store, want ...string) []broker.Job {
	t.Helper()
	all := claim(t, s, 100, time.Hour)
	var got []string
	for _, j := range all {
		name, _ := j.Parts()
		got = append(got, name)
	}
	if !same(got, want) {
		t.Fatalf("%q can be claimed, want %q", got, want)
	}
	return all
}

func same(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for n := range a {
		if a[n] != b[n] {
			return false
		}
	}
	return true
}

func release(t *testing.T, s broker.Store, j broker.Job, how broker.Release, want broker.Released) {
	t.Helper()
	if got := must[broker.Released](t)(s.Release(t.Context(), j, how)); got != want {
		t.Fatalf("the release of %s returned %d, want %d", j.Name, got, want)
	}
}

func names(all []broker.Member) []string {
	out := []string{}
	for _, m := range all {
		out = append(out, m.Name)
	}
	return out
}

func members(t *testing.T, s broker.Store, q broker.Query) []string {
	t.Helper()
	return names(must[[]broker.Member](t)(s.Range(t.Context(), q)))
}

func entry(value string) broker.Entry { return broker.Entry{Fields: []string{"a", value, "b", "x"}} }

func values(all []broker.Entry) []string {
	out := []string{}
	for _, e := range all {
		out = append(out, e.Get("a"))
	}
	return out
}

// everything returns a change with operations of each kind.
func everything() broker.Change {
	return broker.Change{
		Put: []broker.Doc{doc("new", "v")}, Set: []broker.Member{{Index: "x", Name: "new"}}, Unset: []broker.Member{{Index: "x", Name: "old"}},
		Request: []broker.Job{job("new", time.Minute)}, Withdraw: []string{"old"}, Journal: []broker.Entry{entry("new")},
	}
}

// nothing checks that a change such as that of everything was not applied.
func nothing(t *testing.T, s broker.Store, what string) {
	t.Helper()
	if get(t, s, "new").Exists() || !same(members(t, s, broker.Query{Index: "x"}), []string{"old"}) {
		t.Errorf("%s: the documents or indexes have changed", what)
	}
	if n, _, _, err := s.Work(t.Context()); err != nil || n != 1 {
		t.Errorf("%s: %d jobs, error %v", what, n, err)
	}
	if all := must[[]broker.Entry](t)(s.Entries(t.Context(), broker.Journal, "", 10)); len(all) != 0 {
		t.Errorf("%s: the journal has %v", what, all)
	}
}

// refused checks that a change fails with an error of type E and is not applied.
func refused[E error](t *testing.T, s broker.Store, what string, c broker.Change) E {
	t.Helper()
	_, err := s.Do(t.Context(), c)
	got, ok := errors.AsType[E](err)
	if !ok {
		t.Errorf("%s: %v", what, err)
	}
	return got
}
