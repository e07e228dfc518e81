// Package memory stores the data of nod in this process, for the demo, for
// development and for tests. All data is lost when the process ends. Processes
// do not share data. Start with Do in change.go.
package memory

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nodbridge/nod/broker"
)

// Store implements broker.Store. It is safe for concurrent use.
type Store struct {
	seals *broker.Seals
	clock func() time.Time

	mu      sync.Mutex
	docs    map[broker.Key]stored
	indexes map[string]*index
	jobs    map[string]*job
	queues  map[string][]*job // only the first job of each queue can be claimed
	dead    int
	fence   int64 // fence of the last lease
	tallies map[string]*tally
	streams map[broker.Stream]*stream
	changed chan struct{} // closed and replaced when entries are added to the journal
	swept   time.Time     // time when expired documents were last removed
}

// stored is a document in its stored form.
type stored struct {
	raw     string
	expires time.Time // zero means never
}

// tally is a counter.
type tally struct {
	n       int
	expires time.Time
}

// index is an index. It is sorted only when it is read.
type index struct {
	members map[string]time.Time
	expires time.Time
}

var _ broker.Store = (*Store)(nil)

// New returns an empty store, which seals its documents.
func New(seals *broker.Seals) *Store { return NewAt(seals, nil) }

// NewAt returns an empty store with the given clock. Nil means time.Now.
func NewAt(seals *broker.Seals, clock func() time.Time) *Store {
	if clock == nil {
		clock = time.Now
	}
	return &Store{
		clock: clock, seals: seals, docs: map[broker.Key]stored{}, indexes: map[string]*index{}, jobs: map[string]*job{},
		queues: map[string][]*job{}, tallies: map[string]*tally{}, streams: map[broker.Stream]*stream{broker.Journal: {}, broker.Archive: {}}, changed: make(chan struct{}),
	}
}

// Now implements broker.Store. It has the precision of Redis.
func (s *Store) Now() time.Time { return s.clock().Truncate(time.Millisecond) }

// Get implements broker.Store.
func (s *Store) Get(_ context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]broker.Doc, len(keys))
	for n, k := range keys {
		out[n] = s.seals.Decode(k, s.raw(k, s.Now()))
	}
	return out, nil
}

// raw returns the stored form of a document, or "". The caller must hold s.mu.
func (s *Store) raw(k broker.Key, at time.Time) string {
	d, ok := s.docs[k]
	if !ok || !d.expires.IsZero() && !at.Before(d.expires) {
		return ""
	}
	return d.raw
}

// Range implements broker.Store.
func (s *Store) Range(_ context.Context, q broker.Query) ([]broker.Member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []broker.Member
	for name, at := range s.live(q.Index) {
		if (q.From.IsZero() || !at.Before(q.From)) && (q.To.IsZero() || !at.After(q.To)) {
			out = append(out, broker.Member{Index: q.Index, Name: name, At: at})
		}
	}
	slices.SortFunc(out, compareMembers)
	if q.Newest {
		slices.Reverse(out)
	}
	out = out[min(q.Skip, len(out)):]
	if q.N > 0 {
		out = out[:min(q.N, len(out))]
	}
	return out, nil
}

func compareMembers(a, b broker.Member) int {
	if n := a.At.Compare(b.At); n != 0 {
		return n
	}
	if a.Name < b.Name {
		return -1
	}
	return 1
}

// live returns the members of an index. The caller must hold s.mu.
func (s *Store) live(name string) map[string]time.Time {
	x := s.indexes[name]
	if x == nil || !x.expires.IsZero() && !s.Now().Before(x.expires) {
		return nil
	}
	return x.members
}

// Count implements broker.Store.
func (s *Store) Count(_ context.Context, index string, from time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, at := range s.live(index) {
		if from.IsZero() || !at.Before(from) {
			n++
		}
	}
	return n, nil
}

// Sample implements broker.Store.
func (s *Store) Sample(_ context.Context, index string, n int) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for name := range s.live(index) {
		out = append(out, name)
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))], nil
}

// Tally implements broker.Store.
func (s *Store) Tally(_ context.Context, name string, keep time.Duration) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.Now()
	for old, t := range s.tallies {
		if !at.Before(t.expires) {
			delete(s.tallies, old)
		}
	}
	t := s.tallies[name]
	if t == nil {
		t = &tally{}
		s.tallies[name] = t
	}
	t.n, t.expires = t.n+1, at.Add(keep)
	return t.n, nil
}

// Confirm implements broker.Store.
func (s *Store) Confirm(context.Context, ...broker.Version) error { return nil }

// Ready implements broker.Store.
func (s *Store) Ready(context.Context) error { return nil }
