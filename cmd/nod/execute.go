package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

// runExitCodes describes the exit codes of nod run in its help.
const runExitCodes = `Codes 111 to 118 are reserved for nod:
111 denied, 112 usage or command not found, 113 expired, 114 cancelled,
115 unavailable, 116 forbidden, 117 queued, 118 approved but not started. With
all of them nothing ran. If the command itself exits with one of them, nod says
so on stderr.`

const (
	reservedBase = 110 // added to the exit codes of the other commands
	notStarted   = 8   // approved, and the command could not be started
	reservedMax  = reservedBase + notStarted
)

// reservedExit moves an exit code of nod into the range that nod run reserves.
func reservedExit(code int) int {
	if code <= 0 || code > notStarted {
		return code
	}
	return reservedBase + code
}

// commandExit ends the program with the exit code of the command that it ran.
type commandExit struct {
	name string
	code int
}

func (e commandExit) Error() string { return fmt.Sprintf("%s: exit %d", e.name, e.code) }

// report returns the code, and says that it is not nod's where it could be.
func (e commandExit) report(stderr io.Writer) int {
	if e.code > reservedBase && e.code <= reservedMax {
		fmt.Fprintf(stderr, "nod: the command ran and exited with %d itself\n", e.code)
	}
	return e.code
}

// execute runs the command with nod's files and signals, and returns its exit
// code as an error.
func execute(cmd *cobra.Command, path string, args []string) error {
	child := &exec.Cmd{Path: path, Args: args, Stdin: cmd.InOrStdin(), Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr()}
	received := make(chan os.Signal, 16)
	signals := slices.DeleteFunc(slices.Clone(passedSignals), signal.Ignored)
	if len(signals) > 0 {
		signal.Notify(received, signals...)
	}
	defer signal.Stop(received)
	if err := child.Start(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod: %q was approved but could not be started: %v\n", args[0], err)
		return exitError(notStarted)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-received:
				if !reachesGroup(s) {
					_ = child.Process.Signal(s) // it may have just ended
				}
			case <-done:
				return
			}
		}
	}()
	err := child.Wait()
	close(done)
	if child.ProcessState == nil {
		return bridge.Wrap(bridge.CodeInternal, err, "%q: its end is not known", args[0])
	}
	switch code := child.ProcessState.ExitCode(); {
	case code > 0:
		return commandExit{args[0], code}
	case code < 0:
		return commandExit{args[0], signalled(child.ProcessState)}
	}
	if err != nil { // it ended well, but its output was not passed on
		return bridge.Wrap(bridge.CodeInternal, err, "%q: output", args[0])
	}
	return nil
}
