package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

func messagesCommand() *cobra.Command {
	var c connection
	var session string
	var ack, wait bool
	cmd := &cobra.Command{
		Use:   "messages --session S",
		Short: "Print the late answers of a session",
		Long: `Print the answers that came after their agent had been told that they are
queued, oldest first. They come again until they are acknowledged.`,
		Example: "  nod messages --session release-2 --wait --ack",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			if session == "" {
				return bridge.Errorf(bridge.CodeInvalid, "--session is empty")
			}
			read := cl.Messages
			if wait {
				read = cl.WaitMessages
			}
			items, err := read(cmd.Context(), session)
			if err != nil {
				return err
			}
			for _, m := range items {
				if c.json {
					err = printLine(cmd.OutOrStdout(), m)
				} else {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", m.ID, render.Clean(m.Text))
				}
				if err != nil {
					return err
				}
			}
			if len(items) == 0 || !ack {
				return nil
			}
			return cl.Acknowledge(cmd.Context(), session, items[len(items)-1].ID)
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&session, "session", "", "the session")
	cmd.Flags().BoolVar(&ack, "ack", false, "acknowledge what was printed")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until there is one")
	return cmd
}

func channelCommand() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "channel mute|unmute PLATFORM:CHANNEL",
		Short: "Make a channel read-only, or allow answers again",
		Long: `Make a channel read-only for nod, or let it answer again. Cards in it show
without their controls; requests that nobody could answer anywhere end as
undeliverable at once. In the chats, the command /nod mute does the same.`,
		Example: "  nod channel mute slack:C0123ABCD\n  nod channel unmute slack:C0123ABCD",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			t, err := config.ParseTarget(args[1])
			if err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "channel")
			}
			if args[0] != "mute" && args[0] != "unmute" {
				return bridge.Errorf(bridge.CodeInvalid, "%q is not mute or unmute", args[0])
			}
			return cl.SetReadOnly(cmd.Context(), t.Platform, t.Channel, args[0] == "mute")
		},
	}
	c.flags(cmd)
	return cmd
}
