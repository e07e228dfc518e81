package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/relay"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/setup"
	"github.com/nodbridge/nod/render"
)

const (
	// testedCodex is the version of Codex in the tests. The tests also run
	// relay.OldestCodex.
	testedCodex = "0.169.0"
	// codexRetry is the maximum pause between two attempts to reach Codex.
	codexRetry = 3 * time.Second
	// codexPatience is the time for which nod proxy codex retries while the
	// daemon is unreachable. The terminal asks during that time.
	codexPatience = 30 * 24 * time.Hour
	// inboxPoll is the duration of one wait for messages, and inboxLease is the
	// time for which nod reserves the messages.
	inboxPoll, inboxLease = 30 * time.Second, 20 * time.Second
)

// codexFlags holds the flags of nod proxy codex.
type codexFlags struct {
	relaying
	socket string
}

func proxyCodex() *cobra.Command {
	var f codexFlags
	cmd := &cobra.Command{
		Use:   "codex [-- codex app-server [ARG...]]",
		Short: "Show Codex's prompts at its terminal or editor and in chat",
		Long: `Attach to the app server that Codex runs, next to its terminal UI. A prompt is
at the terminal and in chat at the same time, and the first answer counts. The
card of a request that was answered at the terminal says what was decided there.

Keep it running, for example as a service. It never starts or stops Codex, and
it reconnects when Codex or the daemon restarts. Without it, and for prompts
that nod does not understand, the terminal asks as usual.

nod reports the threads of Codex as sessions. When a person stops one, nod
interrupts its turn at once and ends its commands.

A message to a session, such as a reply to its card, reaches Codex as a message
of the user: in the running turn, after the running command, or as a new turn.

For an editor that starts codex app-server itself, name that command after --.
nod starts it with a socket, connects the editor on stdin and stdout, and
attaches as for the terminal. When the editor leaves, nod ends the app server.

It does not cover codex exec, nor Codex started with -c, --search, --no-daemon
or --dangerously-bypass-hook-trust, which do not use that app server. For these, use the hook: nod init codex. The hook blocks the
terminal until someone answers in chat, so do not use it next to this command.`,
		Example: "  nod proxy codex\n  nod proxy codex --grace 10s\n  nod proxy codex -- codex app-server",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.UntilHangup(cmd)()
			return f.run(cmd, args)
		},
	}
	f.flags(cmd, "at the terminal or in the editor")
	cmd.Flags().StringVar(&f.socket, "socket", "", "socket of the running app server (default: the one in $CODEX_HOME or ~/.codex)")
	return cmd
}

func (f codexFlags) run(cmd *cobra.Command, args []string) error {
	home, err := caller.CodexHome()
	if err != nil {
		return err
	}
	switch {
	case len(args) > 0 && f.socket != "":
		return bridge.Errorf(bridge.CodeInvalid, "--socket: not allowed with a command, which gets a socket of its own").WithHint("omit one of them")
	case len(args) == 0 && f.socket == "":
		f.socket = filepath.Join(home, "app-server-control", "app-server-control.sock")
		if err := checkInstalledCodex(cmd.Context(), f.socket); err != nil {
			return err
		}
	}
	f.cmd, f.patience = cmd, codexPatience
	c, err := f.client()
	if err != nil {
		return err
	}
	tell := cmd.ErrOrStderr()
	if hooks, err := setup.ReadFile(filepath.Join(home, "hooks.json")); err == nil && strings.Contains(string(hooks), "hook codex") {
		fmt.Fprintln(tell, "nod: warning: nod's hook blocks Codex before nod proxy codex sees a prompt; "+
			"remove it with nod init codex --undo, then restart Codex's daemon")
	}
	companion := f.companion(c, tell, len(args) > 0)
	defer companion.Close()
	if len(args) > 0 {
		return f.serveEditor(cmd, args, companion)
	}
	return f.attach(cmd.Context(), tell, companion)
}

// companion returns a Companion that asks through the daemon. It tells the user
// which Codex it is attached to.
func (f codexFlags) companion(c *client.Client, tell io.Writer, own bool) *relay.Companion {
	q := caller.Query(f.route, f.timeout, f.grace)
	q.Set("acknowledges", "true")
	sessions := newRelayed(c, "codex", f.route)
	except := "; not to codex exec, nor to Codex started with -c, --search, --no-daemon or --dangerously-bypass-hook-trust"
	if own {
		except = ""
	}
	return relay.NewCompanion(relay.CompanionOptions{
		Ask: func(ctx context.Context, body []byte) (relay.Reply, error) {
			return chatClient{Client: c}.race(ctx, q, body)
		},
		Attached: func(version string) {
			fmt.Fprintf(tell, "nod: attached to Codex %s%s\n", render.Line(version), except)
			if version != testedCodex && version != relay.OldestCodex {
				fmt.Fprintf(tell, "nod: this nod was tested with Codex %s and %s; Codex handles messages that nod does not understand\n",
					relay.OldestCodex, testedCodex)
			}
		},
		Inbox: sessions, Reporter: sessions, Own: own,
		Log: slog.New(slog.NewTextHandler(tell, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

// attach keeps a companion connected until ctx ends, or until Codex uses an
// unsupported protocol. It reports each outage once.
func (f codexFlags) attach(ctx context.Context, tell io.Writer, companion *relay.Companion) error {
	pause, told := 100*time.Millisecond, ""
	for {
		began := time.Now()
		conn, err := dialCodex(ctx, f.socket)
		if err == nil {
			err = companion.Attach(ctx, conn)
			conn.close()
		}
		if ctx.Err() != nil {
			return context.Canceled
		}
		if bridge.ErrorCode(err) == bridge.CodeUnsupported {
			return err
		}
		if time.Since(began) > codexRetry {
			pause, told = 100*time.Millisecond, ""
		}
		if text := render.Line(bridge.PublicText(err)); text != told {
			told = text
			fmt.Fprintf(tell, "nod: waiting for Codex: %s\n", text)
		}
		if !bridge.Pause(ctx, pause) {
			return context.Canceled
		}
		pause = min(2*pause, codexRetry)
	}
}

// race asks people the question that the terminal also asks.
func (c chatClient) race(ctx context.Context, query url.Values, body []byte) (relay.Reply, error) {
	var ids []bridge.ID
	var result json.RawMessage
	t, wrong := codex.Request(body) // if the daemon reads the message differently, the answer does not count
	result, err := c.exchange(ctx, client.Exchange{Path: "/v1/dialects/codex", Query: query, Body: body, Doubts: caller.DoubtsAbout(t), Check: func(a client.Answered) error {
		if wrong != nil {
			return caller.Mistrust(wrong)
		}
		ids = a.Interactions
		return caller.Covered(t, a)
	}})
	return relay.Reply{Result: result, Received: func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, withdrawTimeout)
		defer cancel()
		for _, id := range ids {
			_, _ = c.Get(ctx, id) // best effort: otherwise, the card says that the agent has not received the answer
		}
	}, Late: func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, withdrawTimeout)
		defer cancel()
		for _, id := range ids {
			_, _ = c.Complete(ctx, id, bridge.Completion{Ran: bridge.ReasonAllowed}) // best effort, as above
		}
	}}, err
}
