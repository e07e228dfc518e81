// Package fake provides a store, a chat and people for tests of single parts of
// the engine and of rooms. The tests control them, and they check nothing.
// Tests of complete requests use the real store; see package stored. Start with
// [New].
package fake

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// Store is an in-memory store for tests of single parts. It stores everything
// unchecked, and applies the marks that the parts read. It has no deadlines,
// digests or proofs; tests that need those use the broker.
type Store struct {
	Mu      sync.Mutex
	Records map[bridge.ID]bridge.Record
	Order   []bridge.ID  // in the order of opening
	DB      broker.Store // for documents; fails like the store
	Jobs    []core.Job   // jobs that Claim returns
	Gone    []string     // outcomes of jobs: their kind and "done", "retry …" or "dead: …"
	Overdue []core.Expiry
	Lost    bool  // every job has lost its lease
	Refuses error // error of every call, if set
	Drops   int   // number of next updates of jobs to fail
	Next    int
	Due     time.Duration // time until the next step, according to the last amendment
	Changed await.Bell    // rings after changes of records
	keys    map[string]bridge.ID
}

var _ core.Port = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	f := &Store{Records: map[bridge.ID]bridge.Record{}, keys: map[string]bridge.ID{}}
	f.DB = database{memory.New(broker.NewSeals()), f}
	return f
}

// Put stores a pending record of an interaction with a new ID.
func (f *Store) Put(t testing.TB, i bridge.Interaction) bridge.Record {
	t.Helper()
	id, err := bridge.NewID()
	if err != nil {
		t.Fatal(err)
	}
	i.ID = id
	if i.Content, err = proof.Content(i); err != nil {
		t.Fatal(err)
	}
	r := bridge.Record{Interaction: i, State: bridge.StatePending, Revision: 1}
	f.Set(r)
	return r
}

// Set stores a record.
func (f *Store) Set(r bridge.Record) {
	defer f.Changed.Ring()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if _, known := f.Records[r.Interaction.ID]; !known {
		f.Order = append(f.Order, r.Interaction.ID)
	}
	f.Records[r.Interaction.ID] = r
}

// Get returns a record, even if other calls fail.
func (f *Store) Get(id bridge.ID) bridge.Record {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.Records[id]
}

// Outcomes returns the outcomes of jobs, in order.
func (f *Store) Outcomes() []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return slices.Clone(f.Gone)
}

// Fail makes every call return err.
func (f *Store) Fail(err error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Refuses = err
}

func (f *Store) Open(_ context.Context, o life.Opening, _ ...broker.Version) (bridge.Record, bool, error) {
	r := bridge.Record{Interaction: o.Interaction, State: bridge.StatePending, Failures: o.Failures, Response: o.Response}
	if o.Response != nil {
		r.State = o.Response.State
	}
	f.Set(r)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.keys[o.Identity.Name] = o.Interaction.ID
	return r, true, nil
}

func (f *Store) Known(_ context.Context, o life.Opening) (bool, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return o.Identity.Name != "" && f.keys[o.Identity.Name] != "", f.Refuses
}

// Sending implements core.Interactions.
func (f *Store) Sending(_ context.Context, r bridge.Record, _ string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	r.Sent = time.Now()
	f.Records[r.Interaction.ID] = r
	return f.Refuses
}

// Abandon implements core.Interactions. It assumes a single caller.
func (f *Store) Abandon(ctx context.Context, id bridge.ID, _ string, _ bool, end bridge.Response) (bridge.Record, error) {
	r, _, err := f.Resolve(ctx, life.Resolution{ID: id, Response: end})
	return r, err
}

func (f *Store) Load(_ context.Context, id bridge.ID) (bridge.Record, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	r, ok := f.Records[id]
	if !ok && f.Refuses == nil {
		return r, bridge.Errorf(bridge.CodeNotFound, "no interaction %s", id)
	}
	return r, f.Refuses
}

// Inspect implements core.Interactions.
func (f *Store) Inspect(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return f.Load(ctx, id)
}

// Mark applies the marks that the parts read later. An amendment must expect
// the number of earlier amendments.
func (f *Store) Mark(_ context.Context, id bridge.ID, m life.Mark) (bridge.Record, error) {
	defer f.Changed.Ring()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	r := f.Records[id]
	if f.Refuses != nil {
		return r, f.Refuses
	}
	switch m := m.(type) {
	case life.Posted:
		r.Messages = with(r.Messages, m.Destination, m.Ref)
		r.Shown = with(r.Shown, m.Destination, m.Content)
	case life.Shown:
		r.Shown = with(r.Shown, m.Destination, m.Content)
	case life.Failed:
		r.Failures = with(r.Failures, m.Destination, m.Reason)
	case life.Late:
		r.Late = with(r.Late, m.Destination, time.Now().Add(m.Delay))
	case life.Part:
		s := r.SentParts[m.Destination]
		s.Content, s.Parts = m.Content, append(slices.Clone(s.Parts), m.Ref)
		r.SentParts = with(r.SentParts, m.Destination, s)
	case life.Amendment:
		if m.Expect != r.Amended {
			return r, bridge.Errorf(bridge.CodeConflict, "it was amended")
		}
		r.Interaction, r.Amended = m.Interaction, r.Amended+1
		if m.Then != nil {
			r.Step, f.Due = m.Then.Index, m.Then.In
		}
		r.Reminders = append(slices.Clone(r.Reminders), m.Reminders...)
	case life.Deleted:
		if r.Messages[m.Destination] != m.Ref {
			break
		}
		r.Messages, r.Shown = maps.Clone(r.Messages), maps.Clone(r.Shown)
		delete(r.Messages, m.Destination)
		delete(r.Shown, m.Destination)
		if m.Again {
			f.Gone = append(f.Gone, "post again "+strconv.Itoa(m.Destination))
		} else {
			r.Failures = with(r.Failures, m.Destination, m.Reason)
		}
	case life.Redraw:
		f.Gone = append(f.Gone, "redraw "+strconv.Itoa(m.Destination))
	case life.Deferred:
		r.Queued = time.Now()
	case life.Completed:
		r.Completion = &m.Completion
	}
	r.Revision++
	f.Records[id] = r
	return r, nil
}

// Delivered implements core.Interactions.
func (f *Store) Delivered(_ context.Context, r bridge.Record) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	now := f.Records[r.Interaction.ID]
	if f.Refuses == nil {
		now.Delivered = time.Now()
		now.Revision++
		f.Records[r.Interaction.ID] = now
	}
	return f.Refuses
}

func with[V any](m map[int]V, k int, v V) map[int]V {
	out := map[int]V{}
	maps.Copy(out, m)
	out[k] = v
	return out
}

func (f *Store) await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	for {
		changed := f.Changed.Next()
		if r := f.Get(id); r.Over() {
			return &r, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (f *Store) AwaitThen(ctx context.Context, id bridge.ID, then func(core.Awaited)) {
	go then(func() (*bridge.Record, error) { return f.await(ctx, id) })
}

func (f *Store) Pending(_ context.Context, agent, session string) ([]bridge.ID, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var out []bridge.ID
	for _, id := range slices.Backward(f.Order) {
		i := f.Records[id].Interaction
		notice := i.Kind == bridge.KindNotice && (agent != "" || session != "")
		if notice || f.Records[id].State.Final() || agent != "" && i.Agent != agent || session != "" && i.Session != session {
			continue
		}
		out = append(out, id)
	}
	if agent == "" && session == "" {
		slices.SortStableFunc(out, func(a, b bridge.ID) int {
			return f.Records[a].Interaction.Deadline.Compare(f.Records[b].Interaction.Deadline)
		})
	}
	return out, f.Refuses
}

func (f *Store) Posted(_ context.Context, platform string, wanted func(bridge.MessageRef) bool) ([]bridge.ID, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	var out []bridge.ID
	for _, id := range f.Order {
		r := f.Records[id]
		for n, ref := range r.Messages {
			if !r.State.Final() && r.Interaction.Destinations[n].Platform == platform && wanted(ref) {
				out = append(out, id)
			}
		}
	}
	return out, f.Refuses
}

func (f *Store) Resolve(_ context.Context, s life.Resolution, _ ...core.Also) (bridge.Record, bool, error) {
	defer f.Changed.Ring()
	f.Mu.Lock()
	defer f.Mu.Unlock()
	r := f.Records[s.ID]
	if f.Refuses != nil || r.State.Final() {
		return r, false, f.Refuses
	}
	if s.Expect != nil && *s.Expect != r.Amended || s.Awaited && !r.Queued.IsZero() {
		return r, false, bridge.Errorf(bridge.CodeConflict, "it has changed")
	}
	r.State, r.Response = s.Response.State, &s.Response
	f.Records[s.ID] = r
	return r, true, nil
}

func (f *Store) Vote(context.Context, life.Ballot, ...core.Also) (bridge.Record, core.BallotResult, error) {
	return bridge.Record{}, "", bridge.Errorf(bridge.CodeInternal, "the fake counts no votes")
}

// Work creates a job, which Claim returns once.
func (f *Store) Work(kind life.JobKind, id bridge.ID, n int) core.Job {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Next++
	j := core.Job{
		ID: strconv.Itoa(f.Next), Kind: kind, Interaction: id, Destination: n, Attempt: 1, Began: time.Now(),
	}
	f.Jobs = append(f.Jobs, j)
	return j
}

func (f *Store) Claim(_ context.Context, n int, _ time.Duration) ([]core.Job, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Refuses != nil {
		return nil, f.Refuses
	}
	n = min(n, len(f.Jobs))
	out := f.Jobs[:n]
	f.Jobs = f.Jobs[n:]
	return out, nil
}

func (f *Store) end(j core.Job, how string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Drops > 0 {
		f.Drops--
		return bridge.Errorf(bridge.CodeUnavailable, "redis is unreachable")
	}
	f.Gone = append(f.Gone, string(j.Kind)+" "+how)
	return f.Refuses
}

func (f *Store) Finish(_ context.Context, j core.Job) error { return f.end(j, "done") }

func (f *Store) Retry(_ context.Context, j core.Job, d time.Duration, reason string) error {
	how := "retry in " + d.Round(10*time.Millisecond).String()
	if reason == "" {
		how += ", not counted"
	}
	if j.KeepsPlace {
		how += ", in its place"
	}
	return f.end(j, how)
}

func (f *Store) Bury(_ context.Context, j core.Job, reason string) error {
	return f.end(j, "dead: "+reason)
}

func (f *Store) Wait(ctx context.Context, d time.Duration) { bridge.Pause(ctx, d) }

func (f *Store) Extend(context.Context, core.Job, time.Duration) (bool, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return !f.Lost, f.Refuses
}

// Expire expires one of the overdue requests.
func (f *Store) Expire(context.Context, int) ([]core.Expiry, bool, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Refuses != nil || len(f.Overdue) == 0 {
		return nil, false, f.Refuses
	}
	out := f.Overdue[:1]
	f.Overdue = f.Overdue[1:]
	return out, len(f.Overdue) > 0, nil
}
