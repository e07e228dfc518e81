// Command nod asks a human in Slack, Discord or Telegram for an agent, and
// brings the answer back.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

func main() {
	quietRedis()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := fullTree()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if group, rest := findGroup(root, args); group != nil {
		if err := runGroup(group, rest, stderr); err != nil {
			return complain(stderr, err)
		}
		return 0
	}
	cmd, err := root.ExecuteContextC(ctx)
	if own, ok := errors.AsType[commandExit](err); ok {
		return own.report(stderr)
	}
	if s, ok := errors.AsType[interruption](err); ok {
		return s.exitCode()
	}
	code := exitCode(ctx, stderr, err)
	if cmd.Name() == "run" {
		return reservedExit(code)
	}
	return code
}

// exitCode prints an error and returns its exit code.
func exitCode(ctx context.Context, stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[exitError](err); ok {
		return int(exit)
	}
	if s, ok := interrupted(ctx); ok && errors.Is(err, context.Canceled) {
		fmt.Fprintln(stderr, "nod: "+s.Error())
		return s.exitCode()
	}
	return complain(stderr, err)
}

// exitError ends the program with a code and says nothing: what there is to
// say has been said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// complain prints an error with its hint and returns the exit code.
func complain(w io.Writer, err error) int {
	e, ok := errors.AsType[*bridge.Error](err)
	if !ok {
		fmt.Fprintf(w, "nod: %s\n", render.Clean(err.Error()))
		if errors.Is(err, context.Canceled) {
			return bridge.CodeUnavailable.ExitCode()
		}
		return bridge.CodeInvalid.ExitCode()
	}
	msg := e.Message
	if e.Cause != nil {
		msg += ": " + e.Cause.Error()
	}
	fmt.Fprintf(w, "nod: %s\n", render.Clean(msg))
	if e.Hint != "" {
		fmt.Fprintf(w, "nod: hint: %s\n", render.Clean(e.Hint))
	}
	return e.Code.ExitCode()
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nod",
		Short: "your agents ask, your team nods, from any chat",
		Long: `nod carries questions and approvals from AI agents, scripts and CI to the people
in Slack, Discord and Telegram, and their answer back.

Try it, without tokens or Redis:  nod demo

Exit codes: 0 answered or approved, 1 denied, 2 usage, 3 expired,
4 cancelled or gone, 5 unavailable, 6 forbidden, 7 queued, and 130, 143 or 129
if SIGINT, SIGTERM or SIGHUP ended the wait. nod run adds 110 to its own codes,
so that they differ from those of the command that it runs.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
	}
	root.AddCommand(
		demoCommand(), serveCommand(), sandboxCommand(),
		askCommand(), approveCommand(), runCommand(), notifyCommand(),
		listCommand(), showCommand(), answerCommand(), cancelCommand(), eventsCommand(), messagesCommand(), channelCommand(), grantsCommand(), receiptCommand(), auditCommand(), policyCommand(), linkCommand(), tokenCommand(), benchCommand(),
		hookCommand(), mcpCommand(), proxyCommand(), initCommand(), doctorCommand(),
		configCommand(), backupCommand(), restoreCommand(), manifestCommand(), versionCommand(), manCommand(),
	)
	return root
}
