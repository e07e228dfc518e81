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

// maxHookInput is the daemon's limit for a request body, in bytes.
const maxHookInput = 1 << 20

// Exit codes of a hook.
const (
	hookBlocks = 2 // the tool does not run; stderr goes to the agent
	hookFailed = 1 // nothing is decided; stderr goes to the agent's user
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
		Long: `Read a hook's input from stdin, ask in chat, and print the hook's output. The
hook survives restarts of the daemon. For an event that needs no decision, it prints {}.

A hook that fails never allows anything. It prints a denial with the reason, and
for PreToolUse it also exits with code 2. A form (Elicitation) is left to the
agent's own terminal. With --fail open, the agent continues without the hook
while the daemon is unreachable; any other failure still blocks.

If no one responds in time, --unanswered ask leaves the request to the agent's
own terminal. --unanswered deny denies it, and states that no person did.

Write the settings with: nod init ` + agent,
		Args: cobra.ArbitraryArgs, // run rejects them in the agent's format
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
	cmd.Flags().StringVar(&f.url, "url", "", "URL of the daemon (NOD_URL; default http://127.0.0.1:8787)")
	cmd.Flags().StringVar(&f.route, "route", "", "route to use (default \"default\")")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Hour, "how long people have to answer")
	cmd.Flags().DurationVar(&f.grace, "grace", 0, "wait this long before posting, so that you can answer locally")
	cmd.Flags().DurationVar(&f.batch, "batch", 0, "wait this long for more requests of the session, to show them in one message")
	cmd.Flags().StringVar(&f.unanswered, "unanswered", "ask", "on timeout: ask at the agent's terminal, or deny")
	cmd.Flags().DurationVar(&f.patience, "patience", 30*time.Second, "how long to retry while the daemon is unreachable")
	cmd.Flags().StringVar(&f.fail, "fail", "closed", "if the daemon is unreachable: closed or open")
	return cmd
}

// run asks and prints the answer. It handles every error, including a usage
// error, with failed.
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
		err = bridge.Errorf(bridge.CodeInvalid, "stdin: input too long (at most %d bytes)", maxHookInput)
	case f.fail != "open" && f.fail != "closed":
		err = bridge.Errorf(bridge.CodeInvalid, "--fail: unknown value %q", f.fail).WithHint("use open or closed")
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

// longest returns the time after which a hook gives up although the request is
// still pending. An escalation doubles the time that people have.
func (f hookFlags) longest() time.Duration {
	return 2*f.timeout + f.grace + f.batch + f.patience + time.Minute
}

// hookContext returns a context that ends with SIGHUP or after the longest
// time. It ignores SIGPIPE, so that a hook whose output no one reads still ends
// with its exit code.
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
	q := exchangeQuery(f.route, f.timeout, f.grace, f.batch)
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

// translate reads the input in the same way as the daemon.
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

// hookEvent returns the event of an input, or "" if it is ambiguous.
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

// failed reports the error in the form that the event defines for it. Only an
// unreachable daemon fails open.
func (f hookFlags) failed(cmd *cobra.Command, agent string, body []byte, cause error) error {
	event := hookEvent(body)
	why := "nod could not ask anyone: " + render.Line(bridge.PublicText(cause))
	if f.fail == "open" && bridge.ErrorCode(cause) == bridge.CodeUnavailable {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s; continuing without nod (--fail open)\n", why)
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
	case event == "PermissionRequest": // its exit code denies nothing
		code = 0
	case string(answer) == "{}":
		code = hookFailed
	}
	switch {
	case code == hookFailed:
		tell += "; nothing was decided"
	case f.fail == "open":
		tell += "; blocked, because --fail open applies only if the daemon is unreachable"
	default:
		tell += "; blocked (--fail closed)"
	}
	fmt.Fprintln(cmd.ErrOrStderr(), tell)
	return say(cmd.OutOrStdout(), event, answer, code)
}

// say prints the one output line of a hook and returns the exit code as an
// error. If no one reads the line, only the exit code can block the tool.
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
