package cli

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

	"github.com/spf13/cobra"
)

// Interruption is the cancellation cause of a context that a signal ended.
type Interruption struct{ os.Signal }

func (i Interruption) Error() string {
	switch i.Signal {
	case os.Interrupt:
		return "interrupted"
	case syscall.SIGTERM:
		return "interrupted by SIGTERM"
	case syscall.SIGHUP:
		return "interrupted by SIGHUP"
	}
	return "interrupted by the signal " + i.String()
}

// Exit implements Exit.
func (i Interruption) Exit(stderr io.Writer) int {
	fmt.Fprintln(stderr, "nod: "+i.Error())
	return i.Code()
}

// Code returns 128 plus the number of the signal, which is the exit code that
// shells use.
func (i Interruption) Code() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 130
}

// Interrupted returns the signal that ended ctx.
func Interrupted(ctx context.Context) (Interruption, bool) {
	return errors.AsType[Interruption](context.Cause(ctx))
}

// sameSignal is the time in which further signals count as the same request to
// end. The timeout command and some supervisors signal a program and then its
// process group.
const sameSignal = time.Second

// UntilSignal returns a context that ends at the first of the signals. After
// sameSignal, another signal has its default effect, which ends the program.
func UntilSignal(parent context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signals = slices.DeleteFunc(signals, signal.Ignored) // for example, nohup ignores SIGHUP
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

// UntilHangup also ends the context of a command at SIGHUP, which a closing
// terminal sends.
func UntilHangup(cmd *cobra.Command) context.CancelFunc {
	ctx, stop := UntilSignal(cmd.Context(), syscall.SIGHUP)
	cmd.SetContext(ctx)
	return stop
}
