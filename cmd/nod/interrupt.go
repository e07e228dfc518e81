package main

import (
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

// withdrawTime limits how long an interrupted command takes to cancel its
// request.
const withdrawTime = 3 * time.Second

// outlasting returns a context that ends d after ctx, so that a call that is in
// progress when a signal arrives can still return its result.
func outlasting(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(d, cancel)
		context.AfterFunc(late, func() { t.Stop() })
	})
	return late, func() { stop(); cancel() }
}

// withdraw cancels the request of an interrupted command, unless --keep is set,
// and reports the result on stderr.
func (a *asking) withdraw(ctx context.Context, stderr io.Writer, c *client.Client, rec bridge.Record, caller, key string) error {
	s, _ := interrupted(ctx)
	id := rec.Interaction.ID
	if a.keep {
		fmt.Fprintf(stderr, "nod: %s; %s stays open; to resume the wait, repeat the command with --key %s\n", s, id, key)
		return s
	}
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer stop()
	ended, err := c.Leave(late, id, caller, "interrupted at the command line")
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "nod: %s; cannot cancel %s, which stays open: %s\n", s, id, bridge.PublicError(err).Message)
		fmt.Fprintf(stderr, "nod: hint: cancel it with: nod cancel %s\n", id)
	case !ended.State.Final():
		fmt.Fprintf(stderr, "nod: %s; %s stays open for the other calls that share its answer\n", s, id)
	case ended.State == bridge.StateCancelled:
		fmt.Fprintf(stderr, "nod: %s; cancelled %s\n", s, id)
	default:
		fmt.Fprintf(stderr, "nod: %s; %s was already %s; nothing was done\n", s, id, ended.Outcome())
	}
	return s
}
