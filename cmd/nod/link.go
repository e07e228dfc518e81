package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/render"
)

func linkCommand() *cobra.Command {
	var c connection
	var yes, list bool
	var remove string
	cmd := &cobra.Command{
		Use:   "link [CODE]",
		Short: "Link a chat account to yourself",
		Long: `Link a chat account to yourself with the code that nod showed when you clicked
with that account. NOD_TOKEN must be your own token. Without --yes, nod only
prints which account the code belongs to. Never enter a code from someone else.`,
		Example: "  nod link 3xk7q2mwpz4ta\n  nod link 3xk7q2mwpz4ta --yes\n  nod link --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
			switch {
			case list:
				all, err := cl.Links(cmd.Context())
				sayLacks(cmd.ErrOrStderr(), all.Unreadable, "account")
				for _, l := range all.Items {
					fmt.Fprintf(cmd.OutOrStdout(), "%s/%s\t%s\t%s\n", l.Platform, l.User, l.Person, render.Line(l.Name))
				}
				return err
			case remove != "":
				platform, user, ok := strings.Cut(remove, "/")
				if !ok {
					return bridge.Errorf(bridge.CodeInvalid, "--remove: invalid account %q", remove).WithHint("use PLATFORM/USER, such as slack/U0123ABCD")
				}
				return cl.Unlink(cmd.Context(), platform, user)
			case len(args) == 0:
				return bridge.Errorf(bridge.CodeInvalid, "a code is required").WithHint("click a control in chat to get a code, or use --list or --remove")
			}
			said, err := cl.Link(cmd.Context(), args[0], yes)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), render.Line(said))
			return nil
		}),
	}
	c.urlFlag(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm that the account is yours, and link it")
	cmd.Flags().BoolVar(&list, "list", false, "list your linked accounts")
	cmd.Flags().StringVar(&remove, "remove", "", "remove the link of PLATFORM/USER")
	return cmd
}
