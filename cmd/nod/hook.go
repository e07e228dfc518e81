package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/render"
)

// maxHookInput is what the daemon takes, in bytes.
const maxHookInput = 1 << 20

// Exit codes of a hook.
const (
	hookBlocks = 2 // PreToolUse: the tool does not run, stderr goes to the agent
	hookFailed = 1 // the agent goes on as without the hook and shows stderr to its user
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
		Short: "be the hook of a coding agent: what it asks goes to chat",
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
		Short: "read a hook's input from stdin, ask in chat, print the hook's output",
		Long: `Read a hook's input from stdin, ask in chat, and print the hook's output. It
outlives restarts of the daemon. An event that needs nobody prints {}.

What happens when the daemon can not be asked is --fail: closed blocks the tool
(exit code 2 for PreToolUse, a denial that says why for PermissionRequest),
open lets the agent go on as without the hook and says so on stderr (exit code
1). What happens when nobody answers is --unanswered: ask leaves it to the
agent's own terminal, deny denies it and says that no person did.

Write the settings with: nod init ` + agent,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, agent) },
	}
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

func (f hookFlags) run(cmd *cobra.Command, agent string) error {
	if f.fail != "open" && f.fail != "closed" {
		return bridge.Errorf(bridge.CodeInvalid, "--fail: unknown %q", f.fail).WithHint("use open or closed")
	}
	body, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxHookInput+1))
	if err == nil && len(body) > maxHookInput {
		err = bridge.Errorf(bridge.CodeInvalid, "stdin: the hook's input is longer than %d bytes", maxHookInput)
	}
	var answer json.RawMessage
	if err == nil {
		answer, err = f.ask(cmd.Context(), agent, body)
	}
	if err != nil {
		return f.failed(cmd, agent, body, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", answer)
	return err
}

func (f hookFlags) ask(ctx context.Context, agent string, body []byte) (json.RawMessage, error) {
	c, err := (&connection{url: f.url}).client()
	if err != nil {
		return nil, err
	}
	c.Patience = f.patience
	q := beside(f.route, f.timeout, f.grace, f.batch)
	q.Set("unanswered", f.unanswered)
	return chatClient{c}.exchange(ctx, client.Exchange{Path: "/v1/hooks/" + agent, Query: q, Body: body, Check: func(a client.Answered) error {
		return f.verify(agent, body, a)
	}})
}

// verify refuses answers that are not about exactly what the hook asked.
func (f hookFlags) verify(agent string, body []byte, a client.Answered) error {
	translate := func() (dialect.Translation, error) {
		if agent == "codex" {
			return codex.Hook(body, false)
		}
		return claudecode.Hook(body, claudecode.AskLocally)
	}
	t, err := translate()
	if err != nil {
		return mistrust(err)
	}
	return covered(t, a)
}

// failed says that the daemon could not be asked, in the way that the event
// understands.
func (f hookFlags) failed(cmd *cobra.Command, agent string, body []byte, cause error) error {
	var in struct {
		Event string `json:"hook_event_name"`
	}
	_ = json.Unmarshal(body, &in) // of an unreadable input, the event is unknown
	why := "nod could not ask anybody: " + render.Line(bridge.PublicText(cause))
	if f.fail == "open" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s; going on without nod (--fail open)\n", why)
		return exitError(hookFailed)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s; blocked (--fail closed)\n", why)
	switch in.Event {
	case "PermissionRequest": // exit code 2 means nothing there
		return deny(cmd.OutOrStdout(), why+". No person has denied it.")
	case "PreToolUse", "":
		return exitError(hookBlocks)
	}
	return exitError(hookFailed)
}

// deny prints the denial that Claude Code and Codex both read.
func deny(w io.Writer, message string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PermissionRequest", "decision": map[string]any{"behavior": "deny", "message": message},
	}})
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
