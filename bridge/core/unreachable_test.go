package core_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

// counted marks the context of the calls that a flaky store counts.
type counted struct{}

// flaky is a store that fails one of the counted calls, before it has any effect.
type flaky struct {
	broker.Store
	calls, fails int // number of the call that fails
}

func (f *flaky) err(ctx context.Context) error {
	if ctx.Value(counted{}) == nil {
		return nil
	}
	if f.calls++; f.calls == f.fails {
		return bridge.Errorf(bridge.CodeUnavailable, "the store is unreachable")
	}
	return nil
}

// try calls the store unless this call fails.
func try[T any](ctx context.Context, f *flaky, call func() (T, error)) (out T, err error) {
	if err := f.err(ctx); err != nil {
		return out, err
	}
	return call()
}

func (f *flaky) Get(ctx context.Context, keys ...broker.Key) ([]broker.Doc, error) {
	return try(ctx, f, func() ([]broker.Doc, error) { return f.Store.Get(ctx, keys...) })
}

func (f *flaky) Do(ctx context.Context, c broker.Change) (broker.Done, error) {
	return try(ctx, f, func() (broker.Done, error) { return f.Store.Do(ctx, c) })
}

func (f *flaky) Range(ctx context.Context, q broker.Query) ([]broker.Member, error) {
	return try(ctx, f, func() ([]broker.Member, error) { return f.Store.Range(ctx, q) })
}

func (f *flaky) Count(ctx context.Context, index string, from time.Time) (int, error) {
	return try(ctx, f, func() (int, error) { return f.Store.Count(ctx, index, from) })
}

func (f *flaky) Claim(ctx context.Context, n int, lease time.Duration) ([]broker.Job, time.Duration, error) {
	if err := f.err(ctx); err != nil {
		return nil, 0, err
	}
	return f.Store.Claim(ctx, n, lease)
}

func (f *flaky) Release(ctx context.Context, j broker.Job, how broker.Release) (broker.Released, error) {
	return try(ctx, f, func() (broker.Released, error) { return f.Store.Release(ctx, j, how) })
}

func (f *flaky) Sample(ctx context.Context, index string, n int) ([]string, error) {
	return try(ctx, f, func() ([]string, error) { return f.Store.Sample(ctx, index, n) })
}

func (f *flaky) Work(ctx context.Context) (jobs, dead int, lag time.Duration, err error) {
	if err := f.err(ctx); err != nil {
		return 0, 0, 0, err
	}
	return f.Store.Work(ctx)
}

func (f *flaky) Confirm(ctx context.Context, read ...broker.Version) error {
	_, err := try(ctx, f, func() (struct{}, error) { return struct{}{}, f.Store.Confirm(ctx, read...) })
	return err
}

// use is a call of a store, with a request and a job to call it for.
type use struct {
	*stored.Store
	t   *testing.T
	ctx context.Context
	r   bridge.Record
	job core.Job
}

// err1 and err2 return the error of a call with one or two other results.
func err1[A any](_ A, err error) error         { return err }
func err2[A, B any](_ A, _ B, err error) error { return err }

// TestUnreachable checks that every operation reports each failure of the store, so
// that no caller takes a missing answer for an empty one.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	cancelled := bridge.Response{State: bridge.StateCancelled}
	for name, do := range map[string]func(use) error{
		"stats":   func(u use) error { return err1(u.Stats(u.ctx)) },
		"pending": func(u use) error { return err1(u.Pending(u.ctx, "ci", "")) },
		"load":    func(u use) error { return err1(u.Load(u.ctx, u.r.Interaction.ID)) },
		"inspect": func(u use) error { return err1(u.Inspect(u.ctx, u.r.Interaction.ID)) },
		"read":    func(u use) error { return err1(u.Read(u.ctx, []bridge.ID{u.r.Interaction.ID})) },
		"known":   func(u use) error { return err1(u.Known(u.ctx, life.Opening{Identity: bridge.Identity{Retry: "k"}})) },
		"open":    func(u use) error { return err2(u.Open(u.ctx, opening(u.t, "", nil))) },
		"settle":  func(u use) error { return err2(u.Resolve(u.ctx, yes(u.r.Interaction.ID, "U1"))) },
		"vote":    func(u use) error { return err2(u.Vote(u.ctx, ballot(u.r.Interaction.ID, "ana", bridge.StateApproved))) },
		"mark": func(u use) error {
			return err1(u.Mark(u.ctx, u.r.Interaction.ID, life.Refresh{}))
		},
		"abandon": func(u use) error { return err1(u.Abandon(u.ctx, u.r.Interaction.ID, "", false, cancelled)) },
		"sending": func(u use) error {
			approve(u.t, u, u.r.Interaction.ID)
			return u.Sending(u.ctx, must[bridge.Record](u.t)(u.Load(u.t.Context(), u.r.Interaction.ID)), "")
		},
		"delivered": func(u use) error {
			approve(u.t, u, u.r.Interaction.ID)
			return u.Delivered(u.ctx, must[bridge.Record](u.t)(u.Load(u.t.Context(), u.r.Interaction.ID)))
		},
		"expire": func(u use) error {
			pass(u.t, time.Hour)
			return err2(u.Expire(u.ctx, 10))
		},
		"claim":  func(u use) error { return err1(u.Claim(u.ctx, 10, time.Minute)) },
		"extend": func(u use) error { return err1(u.Extend(u.ctx, u.job, time.Minute)) },
		"finish": func(u use) error { return u.Finish(u.ctx, u.job) },
		"retry":  func(u use) error { return u.Retry(u.ctx, u.job, time.Minute, "") },
		"bury":   func(u use) error { return u.Bury(u.ctx, u.job, "gone") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, reached := 1, true; reached; n++ {
				synctest.Test(t, func(t *testing.T) {
					seals := broker.NewSeals([]byte("key"))
					db := &flaky{Store: memory.New(seals), fails: n}
					s := stored.On(t, db, seals, core.Options{Node: "n"})
					u := use{s, t, context.WithValue(t.Context(), counted{}, true), open(t, s, nil), claimAll(t, s, 1)[0]}
					err := do(u)
					if reached = db.calls >= n; reached == (err == nil) || n == 1 && !reached {
						t.Errorf("with call %d of %d failing: %v", n, db.calls, err)
					}
				})
			}
		})
	}
}
