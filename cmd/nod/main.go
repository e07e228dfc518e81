// Command nod asks people in Slack, Discord and Telegram on behalf of an agent
// and returns their answer.
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
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

func main() {
	daemon.QuietRedis()
	os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs nod with the given arguments and streams, and returns the exit code.
// A command whose output is incomplete has failed.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{Writer: stdout}
	code := run(args, stdin, out, stderr)
	if err := out.lost(); err != nil && code == 0 {
		return complain(stderr, err)
	}
	return code
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := fullTree()
	args = withoutRemoved(root, args, stderr)
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

// exitError ends the program with an exit code and prints nothing, because
// everything has been reported.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// complain prints an error with its hint and returns the exit code.
func complain(w io.Writer, err error) int {
	e, ok := errors.AsType[*bridge.Error](err)
	if !ok {
		fmt.Fprintf(w, "%s %s\n", terminal.Colors(w).Paint(terminal.Red, "nod:"), render.Clean(err.Error()))
		if errors.Is(err, context.Canceled) {
			return bridge.CodeUnavailable.ExitCode()
		}
		return bridge.CodeInvalid.ExitCode()
	}
	msg := e.Message
	if e.Cause != nil {
		msg += ": " + e.Cause.Error()
	}
	fmt.Fprintf(w, "%s %s\n", terminal.Colors(w).Paint(terminal.Red, "nod:"), render.Clean(msg))
	if e.Hint != "" {
		fmt.Fprintf(w, "nod: hint: %s\n", render.Clean(e.Hint))
	}
	return e.Code.ExitCode()
}

// withHint returns an error and what to do about it, in one line.
func withHint(err error) string {
	if e := bridge.PublicError(err); e.Code != bridge.CodeInternal && e.Hint != "" {
		return e.Message + "; " + e.Hint
	}
	return bridge.PublicText(err)
}

// commandGroups are the sections of nod --help with their commands, in order.
var commandGroups = []struct {
	title    string
	commands []func() *cobra.Command
}{
	{"Try it:", []func() *cobra.Command{demoCommand}},
	{"Ask people:", []func() *cobra.Command{askCommand, approveCommand, runCommand, notifyCommand}},
	{"Respond and inspect:", []func() *cobra.Command{
		listCommand, showCommand, answerCommand, cancelCommand, eventsCommand, sessionsCommand,
		grantsCommand, linkCommand, passkeyCommand,
	}},
	{"Connect agents:", []func() *cobra.Command{hookCommand, mcpCommand, proxyCommand}},
	{"Set up and operate:", []func() *cobra.Command{
		initCommand, doctorCommand, serveCommand, healthCommand, configCommand, policyCommand,
	}},
	{"Verify decisions:", []func() *cobra.Command{receiptCommand, auditCommand}},
}

// development are the commands that nod --help does not list, because those who
// ask people with nod do not need them.
var development = []func() *cobra.Command{sandboxCommand, manCommand}

// The help lists commands in the order of commandGroups.
func init() { cobra.EnableCommandSorting = false }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "nod",
		Short: "Human approval for AI agents, scripts and CI",
		Long: `nod asks people in Slack, Discord and Telegram on behalf of AI agents, scripts
and CI, and returns the first valid answer.

Try it without tokens or Redis, then connect your own chats:

  nod demo
  nod init
  nod doctor
  nod serve

Ask people from a script:

  nod approve "Delete prod-db?" && ./delete.sh
  nod run -- kubectl delete pod x
  region=$(nod ask "Which region?" --select eu,us)

Environment:
  NOD_URL      URL of the daemon (default http://127.0.0.1:8787)
  NOD_TOKEN    token of an agent or person
  NOD_CONFIG   path of the config file (default ~/.config/nod/nod.yaml)

Exit codes:
  0 answered or approved    4 cancelled, declined, replaced or not found
  1 denied                  5 unavailable, undeliverable or rate limited
  2 usage or invalid input  6 forbidden
  3 expired                 7 deferred; a late answer goes to the session
  130, 143 or 129 if SIGINT, SIGTERM or SIGHUP ended the wait

nod run adds 110 to its own exit codes, to keep them apart from those of the
command that it runs.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
	}
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, make := range g.commands {
			c := make()
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(versionCommand())
	for _, make := range development {
		c := make()
		c.Hidden = true
		root.AddCommand(c)
	}
	return root
}
