package engine

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// fake is a store in memory for tests of single parts. It stores what it is
// given and applies the marks that the parts read. It has no deadlines, digests
// or proofs; tests that need those use the broker.
type fake struct {
	mu      sync.Mutex
	records map[bridge.ID]bridge.Record
	order   []bridge.ID // of opening
	notes   map[string]string
	leases  map[string]string // holder by name
	counts  map[string]int
	jobs    []bridge.Job // handed out by Claim
	gone    []string     // what became of jobs: their kind and "done", "retry …" or "dead: …"
	overdue []bridge.Expiry
	lost    bool  // every lease of a job was lost
	refuses error // of every call, if set
	drops   int   // updates of jobs that fail from now on
	next    int
	due     time.Duration // until the next step, as the last amendment set it
	changed await.Bell    // rings after changes of records
}

func newFake() *fake {
	return &fake{
		records: map[bridge.ID]bridge.Record{}, notes: map[string]string{}, leases: map[string]string{},
		counts: map[string]int{},
	}
}

// put stores a pending record of an interaction with an ID of its own.
func (f *fake) put(t testing.TB, i bridge.Interaction) bridge.Record {
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
	f.set(r)
	return r
}

func (f *fake) set(r bridge.Record) {
	defer f.changed.Ring()
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.records[r.Interaction.ID]; !known {
		f.order = append(f.order, r.Interaction.ID)
	}
	f.records[r.Interaction.ID] = r
}

// get returns a record, whatever happens to other calls.
func (f *fake) get(id bridge.ID) bridge.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.records[id]
}

// outcomes returns what became of jobs, in order.
func (f *fake) outcomes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.gone)
}

// fail makes every call return err.
func (f *fake) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuses = err
}

func (f *fake) Open(_ context.Context, o bridge.Opening) (bridge.Record, bool, error) {
	r := bridge.Record{Interaction: o.Interaction, State: bridge.StatePending, Failures: o.Failures, Response: o.Response}
	if o.Response != nil {
		r.State = o.Response.State
	}
	f.set(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes["key:"+o.Identity.Name] = string(o.Interaction.ID)
	return r, true, nil
}

func (f *fake) Known(_ context.Context, o bridge.Opening) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return o.Identity.Name != "" && f.notes["key:"+o.Identity.Name] != "", f.refuses
}

// Sending implements bridge.Records.
func (f *fake) Sending(_ context.Context, r bridge.Record, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Sent = time.Now()
	f.records[r.Interaction.ID] = r
	return f.refuses
}

// Abandon implements bridge.Records. The fake has one caller.
func (f *fake) Abandon(context.Context, bridge.ID, string, bool) (bool, error) {
	return true, f.refuses
}

func (f *fake) Load(_ context.Context, id bridge.ID) (bridge.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.records[id]
	if !ok && f.refuses == nil {
		return r, bridge.Errorf(bridge.CodeNotFound, "no interaction %s", id)
	}
	return r, f.refuses
}

// Inspect implements bridge.Records.
func (f *fake) Inspect(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	return f.Load(ctx, id)
}

// Mark applies what the parts read again. An amendment has to expect the
// number of those before it.
func (f *fake) Mark(_ context.Context, id bridge.ID, m bridge.Mark) (bridge.Record, error) {
	defer f.changed.Ring()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.records[id]
	if f.refuses != nil {
		return r, f.refuses
	}
	switch {
	case m.Posted != nil:
		r.Messages = with(r.Messages, m.Posted.Destination, m.Posted.Ref)
		r.Shown = with(r.Shown, m.Posted.Destination, m.Posted.Content)
	case m.Shown != nil:
		r.Shown = with(r.Shown, m.Shown.Destination, m.Shown.Content)
	case m.Failed != nil:
		r.Failures = with(r.Failures, m.Failed.Destination, m.Failed.Reason)
	case m.Late != nil:
		r.Late = with(r.Late, m.Late.Destination, time.Now().Add(m.Late.Delay))
	case m.Part != nil:
		s := r.Sending[m.Part.Destination]
		s.Content, s.Parts = m.Part.Content, append(slices.Clone(s.Parts), m.Part.Ref)
		r.Sending = with(r.Sending, m.Part.Destination, s)
	case m.Amended != nil && m.Amended.Expect != r.Amended:
		return r, bridge.Errorf(bridge.CodeConflict, "it was amended")
	case m.Amended != nil:
		r.Interaction, r.Amended = m.Amended.Interaction, r.Amended+1
		if then := m.Amended.Then; then != nil {
			r.Step, f.due = then.Index, then.In
		}
		r.Reminders = append(slices.Clone(r.Reminders), m.Amended.Reminders...)
	case m.Deleted != nil && r.Messages[m.Deleted.Destination] == m.Deleted.Ref:
		r.Messages, r.Shown = maps.Clone(r.Messages), maps.Clone(r.Shown)
		delete(r.Messages, m.Deleted.Destination)
		delete(r.Shown, m.Deleted.Destination)
		if m.Deleted.Again {
			f.gone = append(f.gone, "post again "+strconv.Itoa(m.Deleted.Destination))
		}
	case m.Redraw != nil:
		f.gone = append(f.gone, "redraw "+strconv.Itoa(*m.Redraw))
	case m.Queued > 0:
		r.Queued = time.Now()
	case m.Completed != nil:
		r.Completion = m.Completed
	}
	r.Revision++
	f.records[id] = r
	return r, nil
}

// Delivered implements bridge.Records.
func (f *fake) Delivered(_ context.Context, r bridge.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.records[r.Interaction.ID]
	if f.refuses == nil {
		now.Delivered = time.Now()
		now.Revision++
		f.records[r.Interaction.ID] = now
	}
	return f.refuses
}

func with[V any](m map[int]V, k int, v V) map[int]V {
	out := map[int]V{}
	maps.Copy(out, m)
	out[k] = v
	return out
}

func (f *fake) Await(ctx context.Context, id bridge.ID) (*bridge.Record, error) {
	for {
		changed := f.changed.Next()
		if r := f.get(id); r.Over() {
			return &r, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (f *fake) AwaitThen(ctx context.Context, id bridge.ID, then func(bridge.Awaited)) {
	go then(func() (*bridge.Record, error) { return f.Await(ctx, id) })
}

func (f *fake) Pending(_ context.Context, agent, session string) ([]bridge.ID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []bridge.ID
	for _, id := range slices.Backward(f.order) {
		i := f.records[id].Interaction
		if f.records[id].State.Final() || agent != "" && i.Agent != agent || session != "" && i.Session != session {
			continue
		}
		out = append(out, id)
	}
	if agent == "" && session == "" {
		slices.SortStableFunc(out, func(a, b bridge.ID) int {
			return f.records[a].Interaction.Deadline.Compare(f.records[b].Interaction.Deadline)
		})
	}
	return out, f.refuses
}

func (f *fake) Settle(_ context.Context, s bridge.Settlement) (bridge.Record, bool, error) {
	defer f.changed.Ring()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.records[s.ID]
	if f.refuses != nil || r.State.Final() {
		return r, false, f.refuses
	}
	r.State, r.Response = s.Response.State, &s.Response
	f.records[s.ID] = r
	return r, true, nil
}

func (f *fake) Vote(context.Context, bridge.Ballot) (bridge.Record, bridge.BallotResult, error) {
	return bridge.Record{}, "", bridge.Errorf(bridge.CodeInternal, "the fake counts no votes")
}

func (f *fake) PutNote(_ context.Context, key, value string, _ time.Duration) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, taken := f.notes[key]; !taken && f.refuses == nil {
		f.notes[key] = value
	}
	return f.notes[key], f.refuses
}

func (f *fake) SetNote(_ context.Context, key, value string, _ time.Duration) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuses == nil {
		f.notes[key] = value
	}
	return f.refuses
}

func (f *fake) Note(_ context.Context, key string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.notes[key], f.refuses
}

func (f *fake) DropNote(_ context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.notes, key)
	return f.refuses
}

// Hold keeps a lease until it is released or taken by a test.
func (f *fake) Hold(_ context.Context, name, holder string, _ time.Duration) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases[name] == "" && f.refuses == nil {
		f.leases[name] = holder
	}
	return f.leases[name] == holder, f.refuses
}

func (f *fake) Release(_ context.Context, name, holder string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases[name] == holder {
		delete(f.leases, name)
	}
	return f.refuses
}

// lease gives a lease to a holder; an empty one frees it.
func (f *fake) lease(name, holder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leases[name] = holder
}

func (f *fake) holder(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.leases[name]
}

// work makes a job, which Claim hands out once.
func (f *fake) work(kind bridge.JobKind, id bridge.ID, n int) bridge.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	j := bridge.Job{
		ID: strconv.Itoa(f.next), Kind: kind, Interaction: id, Destination: n, Attempt: 1, Began: time.Now(),
	}
	f.jobs = append(f.jobs, j)
	return j
}

func (f *fake) Claim(_ context.Context, n int, _ time.Duration) ([]bridge.Job, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuses != nil {
		return nil, f.refuses
	}
	n = min(n, len(f.jobs))
	out := f.jobs[:n]
	f.jobs = f.jobs[n:]
	return out, nil
}

func (f *fake) end(j bridge.Job, how string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.drops > 0 {
		f.drops--
		return bridge.Errorf(bridge.CodeUnavailable, "redis is unreachable")
	}
	f.gone = append(f.gone, string(j.Kind)+" "+how)
	return f.refuses
}

func (f *fake) Finish(_ context.Context, j bridge.Job) error { return f.end(j, "done") }

func (f *fake) Retry(_ context.Context, j bridge.Job, d time.Duration, reason string) error {
	how := "retry in " + d.Round(10*time.Millisecond).String()
	if reason == "" {
		how += ", not counted"
	}
	if j.Stays {
		how += ", in its place"
	}
	return f.end(j, how)
}

func (f *fake) Bury(_ context.Context, j bridge.Job, reason string) error {
	return f.end(j, "dead: "+reason)
}

func (f *fake) Wait(ctx context.Context, d time.Duration) { bridge.Pause(ctx, d) }

func (f *fake) Extend(context.Context, bridge.Job, time.Duration) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.lost, f.refuses
}

// Expire ends one of those that are overdue.
func (f *fake) Expire(context.Context, int) ([]bridge.Expiry, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuses != nil || len(f.overdue) == 0 {
		return nil, false, f.refuses
	}
	out := f.overdue[:1]
	f.overdue = f.overdue[1:]
	return out, len(f.overdue) > 0, nil
}

func (f *fake) Count(_ context.Context, agent string, _ time.Time) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[agent]++
	return f.counts[agent], f.refuses
}

func (f *fake) PendingOf(ctx context.Context, agent string) (int, error) {
	ids, err := f.Pending(ctx, agent, "")
	return len(ids), err
}

// Setting returns an empty setting. The fake has no grants and no front ends.
func (f *fake) Setting(context.Context, bridge.SettingQuery) (bridge.Setting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bridge.Setting{}, f.refuses
}

func (f *fake) Present(context.Context, string) (int, int, error) { return 0, 0, f.refuses }
