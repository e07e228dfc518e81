package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/nodbridge/nod/broker"
)

// job is a job and its lease.
type job struct {
	broker.Job
	leased time.Time // end of the lease
	waits  bool      // other jobs of its queue come first
}

// request makes a job due. The caller must hold s.mu.
func (s *Store) request(r broker.Job, at time.Time) {
	r.Due = r.Due.Truncate(time.Millisecond)
	j := s.jobs[r.Name]
	if j != nil {
		j.Generation++
		if !j.leased.After(at) && j.Attempt == 0 && (r.Exact || r.Due.Before(j.Due)) { // otherwise its back-off remains
			j.Due = r.Due
		}
		return
	}
	j = &job{Job: broker.Job{Name: r.Name, Due: r.Due, Generation: 1}}
	s.jobs[r.Name] = j
	if q := r.Queue(); q != "" && len(s.queues[q]) < broker.QueueMost {
		j.waits = len(s.queues[q]) > 0
		s.queues[q] = append(s.queues[q], j)
	}
}

// withdraw removes a job. The caller must hold s.mu.
func (s *Store) withdraw(name string) {
	j := s.jobs[name]
	if j == nil {
		return
	}
	delete(s.jobs, name)
	s.leave(j)
}

// leave takes a job out of its queue, so that the next one becomes the first.
func (s *Store) leave(j *job) {
	q := j.Queue()
	all := s.queues[q]
	n := slices.Index(all, j)
	if n < 0 {
		return
	}
	all = slices.Delete(all, n, n+1)
	if len(all) == 0 {
		delete(s.queues, q)
		return
	}
	s.queues[q] = all
	all[0].waits = false
}

// due returns when a job can be claimed.
func (j *job) due() time.Time {
	if j.leased.After(j.Due) {
		return j.leased
	}
	return j.Due
}

// Claim implements broker.Store.
func (s *Store) Claim(_ context.Context, n int, lease time.Duration) ([]broker.Job, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.Now()
	var ready []*job
	next := time.Duration(-1)
	for _, j := range s.jobs {
		if j.waits {
			continue
		}
		if wait := j.due().Sub(at); wait > 0 {
			if next < 0 || wait < next {
				next = wait
			}
			continue
		}
		ready = append(ready, j)
	}
	slices.SortFunc(ready, func(a, b *job) int { return cmp.Or(a.due().Compare(b.due()), cmp.Compare(a.Name, b.Name)) })
	if len(ready) > n {
		next = 0
	}
	var out []broker.Job
	for _, j := range ready[:min(n, len(ready))] {
		j.Attempt++
		if j.Began.IsZero() {
			j.Began = at
		}
		s.fence++
		j.Fence = s.fence
		j.leased = at.Add(lease)
		out = append(out, j.Job)
		if next < 0 || lease < next {
			next = lease
		}
	}
	return out, next, nil
}

// Release implements broker.Store.
func (s *Store) Release(_ context.Context, r broker.Job, how broker.Release) (broker.Released, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, j := s.Now(), s.jobs[r.Name]
	if j == nil || j.Fence != r.Fence {
		return broker.Lost, nil
	}
	if how.Extend > 0 {
		j.leased = at.Add(how.Extend)
		return broker.Applied, nil
	}
	j.leased = time.Time{}
	if !how.KeepsPlace || how.Again == 0 {
		s.leave(j)
	}
	if how.Again > 0 {
		if how.Free {
			j.Attempt--
		}
		j.Due = at.Add(how.Again)
		return broker.Applied, nil
	}
	if how.Dead != nil {
		s.dead++
	}
	if j.Generation != r.Generation {
		j.Attempt, j.Due = 0, at
		return broker.Requested, nil
	}
	delete(s.jobs, r.Name)
	return broker.Applied, nil
}

// Work implements broker.Store.
func (s *Store) Work(context.Context) (jobs, dead int, lag time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.Now()
	for _, j := range s.jobs {
		if !j.waits {
			lag = max(lag, at.Sub(j.due()))
		}
	}
	return len(s.jobs), s.dead, lag, nil
}
