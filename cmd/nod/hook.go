package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/render"
)

// maxHookInput is what the daemon takes, in bytes.
const maxHookInput = 1 << 20

// Exit codes of a hook.
const (
	hookBlocks = 2 // the tool does not run, stderr goes to the agent
	hookFailed = 1 // nothing is decided, stderr goes to the agent's user
)

// hookFlags are the flags of nod hook.
type hookFlags struct {
	url, route, unanswered, fail string
	timeout, grace, batch        time.Duration
	patience                     time.Duration
}

func hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Handle a hook of Claude Code or Codex",
		Args:  cobra.NoArgs,
	}
	for _, agent := range []string{"claude", "codex"} {
		cmd.AddCommand(hookOf(agent))
	}
	return cmd
}

func hookOf(agent string) *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   agent,
		Short: "Read a hook's input from stdin and print its output",
		Long: `Read a hook's input from stdin, ask in chat, and print the hook's output. It
outlives restarts of the daemon. An event that needs nobody prints {}.

If the hook fails, it never allows anything. It prints a denial that says why,
and for PreToolUse it also ends with exit code 2. A form (Elicitation) is left
to the agent's own terminal. With --fail open, a daemon that cannot be reached
lets the agent go on as without the hook; any other failure still blocks. If no
one answers, --unanswered decides: ask leaves it to the agent's own terminal,
deny denies it and says that no person did.

Write the settings with: nod init ` + agent,
		Args: cobra.ArbitraryArgs, // run refuses them in the agent's own form
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return f.run(cmd, agent, bridge.Errorf(bridge.CodeInvalid, "unknown argument %q", args[0]))
			}
			return f.run(cmd, agent, nil)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		f.fail = "closed"
		return f.run(cmd, agent, bridge.Wrap(bridge.CodeInvalid, err, "usage"))
	})
	cmd.Flags().StringVar(&f.url, "url", "", "address of the daemon (NOD_URL; default http://127.0.0.1:8787)")
	cmd.Flags().StringVar(&f.route, "route", "", "route of the daemon's config (default \"default\")")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Hour, "how long people have to answer")
	cmd.Flags().DurationVar(&f.grace, "grace", 0, "hold the card back so long, while you may answer at the keyboard")
	cmd.Flags().DurationVar(&f.batch, "batch", 0, "wait so long for more requests of the session and show them in one message")
	cmd.Flags().StringVar(&f.unanswered, "unanswered", "ask", "when nobody answers: ask at the agent's terminal, or deny")
	cmd.Flags().DurationVar(&f.patience, "patience", 30*time.Second, "how long the daemon may be away before it counts as one that can not be asked")
	cmd.Flags().StringVar(&f.fail, "fail", "closed", "when the daemon can not be asked: closed or open")
	return cmd
}

// run asks and prints the answer. Every error, including a wrong usage, ends in
// failed.
func (f hookFlags) run(cmd *cobra.Command, agent string, usage error) (err error) {
	ctx, stop := hookContext(cmd.Context(), f.longest())
	defer stop()
	var body []byte
	defer func() {
		if p := recover(); p != nil {
			err = f.failed(cmd, agent, body, bridge.Errorf(bridge.CodeInternal, "internal error: %v", p))
		}
	}()
	body, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxHookInput+1))
	switch {
	case usage != nil:
		err = usage
	case err != nil:
		err = bridge.Wrap(bridge.CodeInvalid, err, "stdin")
	case len(body) > maxHookInput:
		err = bridge.Errorf(bridge.CodeInvalid, "stdin: the hook's input is longer than %d bytes", maxHookInput)
	case f.fail != "open" && f.fail != "closed":
		err = bridge.Errorf(bridge.CodeInvalid, "--fail: unknown %q", f.fail).WithHint("use open or closed")
	}
	var answer json.RawMessage
	if err == nil {
		answer, err = f.ask(ctx, agent, body)
	}
	if err == nil {
		answer, err = strictjson.Compact(answer)
	}
	if err != nil {
		return f.failed(cmd, agent, body, err)
	}
	return say(cmd.OutOrStdout(), hookEvent(body), answer, 0)
}

// longest returns the time after which a hook gives up on a daemon that says
// that the request is still pending. An escalation doubles the time they have.
func (f hookFlags) longest() time.Duration {
	return 2*f.timeout + f.grace + f.batch + f.patience + time.Minute
}

// hookContext ends with a signal or after the longest time. A hook
// whose output is no longer read still ends with its exit code.
func hookContext(ctx context.Context, longest time.Duration) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	ctx, cancel := context.WithTimeout(ctx, longest)
	return ctx, func() { cancel(); stop() }
}

func (f hookFlags) ask(ctx context.Context, agent string, body []byte) (json.RawMessage, error) {
	c, err := (&connection{url: f.url}).client()
	if err != nil {
		return nil, err
	}
	t, err := f.translate(agent, body)
	if err != nil {
		return nil, err
	}
	c.Patience = f.patience
	q := beside(f.route, f.timeout, f.grace, f.batch)
	q.Set("unanswered", f.unanswered)
	return chatClient{c}.exchange(ctx, client.Exchange{Path: "/v1/hooks/" + agent, Query: q, Body: body, Check: func(a client.Answered) error {
		if err := covered(t, a); err != nil {
			return err
		}
		if agent == "claude" && len(t.Exchanges) > 0 && string(bytes.TrimSpace(a.Body)) != "{}" {
			return claudecode.CheckOutput(hookEvent(body), a.Body)
		}
		return nil
	}})
}

// translate reads the input as the daemon does.
func (f hookFlags) translate(agent string, body []byte) (dialect.Translation, error) {
	u, err := claudecode.ParseUnanswered(f.unanswered)
	if err != nil {
		return dialect.Translation{}, err
	}
	if agent == "codex" {
		return codex.Hook(body, u == claudecode.DenySilence)
	}
	return claudecode.Hook(body, u)
}

// eventName finds the event in an input that cannot be decoded.
var eventName = regexp.MustCompile(`"hook_event_name"\s*:\s*"([^"\\]*)"`)

// hookEvent returns the event of an input. It is empty if it is not certain.
func hookEvent(body []byte) string {
	var in struct {
		Event string `json:"hook_event_name"`
	}
	if strictjson.Decode(body, &in) == nil {
		return in.Event
	}
	for _, m := range eventName.FindAllSubmatch(body, -1) {
		if in.Event != "" && in.Event != string(m[1]) {
			return ""
		}
		in.Event = string(m[1])
	}
	return in.Event
}

// failed reports the error in the form that the event has for it. Only a daemon that cannot be reached fails open.
func (f hookFlags) failed(cmd *cobra.Command, agent string, body []byte, cause error) error {
	event := hookEvent(body)
	why := "nod could not ask anybody: " + render.Line(bridge.PublicText(cause))
	if f.fail == "open" && bridge.ErrorCode(cause) == bridge.CodeUnavailable {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s; going on without nod (--fail open)\n", why)
		return say(cmd.OutOrStdout(), event, []byte("{}"), 0)
	}
	tell := why
	why += ". No person has denied it."
	out := claudecode.Failed(event, why)
	if agent == "codex" {
		out = codex.Failed(event, why)
	}
	answer, err := dialect.Encode(out)
	if err != nil {
		return exitError(hookBlocks)
	}
	code := hookBlocks
	switch {
	case event == "PermissionRequest": // where an exit code denies nothing
		code = 0
	case string(answer) == "{}":
		code = hookFailed
	}
	switch {
	case code == hookFailed:
		tell += "; nothing is decided"
	case f.fail == "open":
		tell += "; blocked, because --fail open is only for a daemon that cannot be reached"
	default:
		tell += "; blocked (--fail closed)"
	}
	fmt.Fprintln(cmd.ErrOrStderr(), tell)
	return say(cmd.OutOrStdout(), event, answer, code)
}

// say prints the only line of a hook and ends with the code. If no one reads
// it, the exit code is what remains to block with.
func say(w io.Writer, event string, answer []byte, code int) error {
	if _, err := w.Write(append(slices.Clone(answer), '\n')); err != nil {
		if code = hookFailed; event == "PreToolUse" || event == "PermissionRequest" || event == "" {
			code = hookBlocks
		}
	}
	if code == 0 {
		return nil
	}
	return exitError(code)
}
