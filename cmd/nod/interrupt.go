package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
)

// interruption is the cancellation cause of a context that a signal ended.
type interruption struct{ os.Signal }

func (i interruption) Error() string {
	if i.Signal == os.Interrupt {
		return "interrupted"
	}
	return "interrupted by the signal " + i.String()
}

// exitCode returns 128 plus the number of the signal, as shells do.
func (i interruption) exitCode() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 130
}

// interrupted returns the signal that ended ctx.
func interrupted(ctx context.Context) (interruption, bool) {
	return errors.AsType[interruption](context.Cause(ctx))
}

// sameSignal is the time in which further signals are the same request to end:
// timeout and some supervisors signal a program and then its process group.
const sameSignal = time.Second

// untilSignal returns a context that ends with the first of the signals. After
// sameSignal, another one has its default effect, which ends the program.
func untilSignal(parent context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
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
			cancel(interruption{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { release(); cancel(context.Canceled) }
}

// withdrawn reports on stderr what became of the request of an interrupted
// command.
func (a *asking) withdrawn(stderr io.Writer, s interruption, left *client.LeftError, key string) {
	id, ended := left.ID, left.Ended
	switch {
	case a.keep:
		fmt.Fprintf(stderr, "nod: %s; %s stays open; to resume the wait, repeat the command with --key %s\n", s, cmp.Or(string(id), "the request"), key)
	case left.Err != nil && id == "":
		fmt.Fprintf(stderr, "nod: %s; unknown whether the request is open: %s\n", s, bridge.PublicError(left.Err).Message)
	case left.Err != nil:
		fmt.Fprintf(stderr, "nod: %s; cannot cancel %s, which stays open: %s\n", s, id, bridge.PublicError(left.Err).Message)
		fmt.Fprintf(stderr, "nod: hint: cancel it with: nod cancel %s\n", id)
	case !ended.State.Final():
		fmt.Fprintf(stderr, "nod: %s; %s stays open for the other calls that share its answer\n", s, id)
	case ended.State == bridge.StateCancelled:
		fmt.Fprintf(stderr, "nod: %s; cancelled %s\n", s, id)
	default:
		fmt.Fprintf(stderr, "nod: %s; %s was already %s; nothing was done\n", s, id, ended.Outcome())
	}
}
