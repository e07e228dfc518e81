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
	"github.com/nodbridge/nod/cmd/nod/cli"
)

// runExitCodes is the text about exit codes in the help of nod run.
const runExitCodes = `Codes 111 to 118 are reserved for nod and mean that
nothing ran: 111 denied, 112 usage or command not found, 113 expired,
114 cancelled, 115 unavailable or undeliverable, 116 forbidden, 117 deferred,
118 approved but not started. If the command itself exits with one of these
codes, nod reports it on stderr.`

const (
	reservedBase = 110 // added to the exit codes that other commands use
	notStarted   = 8   // approved, but the command could not be started
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

// Exit implements cli.Exit. If the code is one that nod reserves, it also
// reports that it comes from the command.
func (e commandExit) Exit(stderr io.Writer) int {
	if e.code > reservedBase && e.code <= reservedMax {
		fmt.Fprintf(stderr, "nod: the command itself exited with code %d\n", e.code)
	}
	return e.code
}

// execute runs the command with the given standard input and nod's other
// standard streams. It passes signals on to the command, and returns its exit
// code as an error.
func execute(cmd *cobra.Command, path string, args []string, in io.Reader) error {
	child := &exec.Cmd{Path: path, Args: args, Stdin: in, Stdout: cli.Plain(cmd.OutOrStdout()), Stderr: cmd.ErrOrStderr()}
	received := make(chan os.Signal, 16)
	signals := slices.DeleteFunc(slices.Clone(passedSignals), signal.Ignored)
	if len(signals) > 0 {
		signal.Notify(received, signals...)
	}
	defer signal.Stop(received)
	if err := child.Start(); err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod: %q was approved but could not be started: %v\n", args[0], err)
		return cli.ExitError(notStarted)
	}
	defer reapOrphans(child.Process)()
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-received:
				if !reachesGroup(s) {
					_ = child.Process.Signal(s) // the command may have exited
				}
			case <-done:
				return
			}
		}
	}()
	err := child.Wait()
	close(done)
	if child.ProcessState == nil {
		return bridge.Wrap(bridge.CodeInternal, err, "%q: unknown exit status", args[0])
	}
	switch code := child.ProcessState.ExitCode(); {
	case code > 0:
		return commandExit{args[0], code}
	case code < 0:
		return commandExit{args[0], signalled(child.ProcessState)}
	}
	if err != nil { // the command succeeded, but its output could not be copied
		return bridge.Wrap(bridge.CodeInternal, err, "%q: copy output", args[0])
	}
	return nil
}
