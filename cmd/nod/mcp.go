package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
)

func mcpCommand() *cobra.Command {
	var c connection
	var o mcp.Options
	var w wrapping
	cmd := &cobra.Command{
		Use:   "mcp [--wrap -- SERVER [ARG...]]",
		Short: "Run an MCP server that lets a model ask people",
		Long: `Be an MCP server on stdin and stdout, with the tools ask_human,
request_approval, notify and check. It talks to the daemon of NOD_URL with
NOD_TOKEN. A client that speaks HTTP needs no command: the daemon serves the
same at /mcp.

With --wrap it stands before another MCP server instead: that server's tools
run only if --allow names them, or once people have allowed the call; what
--deny names never runs; and its forms (elicitation) are filled in in chat.
Patterns are those of a shell, and deny goes before allow.

Add it to a client's settings with: nod init mcp`,
		Example: "  nod mcp\n  nod mcp --claude\n  nod mcp --wrap --allow 'get_*' --deny 'drop_*' -- npx some-mcp-server",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !w.on && len(args) > 0 {
				return bridge.Errorf(bridge.CodeInvalid, "%q: a server to stand before goes with --wrap", args[0])
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
			o.Asker, o.Scoped, o.Version = cl, true, version
			o.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			var t sdk.Transport = &sdk.IOTransport{Reader: io.NopCloser(cmd.InOrStdin()), Writer: nopWriteCloser{cmd.OutOrStdout()}}
			if o.Claude {
				t = &mcp.Channel{Transport: t, Options: o}
			}
			if err := mcp.NewServer(o).Run(cmd.Context(), t); err != nil && cmd.Context().Err() == nil {
				return bridge.Wrap(bridge.CodeUnavailable, err, "the MCP client")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&c.url, "url", "", "address of the daemon (NOD_URL; default http://127.0.0.1:8787)")
	cmd.Flags().StringVar(&o.Session, "session", "", "session that requests belong to (default: one of the folder, so that a restart finds them)")
	cmd.Flags().StringVar(&o.Route, "route", "", "route of the daemon's config (default \"default\")")
	cmd.Flags().BoolVar(&o.Claude, "claude", false, "add what only Claude Code uses: the permission-prompt tool, and the relay of its dialogs as a channel")
	cmd.Flags().DurationVar(&o.Hold, "hold", mcp.DefaultHold, "how long a call of a client that shows no progress is held before it is told to check later")
	w.flags(cmd)
	return cmd
}

// projectSession names the folder that a client was started in: the same after
// a restart, another for another project.
func projectSession() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	return fmt.Sprintf("mcp-%.60s-%s", filepath.Base(dir), hex.EncodeToString(sum[:4])), nil
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// wrapTimeout is how long people have to allow a wrapped server's call.
const wrapTimeout = time.Hour
