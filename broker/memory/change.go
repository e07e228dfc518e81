package memory

import (
	"context"
	"maps"
	"time"

	"github.com/nodbridge/nod/broker"
)

// Do implements broker.Store.
func (s *Store) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	if err := ctx.Err(); err != nil {
		return broker.Done{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.Now()
	s.sweep(at)
	if err := s.check(c, at); err != nil {
		return broker.Done{}, err
	}
	return s.apply(c, at), nil
}

// DoAll implements broker.Store.
func (s *Store) DoAll(ctx context.Context, cs []broker.Change) []broker.Result {
	out := make([]broker.Result, len(cs))
	for n, c := range cs {
		out[n].Done, out[n].Err = s.Do(ctx, c)
	}
	return out
}

// check returns an error if a condition of a change does not hold.
func (s *Store) check(c broker.Change, at time.Time) error {
	if !c.From.IsZero() && at.Before(c.From) || !c.Until.IsZero() && !at.Before(c.Until) {
		return broker.Untimely{At: at}
	}
	stale := &broker.Stale{}
	same := true
	for _, v := range c.Versions() {
		d := s.seals.Decode(v.Key, s.raw(v.Key, at))
		stale.Docs = append(stale.Docs, d)
		same = same && d.Version == v.Version
	}
	if !same {
		return stale
	}
	for _, b := range c.Below {
		if len(s.live(b.Index)) >= b.Max {
			return broker.Full{Index: b.Index}
		}
	}
	return nil
}

// apply makes a change whose conditions hold.
func (s *Store) apply(c broker.Change, at time.Time) broker.Done {
	done := broker.Done{At: at}
	for _, e := range c.Journal {
		done.Entries = append(done.Entries, s.streams[broker.Journal].add(at, e.Fields))
	}
	for _, d := range c.Put {
		if d.Noted > 0 {
			d.Entry = done.Entries[d.Noted-1]
		}
		version := d.NextVersion()
		done.Versions = append(done.Versions, version)
		s.docs[d.Key] = stored{s.seals.Encode(d, version), after(at, d.Keep)}
	}
	for _, v := range c.Drop {
		delete(s.docs, v.Key)
	}
	for _, m := range c.Set {
		s.set(m, at)
	}
	for _, m := range c.Unset {
		if members := s.live(m.Index); members != nil {
			delete(members, m.Name)
			if len(members) == 0 { // includes the time to live
				delete(s.indexes, m.Index)
			}
		}
	}
	for _, name := range c.Withdraw {
		s.withdraw(name)
	}
	for _, j := range c.Request {
		s.request(j, at)
	}
	if len(c.Journal) > 0 {
		close(s.changed)
		s.changed = make(chan struct{})
	}
	return done
}

// after returns the end of a time to live. It returns zero if there is none.
func after(at time.Time, keep time.Duration) time.Time {
	if keep == 0 {
		return time.Time{}
	}
	return at.Add(keep)
}

// ahead is the maximum time by which a clock may have been ahead of the current
// clock.
const ahead = time.Hour

func (s *Store) set(m broker.Member, at time.Time) {
	if s.live(m.Index) == nil {
		s.indexes[m.Index] = &index{members: map[string]time.Time{}}
	}
	x := s.indexes[m.Index]
	if m.At.IsZero() {
		m.At = at.Truncate(time.Millisecond)
		for _, other := range x.members {
			if !other.Before(m.At) && !other.After(at.Add(ahead)) {
				m.At = other.Add(time.Millisecond)
			}
		}
	}
	x.members[m.Name] = m.At.Truncate(time.Millisecond)
	if m.IndexTTL > 0 {
		x.expires = at.Add(m.IndexTTL)
		maps.DeleteFunc(x.members, func(_ string, set time.Time) bool { return !set.Add(m.IndexTTL).After(at) })
	}
}

// sweepEvery is the interval at which expired documents are removed.
const sweepEvery = time.Minute

// sweep removes expired documents.
func (s *Store) sweep(at time.Time) {
	if at.Sub(s.swept) < sweepEvery {
		return
	}
	s.swept = at
	for k := range s.docs {
		if s.raw(k, at) == "" {
			delete(s.docs, k)
		}
	}
	for name, x := range s.indexes {
		if len(x.members) == 0 || s.live(name) == nil {
			delete(s.indexes, name)
		}
	}
}
