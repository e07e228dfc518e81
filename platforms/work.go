package platforms

import (
	"context"
	"sync"
)

// recordsAtOnce and talksAtOnce bound what an adapter does at the same time.
const (
	recordsAtOnce = 64
	talksAtOnce   = 64
)

// Handle records what a person did, and returns what follows: everything that
// needs the service. It may return nil.
type Handle func(context.Context) (then func(context.Context))

// Work records what people do, and talks to them afterwards. Both are bounded
// apart, so that a service that is slow to take a reply never delays the click of
// someone else. The receiver of a service waits for neither.
type Work struct {
	all     *sync.WaitGroup
	records chan struct{}
	talks   chan struct{}
}

// NewWork returns a Work whose goroutines are in a group.
func NewWork(all *sync.WaitGroup) *Work {
	return &Work{all, make(chan struct{}, recordsAtOnce), make(chan struct{}, talksAtOnce)}
}

// Do starts a handler as soon as wait returns, and calls recorded when what the
// person did is in the store. It does not block. What has begun is finished even
// if ctx ends.
func (w *Work) Do(ctx context.Context, wait func(), handle Handle, recorded func()) {
	ctx = context.WithoutCancel(ctx)
	w.all.Go(func() {
		wait() // without a slot, which what it waits for may need
		then := w.record(ctx, handle)
		recorded()
		if then == nil {
			return
		}
		w.talks <- struct{}{}
		defer func() { <-w.talks }()
		then(ctx)
	})
}

func (w *Work) record(ctx context.Context, handle Handle) func(context.Context) {
	w.records <- struct{}{}
	defer func() { <-w.records }()
	return handle(ctx)
}

// Go runs something else in the group.
func (w *Work) Go(f func()) { w.all.Go(f) }
