package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

func linkCommand() *cobra.Command {
	var c connection
	var yes, list bool
	var remove string
	cmd := &cobra.Command{
		Use:   "link [CODE]",
		Short: "Link a chat account to your own person",
		Long: `Link a chat account to yourself, by the code that nod gave to it when you pressed
something with it. NOD_TOKEN has to be your own. Without --yes it only says
whose account that is; never enter a code that somebody else gave you.`,
		Example: "  nod link 3xk7q2mwpz4ta\n  nod link 3xk7q2mwpz4ta --yes\n  nod link --list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			switch {
			case list:
				all, err := cl.Links(cmd.Context())
				for _, l := range all {
					fmt.Fprintf(cmd.OutOrStdout(), "%s/%s\t%s\t%s\n", l.Platform, l.User, l.Person, render.Line(l.Name))
				}
				return err
			case remove != "":
				platform, user, ok := strings.Cut(remove, "/")
				if !ok {
					return bridge.Errorf(bridge.CodeInvalid, "--remove: %q is not PLATFORM/USER", remove)
				}
				return cl.Unlink(cmd.Context(), platform, user)
			case len(args) == 0:
				return bridge.Errorf(bridge.CodeInvalid, "the code is missing").WithHint("or use --list, or --remove")
			}
			said, err := cl.Link(cmd.Context(), args[0], yes)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), render.Line(said))
			return nil
		},
	}
	cmd.Flags().StringVar(&c.url, "url", "", "address of the daemon (NOD_URL; default http://127.0.0.1:8787)")
	cmd.Flags().BoolVar(&yes, "yes", false, "it is your own account: link it")
	cmd.Flags().BoolVar(&list, "list", false, "list the accounts that are linked to you")
	cmd.Flags().StringVar(&remove, "remove", "", "forget a link: PLATFORM/USER")
	return cmd
}
