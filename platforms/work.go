package platforms

import (
	"context"
	"sync"
)

// recordsAtOnce and talksAtOnce limit the concurrent work of an adapter.
const (
	recordsAtOnce = 64
	talksAtOnce   = 64
)

// Handle records an action of a person. It returns a function for all further
// work that needs the service, or nil.
type Handle func(context.Context) (then func(context.Context))

// Work records the actions of people, and calls the service afterward. Both
// have a separate limit, so a service that responds slowly never delays the
// click of another person. The receiver of a service does not wait for them.
type Work struct {
	all     *sync.WaitGroup
	records chan struct{}
	talks   chan struct{}
}

// NewWork returns a Work whose goroutines are in a group.
func NewWork(all *sync.WaitGroup) *Work {
	return &Work{all, make(chan struct{}, recordsAtOnce), make(chan struct{}, talksAtOnce)}
}

// Do starts a handler as soon as wait returns, and calls recorded when the
// action of the person is stored. It does not block. Work that has started is
// finished even if ctx ends.
func (w *Work) Do(ctx context.Context, wait func(), handle Handle, recorded func()) {
	ctx = context.WithoutCancel(ctx)
	w.all.Go(func() {
		wait() // without a slot, because the awaited work may need one
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

// Go runs other work in the group.
func (w *Work) Go(f func()) { w.all.Go(f) }
