package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/render"
)

// relaying holds the flags of all commands that forward prompts.
type relaying struct {
	connection
	route          string
	timeout, grace time.Duration
}

// flags adds the flags. The argument at names the place where the user can
// answer during the grace period.
func (r *relaying) flags(cmd *cobra.Command, at string) {
	r.urlFlag(cmd)
	cmd.Flags().StringVar(&r.route, "route", "", "route to use (default \"default\")")
	cli.DurationVar(cmd.Flags(), &r.timeout, "timeout", time.Hour, "how long people have to answer in chat")
	cli.DurationVar(cmd.Flags(), &r.grace, "grace", 0, "wait this long before posting, so that you can answer "+at)
}

// proxyFlags holds the flags of nod proxy acp.
type proxyFlags struct {
	relaying
	only bool
}

func proxyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Forward an agent's prompts to chat as well",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(proxyACP(), proxyCodex())
	return cmd
}

func proxyACP() *cobra.Command {
	var f proxyFlags
	cmd := &cobra.Command{
		Use:   "acp -- AGENT [ARG...]",
		Short: "Forward the prompts of an agent that speaks the Agent Client Protocol",
		Long: `Start an agent that speaks the Agent Client Protocol and relay its messages
to and from the client on stdin and stdout. Prompts of the agent appear in the
client and in chat. The first answer counts and closes the prompt in both.

nod reports the sessions of the agent. When a person stops one, nod cancels its
turn at once. A message to a session becomes a prompt when no turn runs.`,
		Example: "  nod proxy acp --grace 10s -- my-agent --acp",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.UntilHangup(cmd)()
			return f.run(cmd, args)
		},
	}
	f.flags(cmd, "in the client")
	cmd.Flags().BoolVar(&f.only, "only-chat", false, "do not show requests in the client unless chat is unreachable")
	return cmd
}

func (f proxyFlags) run(cmd *cobra.Command, args []string) error {
	if f.only && f.grace != 0 {
		return bridge.Errorf(bridge.CodeInvalid, "--grace: not allowed with --only-chat, because no one could answer in the client").
			WithHint("omit one of them")
	}
	c, err := f.client()
	if err != nil {
		return err
	}
	return between(cmd, args, false, func(near, far *relay.Side, log *slog.Logger) (relay.Handler, func()) {
		a := relay.NewACP(relay.Options{
			Asker: chatClient{c, uuid.NewString()}, Query: caller.Query(f.route, f.timeout, f.grace), OnlyChat: f.only,
			Sessions: newRelayed(c, "acp", f.route), Client: near, Server: far, Log: log,
		})
		return a, a.Wait
	})
}

// withdrawnProxy is the reason for cancelling pending requests when nod is
// stopped.
const withdrawnProxy relay.Withdrawal = "nod was stopped"

// between starts a program and relays messages between it and stdin and stdout
// until either side ends.
func between(cmd *cobra.Command, args []string, strict bool, make func(near, far *relay.Side, log *slog.Logger) (relay.Handler, func())) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(cmd.Context()))
	defer cancel(nil)
	defer context.AfterFunc(cmd.Context(), func() { cancel(withdrawnProxy) })()
	child := exec.CommandContext(ctx, args[0], args[1:]...)
	child.Stderr, child.WaitDelay = cmd.ErrOrStderr(), childWait
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	in, err := child.StdinPipe()
	if err != nil {
		return err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	release, err := startWrapped(child)
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "cannot start %s", args[0])
	}
	defer release()
	defer reapOrphans(child.Process)()
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	near, far := relay.NewSide(cmd.InOrStdin(), cmd.OutOrStdout()), relay.NewSide(out, in)
	h, wait := make(near, far, log)
	err = (&relay.Relay{Client: near, Server: far, Handler: h, Strict: strict, Log: log}).Run(ctx, func() { in.Close() })
	in.Close()
	cancel(nil)
	wait()
	werr := child.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](werr); ok && cmd.Context().Err() == nil && exit.ExitCode() > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod: %s ended with exit code %d\n", args[0], exit.ExitCode())
		return cli.ExitError(exit.ExitCode())
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// startWrapped starts a program that nod wraps. The caller must call the
// returned function after the program has ended.
func startWrapped(c *exec.Cmd) (release func(), err error) {
	c.Env = wrappedEnviron()
	return startBound(c)
}

// wrappedEnviron returns the environment for a program that nod wraps. It
// leaves out the token, with which the program could act as the agent.
func wrappedEnviron() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "NOD_TOKEN=") })
}

// maxServer is the maximum length of the command in the name of a server, in
// bytes.
const maxServer = 1000

// serverName returns a name that distinguishes servers of the same program. It
// consists of the command and a hash of the environment, whose values can hold
// credentials. Grants are bound to this name, and cards show it.
func serverName(args, env []string) string {
	words := make([]string, len(args))
	for n, arg := range args {
		words[n] = render.ShellQuote(arg)
		if strings.ContainsFunc(arg, func(r rune) bool { return r < ' ' || r > '~' }) {
			words[n] = strconv.Quote(arg)
		}
	}
	command := strings.Join(words, " ")
	if len(command) > maxServer {
		sum := sha256.Sum256([]byte(command))
		command = strings.ToValidUTF8(command[:maxServer], "") + "… (command " + hex.EncodeToString(sum[:4]) + ")"
	}
	env = slices.Sorted(slices.Values(env))
	sum := sha256.Sum256([]byte(strings.Join(env, "\x00")))
	return command + " (environment " + hex.EncodeToString(sum[:4]) + ")"
}

// childWait is the time that a program has to exit after an interrupt.
const childWait = 5 * time.Second

// wrapping holds the flags of nod mcp --wrap.
type wrapping struct {
	on             bool
	rules          relay.Rules
	name           string
	session, route string
	timeout        time.Duration
}

func (w *wrapping) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.on, "wrap", false, "guard the MCP server that follows --")
	cmd.Flags().StringSliceVar(&w.rules.Allow, "allow", nil, "with --wrap: tools that run without approval, such as 'get_*'")
	cmd.Flags().StringSliceVar(&w.rules.Deny, "deny", nil, "with --wrap: tools that never run")
	cmd.Flags().StringVar(&w.name, "name", "", "with --wrap: name of the server on cards (default: its program)")
	cli.DurationVar(cmd.Flags(), &w.timeout, "timeout", wrapTimeout, "with --wrap: how long people have to answer")
}

func (w *wrapping) run(cmd *cobra.Command, c *client.Client, args []string) error {
	if len(args) == 0 {
		return bridge.Errorf(bridge.CodeInvalid, "--wrap: a server is required").WithHint("use nod mcp --wrap -- SERVER [ARG...]")
	}
	if err := w.rules.Check(); err != nil {
		return err
	}
	if w.name == "" {
		w.name = strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	}
	q := caller.Query(w.route, w.timeout, 0)
	q.Set("session", w.session)
	return between(cmd, args, true, func(near, far *relay.Side, log *slog.Logger) (relay.Handler, func()) {
		h := relay.NewWrap(relay.WrapOptions{
			Approver: chatClient{c, uuid.NewString()}, Rules: w.rules, Name: w.name, Session: w.session, Route: w.route, Query: q,
			Where:   serverName(args, wrappedEnviron()),
			Timeout: bridge.Duration(w.timeout), Client: near, Server: far, Log: log,
		})
		return h, h.Wait
	})
}
