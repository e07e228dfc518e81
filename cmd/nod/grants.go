package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/render"
)

func grantsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List and revoke grants (standing approvals)",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(grantsList(), grantsRevoke())
	return cmd
}

func grantsList() *cobra.Command {
	var c connection
	var session string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List grants and what each of them covers",
		Args:  cobra.NoArgs,
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, _ []string) (err error) {
			if session, err = sessionID(cmd.Context(), cl, session); err != nil {
				return err
			}
			all, err := cl.Grants(cmd.Context(), session)
			if err != nil {
				return err
			}
			return printAll(cmd, &c, "grant", all, []column[client.Grant]{
				{"ID", func(g client.Grant) string { return g.ID }, nil},
				{"GRANT", func(g client.Grant) string { return render.Line(g.Words) }, nil},
			})
		}),
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&session, "session", "", "list only the grants of this session")
	return cmd
}

func grantsRevoke() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:     "revoke ID...",
		Short:   "Revoke grants, so that people are asked again",
		Example: "  nod grants revoke 3f2a9c01b4d7",
		Args:    cobra.MinimumNArgs(1),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
			for _, arg := range args {
				id, err := grantID(cmd.Context(), cl, arg)
				if err != nil {
					return err
				}
				g, err := cl.Revoke(cmd.Context(), id)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: revoked: %s\n", render.Line(g.Words))
			}
			return nil
		}),
	}
	c.flags(cmd)
	return cmd
}
