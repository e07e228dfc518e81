package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/broker"
)

// stream holds entries, oldest first. Its IDs have the format of Redis: a time
// in ms, and a number.
type stream struct {
	entries []entry
	last    position // ID of the newest entry that was ever added
	added   int64
	removed position // highest ID that was removed individually
}

type entry struct {
	position
	fields []string
}

// position is the ID of an entry.
type position struct{ ms, n int64 }

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.ms, o.ms), cmp.Compare(p.n, o.n))
}

func (p position) String() string {
	if p == (position{}) {
		return ""
	}
	return fmt.Sprintf("%d-%d", p.ms, p.n)
}

func parse(id string) position {
	ms, n, _ := strings.Cut(id, "-")
	var p position
	p.ms, _ = strconv.ParseInt(ms, 10, 64) // the IDs of the callers come from the store
	p.n, _ = strconv.ParseInt(n, 10, 64)
	return p
}

// add appends an entry and returns its ID.
func (st *stream) add(at time.Time, fields []string) string {
	p := position{at.UnixMilli(), 0}
	if p.compare(st.last) <= 0 {
		p = position{st.last.ms, st.last.n + 1}
	}
	st.put(entry{p, fields})
	return p.String()
}

func (st *stream) put(e entry) {
	st.entries, st.last = append(st.entries, e), e.position
	st.added++
}

// from returns the index of the first entry after a position.
func (st *stream) from(p position) int {
	n, found := slices.BinarySearchFunc(st.entries, p, func(e entry, p position) int { return e.compare(p) })
	if found {
		n++
	}
	return n
}

func exported(all []entry) []broker.Entry {
	out := make([]broker.Entry, len(all))
	for n, e := range all {
		out[n] = broker.Entry{ID: e.String(), Fields: e.fields}
	}
	return out
}

// Entries implements broker.Store.
func (s *Store) Entries(_ context.Context, name broker.Stream, after string, n int) ([]broker.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	rest := st.entries[st.from(parse(after)):]
	return exported(rest[:min(n, len(rest))]), nil
}

// Newest implements broker.Store.
func (s *Store) Newest(_ context.Context, name broker.Stream, before string, n int) ([]broker.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	all := st.entries
	if before != "" {
		end, _ := slices.BinarySearchFunc(all, parse(before), func(e entry, p position) int { return e.compare(p) })
		all = all[:end]
	}
	out := exported(all[max(0, len(all)-n):])
	slices.Reverse(out)
	return out, nil
}

// Copy implements broker.Store.
func (s *Store) Copy(_ context.Context, name broker.Stream, entries []broker.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	for _, e := range entries {
		p := parse(e.ID)
		if p.compare(st.last) > 0 {
			st.put(entry{p, e.Fields})
			continue
		}
		n, found := slices.BinarySearchFunc(st.entries, p, func(e entry, p position) int { return e.compare(p) })
		if !found || !e.Same(broker.Entry{ID: e.ID, Fields: st.entries[n].fields}) {
			return broker.Passed{Stream: name, ID: e.ID}
		}
	}
	return nil
}

// Trim implements broker.Store.
func (s *Store) Trim(_ context.Context, name broker.Stream, through string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	st.entries = slices.Clone(st.entries[st.from(parse(through)):])
	return nil
}

// Remove implements broker.Store.
func (s *Store) Remove(_ context.Context, name broker.Stream, ids []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	for _, id := range ids {
		p := parse(id)
		n, found := slices.BinarySearchFunc(st.entries, p, func(e entry, p position) int { return e.compare(p) })
		if !found {
			continue
		}
		st.entries = slices.Delete(st.entries, n, n+1)
		if p.compare(st.removed) > 0 {
			st.removed = p
		}
	}
	return nil
}

// Census implements broker.Store.
func (s *Store) Census(_ context.Context, name broker.Stream) (broker.Census, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.streams[name]
	return broker.Census{Last: st.last.String(), Added: st.added, Removed: st.removed.String()}, nil
}

// followBatch is the number of entries that a follower gets at a time.
const followBatch = 1000

// Follow implements broker.Store.
func (s *Store) Follow(ctx context.Context, after string, f func([]broker.Entry), lost func()) {
	s.mu.Lock()
	st := s.streams[broker.Journal]
	at := st.last
	if after != "" {
		at = parse(after)
	}
	s.mu.Unlock()
	for {
		s.mu.Lock()
		rest := st.entries[st.from(at):]
		batch, changed := exported(rest[:min(followBatch, len(rest))]), s.changed
		s.mu.Unlock()
		if len(batch) > 0 {
			f(batch)
			at = parse(batch[len(batch)-1].ID)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
