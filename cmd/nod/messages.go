package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/render"
)

func sessionsMessages() *cobra.Command {
	var c connection
	var ack, wait bool
	cmd := &cobra.Command{
		Use:   "messages SESSION",
		Short: "Print late answers and messages for a session",
		Long: `Print the late answers and the messages from people for a session, oldest first. A
late answer belongs to a request whose agent no longer waits for it. nod prints
them every time until they are acknowledged. nod then tells the author of
a message that the agent has it.`,
		Example: "  nod sessions messages release-2 --wait --ack",
		Args:    cobra.ExactArgs(1),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
			session, err := sessionID(cmd.Context(), cl, args[0])
			if err != nil {
				return err
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
		}),
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&ack, "ack", false, "acknowledge the printed messages")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until there is a message")
	return cmd
}
