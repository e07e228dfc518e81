package main

import (
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

func notifyCommand() *cobra.Command {
	var a asking
	cmd := &cobra.Command{
		Use:   "notify TEXT",
		Short: "Post a message that needs no answer",
		Long: `Post a message, in Markdown, that needs no answer. Exit codes: 0 posted,
5 unavailable or undeliverable.`,
		Example: "  nod notify \"Backup **done**, 4 GB\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := a.request(args[0])
			r.Kind = bridge.KindNotice
			rec, err := a.ask(cmd, r)
			if err != nil {
				return err
			}
			return outcome(cmd.ErrOrStderr(), rec)
		},
	}
	a.connection.flags(cmd)
	textFlags(cmd, a.texts.Texts())
	return cmd
}
