// Package cli holds what the commands of nod and nod-hook have in common:
// streams, signals, exit codes, flags, and the texts of errors. It does not
// depend on the commands, and does not call the daemon. Start reading at Run.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/cmd/nod/terminal"
)

// Program is a program with commands.
type Program struct {
	Name string
	// Tree returns all commands.
	Tree func() *cobra.Command
	// Version is the output of --version.
	Version string
	// Code adjusts the exit code of a command. It may be nil.
	Code func(cmd *cobra.Command, code int) int
}

// Run runs the program with the given arguments and streams, and returns the
// exit code. A command with incomplete output fails.
func (p Program) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	code := p.run(args, stdin, out, stderr)
	if err := out.lost(); err != nil && code == 0 {
		return Complain(stderr, err)
	}
	return code
}

func (p Program) run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := UntilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := p.Tree()
	args = withoutRemoved(root, args, stderr)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if group, rest := findGroup(root, args); group != nil {
		if err := p.runGroup(group, rest, stderr); err != nil {
			return Complain(stderr, err)
		}
		return 0
	}
	cmd, err := root.ExecuteContextC(ctx)
	if own, ok := errors.AsType[Exit](err); ok {
		return own.Exit(stderr)
	}
	code := exitCode(ctx, stderr, err)
	if p.Code != nil {
		code = p.Code(cmd, code)
	}
	return code
}

// Exit is an error that ends the program in a specific way.
type Exit interface {
	error
	// Exit reports the error if necessary, and returns the exit code.
	Exit(stderr io.Writer) int
}

// exitCode prints an error and returns its exit code.
func exitCode(ctx context.Context, stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[ExitError](err); ok {
		return int(exit)
	}
	if s, ok := Interrupted(ctx); ok && errors.Is(err, context.Canceled) {
		return s.Exit(stderr)
	}
	return Complain(stderr, err)
}

// ExitError ends the program with an exit code and without output, because
// everything has been reported.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Complain prints an error with its hint and returns the exit code.
func Complain(w io.Writer, err error) int {
	e, ok := errors.AsType[*bridge.Error](err)
	if !ok {
		fmt.Fprintf(w, "%s %s\n", terminal.Colors(w).Paint(terminal.Red, "nod:"), visible.Text(bridge.PublicText(err)))
		if errors.Is(err, context.Canceled) {
			return bridge.CodeUnavailable.ExitCode()
		}
		return bridge.CodeInvalid.ExitCode()
	}
	msg := e.Message
	if e.Cause != nil {
		msg += ": " + e.Cause.Error()
	}
	fmt.Fprintf(w, "%s %s\n", terminal.Colors(w).Paint(terminal.Red, "nod:"), visible.Text(msg))
	if e.Hint != "" {
		fmt.Fprintf(w, "nod: hint: %s\n", visible.Text(e.Hint))
	}
	return e.Code.ExitCode()
}

// WithHint returns the text of an error and its hint in one line.
func WithHint(err error) string {
	if e := bridge.PublicError(err); e.Code != bridge.CodeInternal && e.Hint != "" {
		return e.Message + "; " + e.Hint
	}
	return bridge.PublicText(err)
}
