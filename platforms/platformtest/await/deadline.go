package await

import (
	"context"
	"sync"
)

// Deadline returns a context with the values of ctx, whose deadline passes when pass is
// called. It does not end with ctx. Further calls of pass do nothing.
func Deadline(ctx context.Context) (limited context.Context, pass func()) {
	i := impatient{ctx, make(chan struct{})}
	return i, sync.OnceFunc(func() { close(i.over) })
}

type impatient struct {
	context.Context
	over chan struct{}
}

func (i impatient) Done() <-chan struct{} { return i.over }

func (i impatient) Err() error {
	select {
	case <-i.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
