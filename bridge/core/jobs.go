package core

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
)

// Job is leased work on one message.
type Job struct {
	ID          string // edits of one message share an ID
	Kind        life.JobKind
	Interaction bridge.ID
	Destination int
	Attempt     int       // 1 for the first attempt
	Fence       int64     // changes with each lease
	Generation  int64     // changes with each request for the job
	Began       time.Time // when a worker first claimed it
	// KeepsPlace means that a card keeps its place among the cards of its agent in
	// its channel while it is retried, so the next cards wait; see
	// Interaction.Line.
	KeepsPlace bool
}

// jobs implements Outbox.
type jobs struct{ *shared }

// Claim implements Outbox. It begins with the jobs that have been due for the
// longest time. A job whose name it cannot read becomes a dead letter, so that the job
// does not hold up later ones.
func (js *jobs) Claim(ctx context.Context, n int, lease time.Duration) ([]Job, error) {
	began := time.Now()
	js.agenda.claim(began)
	all, next, err := js.db.Claim(ctx, n, lease)
	if err != nil {
		return nil, documents.Public(err)
	}
	if next >= 0 {
		js.agenda.expect(began.Add(next))
	}
	var out []Job
	for _, j := range all {
		name, _ := j.Parts()
		kind, id, index, err := life.ParseJob(name)
		if err != nil {
			js.log.Error("unreadable job", "job", j.Name, "error", err)
			unread := Job{ID: j.Name, Attempt: j.Attempt, Fence: j.Fence, Generation: j.Generation}
			if err := js.Bury(ctx, unread, err.Error()); err != nil { // the next claim tries again
				js.log.Warn("unreadable job not buried", "job", j.Name, "error", err)
			}
			continue
		}
		out = append(out, Job{
			ID: j.Name, Kind: kind, Interaction: id, Destination: index, Attempt: j.Attempt, Fence: j.Fence, Generation: j.Generation, Began: j.Began,
		})
	}
	return out, nil
}

func (js *jobs) release(ctx context.Context, j Job, how broker.Release) (broker.Released, error) {
	how.KeepsPlace = how.KeepsPlace || j.KeepsPlace
	got, err := js.db.Release(ctx, broker.Job{Name: j.ID, Fence: j.Fence, Generation: j.Generation}, how)
	if err == nil && how.Extend == 0 { // the next job of its queue may be due
		js.agenda.poke()
	}
	return got, documents.Public(err)
}

// Extend implements Outbox.
func (js *jobs) Extend(ctx context.Context, j Job, d time.Duration) (bool, error) {
	got, err := js.release(ctx, j, broker.Release{Extend: d})
	return got != broker.Lost, err
}

// Finish implements Outbox.
func (js *jobs) Finish(ctx context.Context, j Job) error {
	_, err := js.release(ctx, j, broker.Release{Done: true})
	return err
}

// Retry implements Outbox.
func (js *jobs) Retry(ctx context.Context, j Job, d time.Duration, reason string) error {
	if reason != "" {
		js.log.Warn("delivery failed; will retry", "job", j.Kind, "id", j.Interaction, "destination", j.Destination, "attempt", j.Attempt, "in", d, "reason", reason)
	}
	_, err := js.release(ctx, j, broker.Release{Again: max(d, time.Millisecond), Free: reason == ""})
	js.agenda.expect(time.Now().Add(d))
	return err
}

// Bury implements Outbox.
func (js *jobs) Bury(ctx context.Context, j Job, reason string) error {
	letter, err := json.Marshal(struct {
		Job
		Reason string
		At     time.Time
	}{j, reason, js.db.Now()})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "dead letter")
	}
	_, err = js.release(ctx, j, broker.Release{Dead: letter})
	return err
}

// Wait implements Outbox. It also returns when the next job of any process
// is due, as far as this process knows.
func (js *jobs) Wait(ctx context.Context, d time.Duration) { js.agenda.wait(ctx, d) }

// claimEvery is the minimum time between two claims of a process that found no
// more jobs. It limits the number of useless claims while the process stores
// many jobs that are not due yet.
const claimEvery = 5 * time.Millisecond

// agenda holds the time when the next job is due, as far as this process knows.
// It is safe for concurrent use.
type agenda struct {
	nudge chan struct{} // receives a value when jobs may be due

	mu      sync.Mutex
	claimed time.Time // start of the last claim; zero means never
	next    time.Time // zero means that no job is known
}

func newAgenda() *agenda { return &agenda{nudge: make(chan struct{}, 1)} }

// claim records that a claim begins.
func (a *agenda) claim(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.claimed, a.next = now, time.Time{}
}

// expect records when the next job is due.
func (a *agenda) expect(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next.IsZero() || at.Before(a.next) {
		a.next = at
	}
}

// stored records the jobs of a change that this process stored.
func (a *agenda) stored(c broker.Change, now time.Time) {
	if len(c.Request) == 0 {
		return
	}
	for _, j := range c.Request {
		a.expect(time.Now().Add(j.Due.Sub(now)))
	}
	a.poke()
}

// poke wakes a waiting worker, because jobs may be due.
func (a *agenda) poke() {
	select {
	case a.nudge <- struct{}{}:
	default:
	}
}

// rest returns how long a worker without jobs sleeps: least in any case, and most
// unless this process stores jobs. most is d, or the time until the next known job
// if that is shorter, but not shorter than least.
func (a *agenda) rest(now time.Time, d time.Duration) (most, least time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.next.IsZero() {
		d = min(d, a.next.Sub(now))
	}
	least = max(0, claimEvery-now.Sub(a.claimed))
	return max(d, least), least
}

func (a *agenda) wait(ctx context.Context, d time.Duration) {
	most, least := a.rest(time.Now(), d)
	if !bridge.Pause(ctx, least) {
		return
	}
	t := time.NewTimer(most - least)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-a.nudge:
	case <-t.C:
	}
}
