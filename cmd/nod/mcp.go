package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/mcp"
	"github.com/nodbridge/nod/cmd/nod/cli"
)

func mcpCommand() *cobra.Command {
	var c connection
	var o mcp.Options
	var w wrapping
	cmd := &cobra.Command{
		Use:   "mcp [--wrap -- SERVER [ARG...]]",
		Short: "Run an MCP server that lets a model ask people",
		Long: `Run an MCP server on stdin and stdout with the tools ask_human,
request_approval, notify, check and messages. It calls the daemon at NOD_URL with
NOD_TOKEN. A client that supports HTTP does not need this command: the daemon
serves the same tools at /mcp.

With --wrap, nod runs another MCP server and guards its tools. A call runs if
--allow matches the tool or a person approves the call. A tool that --deny
matches never runs. People fill in the forms (elicitation) of the server in
chat. Patterns are shell patterns, and --deny takes precedence over --allow.

Add nod to the settings of a client with: nod init mcp`,
		Example: "  nod mcp\n  nod mcp --claude\n  nod mcp --wrap --allow 'get_*' --deny 'drop_*' -- npx some-mcp-server",
		RunE: func(cmd *cobra.Command, args []string) error {
			defer cli.UntilHangup(cmd)()
			if !w.on && len(args) > 0 {
				return bridge.Errorf(bridge.CodeInvalid, "unknown argument %q", args[0]).WithHint("to guard another server, use nod mcp --wrap -- SERVER")
			}
			cl, err := c.client()
			if err != nil {
				return err
			}
			if o.Session == "" {
				if o.Session, err = projectSession(); err != nil {
					return err
				}
			}
			if w.on {
				w.session, w.route = o.Session, o.Route
				return w.run(cmd, cl, args)
			}
			o.Asker, o.Inbox, o.Scoped, o.Version = cl, mcpInbox{cl}, true, version
			o.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			t := mcp.Lines{In: cmd.InOrStdin(), Out: cmd.OutOrStdout()}
			if err := mcp.Serve(cmd.Context(), t, o); err != nil && cmd.Context().Err() == nil {
				return bridge.Wrap(bridge.CodeUnavailable, err, "MCP client")
			}
			return nil
		},
	}
	c.urlFlag(cmd)
	cmd.Flags().StringVar(&o.Session, "session", "", "session of the requests (default: derived from the directory, so that it survives restarts)")
	cmd.Flags().StringVar(&o.Route, "route", "", "route to use (default \"default\")")
	cmd.Flags().BoolVar(&o.Claude, "claude", false, "add the features for Claude Code: the permission-prompt tool, and relaying its dialogs as a channel")
	cli.DurationVar(cmd.Flags(), &o.Hold, "hold", mcp.DefaultHold, "how long to block a call of a client without progress support, before it is told to check later")
	w.flags(cmd)
	return cmd
}

// projectSession returns a session for the working directory of the client. The
// session survives a restart and differs between projects.
func projectSession() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("mcp-%.60s-%s", filepath.Base(dir), hex.EncodeToString(sum[:4])), nil
}

// mcpInbox holds the messages that people write to sessions. It implements
// mcp.Inbox.
type mcpInbox struct{ client *client.Client }

// Take implements mcp.Inbox.
func (in mcpInbox) Take(ctx context.Context, session, reader string) ([]bridge.Message, error) {
	return in.client.TakeMessages(ctx, session, client.Taking{Reader: reader})
}

// Took implements mcp.Inbox.
func (in mcpInbox) Took(ctx context.Context, session, through string) error {
	return in.client.Acknowledge(ctx, session, through)
}

// wrapTimeout is the time that people have to approve a call of a wrapped server.
const wrapTimeout = time.Hour
