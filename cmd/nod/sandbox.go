package main

import (
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/platforms/sandbox"
)

func sandboxCommand() *cobra.Command {
	var listen string
	var noLimits bool
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "Emulate Slack, Discord and Telegram locally",
		Long: `Emulate the parts of Slack, Discord and Telegram that an interactive bot uses. Any
bot can connect to it with its usual SDK. The page shows the three chats, in
which you can act as any member.

The sandbox is for local use only: anyone who can reach it can act as anyone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return bridge.Wrap(bridge.CodeUnavailable, err, "listen: %s", listen)
			}
			s := sandbox.New(sandbox.Options{NoLimits: noLimits, Log: daemon.NewLog(cmd.ErrOrStderr(), "info", false, daemon.PlainRedactor())})
			describeSandbox(cmd.OutOrStdout(), "http://"+l.Addr().String())
			return sandboxed.Serve(cmd.Context(), s, l, nil)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8788", "address to listen on")
	cmd.Flags().BoolVar(&noLimits, "no-limits", false, "disable the rate limits of the platforms")
	return cmd
}

func describeSandbox(w io.Writer, base string) {
	fmt.Fprintf(w, `page      %s/
slack     api url %s/slack/api/      bot token %s  app token %s  signing secret %s
discord   api url %s/discord         bot token %s
telegram  api url %s/telegram        token %s
channels  slack:%s  discord:%s  telegram:%d
control   POST %s/control/act, /control/faults, /control/disconnect; GET /control/state
`, base, base, sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.SlackSigningSecret,
		base, sandbox.DiscordToken, base, sandbox.TelegramToken,
		sandbox.SlackChannel, sandbox.DiscordChannel, sandbox.TelegramChat, base)
}
