// Package hook is the command for the hooks of coding agents, which is part of
// both nod and nod-hook. It asks people through the daemon, and does not use
// its store or the platforms. Start reading at Command.
package hook

import (
	"context"
	"encoding/json"
	"io"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/hooks"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/cmd/nod/cli"
)

const (
	// Blocks is the exit code that blocks the tool and sends stderr to the
	// agent.
	Blocks = 2
	// undecided is the exit code that decides nothing and sends stderr to the
	// agent's user.
	undecided = 1
)

// flags are the flags of nod hook.
type flags struct {
	url, route, unanswered, fail string
	gate                         string
	timeout, grace               time.Duration
	patience, reportTime         time.Duration
	watch, wake, report          bool
}

// Command returns the command, with a subcommand for each agent.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Handle a hook of a coding agent",
		Long: `Handle a hook of a coding agent. The program nod-hook is the same command on its
own, which starts faster: "nod-hook claude" does what "nod hook claude" does.
"nod init" uses it if it is next to nod.`,
		Args: cobra.NoArgs,
	}
	for _, a := range hooks.Agents {
		cmd.AddCommand(hookOf(a))
	}
	return cmd
}

// gates describes the flags --gate and --fail.
const gates = `With --fail open, a gate lets the call pass while the
daemon is unreachable; any other failure still blocks. A hook that only reports,
or that checks whether the session was stopped, delays the agent for at most
--report-time.

With --gate, a gate asks people about the calls that one of its patterns selects,
and about those for which a rule of nod's policy asks or denies. The daemon
decides that, and the agent handles any other call as it would without nod.
Without --gate, it asks about every call.`

// decides describes, for each agent, what happens if no one decides.
var decides = map[string]string{
	"claude": `If someone is at the agent's own
terminal, its dialog stays open, and that person decides. A call at a gate
(PreToolUse) is denied with the reason and exit code 2. It is left to the
terminal only if nod cannot show it, the agent's permission mode has prompts, and
no one has stopped the session. Without a terminal (claude -p), everything is
denied with the reason. ` + gates + `

If no one responds in time, --unanswered ask leaves the request to the agent's
own terminal, unless the agent's permission mode has no prompts. --unanswered
deny denies it, and states that no person did.`,
	"codex": `If someone is at Codex's own
terminal, its dialog opens when the hook ends, and that person decides. At a gate
(PreToolUse), Codex cannot ask, so the call is denied with the reason and exit
code 2. ` + gates + `

If no one responds to a permission request in time, --unanswered ask leaves it to
Codex's own terminal. --unanswered deny denies it, and states that no person did.`,
	"copilot": `Copilot runs the hook before it
decides on its own, so nod asks people only if a rule of its policy asks, and
Copilot decides if nod cannot ask. If no one responds in time, the call is denied,
and the reason states that no person did.

The flags --gate, --fail and --unanswered have no effect, because Copilot has no
gates and nod does not know whether it would ask anyone.`,
}

func hookOf(agent hooks.Agent) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   agent.Name,
		Short: "Read a hook's input from stdin and print its output",
		Long: `Read a hook's input from stdin, ask in chat, and print the hook's output. The
hook survives restarts of the daemon. For an event that needs no decision, it prints {}.

A hook that fails never allows anything. ` + decides[agent.Name] + `

If the agent dies or ends the hook, nod cancels the request.

Write the settings with: nod init ` + agent.Name + watchHelp(agent.Name),
		Args: cobra.ArbitraryArgs, // run reports wrong arguments in the agent's format
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.watch:
				return f.watchSession(cmd)
			case f.wake:
				return f.wakeSession(cmd)
			}
			if len(args) > 0 {
				return f.run(cmd, agent, bridge.Errorf(bridge.CodeInvalid, "unknown argument %q", args[0]))
			}
			return f.run(cmd, agent, nil)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		f.fail = "closed"
		return f.run(cmd, agent, cli.FlagProblem(cmd, err))
	})
	cmd.Flags().StringVar(&f.url, "url", "", "URL of the daemon (NOD_URL; default http://127.0.0.1:8787)")
	cmd.Flags().StringVar(&f.route, "route", "", "route to use (default \"default\")")
	cli.DurationVar(cmd.Flags(), &f.timeout, "timeout", time.Hour, "how long people have to answer")
	cli.DurationVar(cmd.Flags(), &f.grace, "grace", 0, "wait this long before posting, so that you can answer locally")
	cli.ChoiceVar(cmd.Flags(), &f.unanswered, "unanswered", "ask", "on timeout: ask at the agent's terminal, or deny", "ask", "deny")
	cli.DurationVar(cmd.Flags(), &f.patience, "patience", 30*time.Second, "how long to retry while the daemon is unreachable")
	cli.DurationVar(cmd.Flags(), &f.reportTime, "report-time", ReportTime, "how long a report may delay the agent")
	cmd.Flags().StringVar(&f.gate, "gate", "", "tool calls that need a person, such as 'Bash(git push *)'")
	cli.ChoiceVar(cmd.Flags(), &f.fail, "fail", "closed", "if the daemon is unreachable, let a gate fail closed or open", "closed", "open")
	if agent.Name == "claude" {
		cmd.Flags().BoolVar(&f.report, "report", false, "with --watch, also report the event")
		cmd.Flags().BoolVar(&f.watch, "watch", false, "deny calls of a stopped session, and pass on messages")
		cmd.Flags().BoolVar(&f.wake, "wake", false, "after a turn, wake the agent when a person writes to the session")
	}
	return cmd
}

// run asks people and prints the answer. It passes every error, including a
// usage error, to failed.
func (f flags) run(cmd *cobra.Command, agent hooks.Agent, usage error) (err error) {
	began := time.Now()
	ctx, stop := lasting(cmd.Context(), f.longest())
	defer stop()
	ctx, unwatch := cli.UntilUnread(ctx, cmd.OutOrStdout())
	defer unwatch()
	h := call{flags: f, agent: agent, in: agent.Input(), errs: cmd.ErrOrStderr(), began: began}
	defer func() {
		if p := recover(); p != nil {
			err = h.failed(ctx, cmd, bridge.Errorf(bridge.CodeInternal, "internal error: %v", p))
		}
	}()
	if _, err = io.Copy(h.in, cmd.InOrStdin()); err != nil && !h.in.Reports() {
		err = bridge.Wrap(bridge.CodeInvalid, err, "stdin")
	} else {
		if h.body, err = h.in.Body(); err == nil && agent.Name == "claude" {
			h.body = withCall(h.body)
		}
	}
	switch {
	case usage != nil:
		err = usage
	case err != nil:
		err = unshown{err}
	}
	var answer json.RawMessage
	h.origin = originOf(agent, h.in)
	if err == nil {
		answer, err = h.answer(ctx)
	}
	if err == nil {
		answer, err = strictjson.Compact(answer)
	}
	if err != nil {
		return h.failed(ctx, cmd, err)
	}
	err = say(cmd.OutOrStdout(), agent.Decides(h.in.Event()), answer, 0)
	if err == nil {
		h.acknowledge(ctx)
	}
	return err
}

// longest returns the time after which a hook gives up even if the request is
// still pending. An escalation doubles the time that people have.
func (f flags) longest() time.Duration {
	return 2*f.timeout + f.grace + f.patience + time.Minute
}

// lasting returns a context that ends at SIGHUP or after the longest time. It
// ignores SIGPIPE, so that a hook whose output no one reads still ends with its
// exit code.
func lasting(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := cli.UntilSignal(ctx, syscall.SIGHUP)
	ctx, cancel := context.WithTimeout(ctx, longest)
	return ctx, func() { cancel(); stop() }
}

// say prints the one line of output of a hook, and returns the exit code as an
// error. If no one reads the line, only the exit code can block a call that it
// decides about.
func say(w io.Writer, decides bool, answer []byte, code int) error {
	if _, err := w.Write(append(slices.Clone(answer), '\n')); err != nil {
		if code = undecided; decides {
			code = Blocks
		}
	}
	if code == 0 {
		return nil
	}
	return cli.ExitError(code)
}
