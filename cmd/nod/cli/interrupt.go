package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Interruption is the cancellation cause of a context that a signal ended.
type Interruption struct{ os.Signal }

func (i Interruption) Error() string {
	if i.Signal == os.Interrupt {
		return "interrupted"
	}
	return "interrupted by the signal " + i.String()
}

// Exit implements Exit. It returns 128 plus the number of the signal, as shells do.
func (i Interruption) Exit(io.Writer) int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 130
}

// Interrupted returns the signal that ended ctx.
func Interrupted(ctx context.Context) (Interruption, bool) {
	return errors.AsType[Interruption](context.Cause(ctx))
}

// sameSignal is the time in which further signals are the same request to end:
// timeout and some supervisors signal a program and then its process group.
const sameSignal = time.Second

// UntilSignal returns a context that ends with the first of the signals. After
// sameSignal, another one has its default effect, which ends the program.
func UntilSignal(parent context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signals = slices.DeleteFunc(signals, signal.Ignored) // such as by nohup
	if len(signals) > 0 {
		signal.Notify(received, signals...)
	}
	var once sync.Once
	release := func() { once.Do(func() { signal.Stop(received) }) }
	go func() {
		select {
		case s := <-received:
			time.AfterFunc(sameSignal, release)
			cancel(Interruption{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { release(); cancel(context.Canceled) }
}
