package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/demo"
)

func demoCommand() *cobra.Command {
	var listen string
	var autoplay, verbose bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try nod with three emulated chats and an agent",
		Long: `Run everything in one process: the daemon with a store in memory, emulated Slack,
Discord and Telegram, a page that shows the three chats, and an agent that asks.

With --autoplay, scripted people answer, and nod prints a transcript. The exit
code is 0 if the agent received every answer correctly.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.DiscardHandler)
			if verbose {
				log = daemon.NewLog(cmd.ErrOrStderr(), "info", false, daemon.PlainRedactor())
			}
			return demo.Run(cmd.Context(), demo.Options{Listen: listen, Autoplay: autoplay, Out: cmd.OutOrStdout(), Log: log})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8788", "address of the page; the next free port if it is taken")
	cmd.Flags().BoolVar(&autoplay, "autoplay", false, "let scripted people answer, check everything, and exit")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log what the daemon does")
	return cmd
}
