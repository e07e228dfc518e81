package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/terminal"
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
			if session, err = sessionID(cmd.Context(), cl, session); err != nil {
				return err
			}
			all, err := cl.Grants(cmd.Context(), session)
			if err != nil {
				return err
			}
			if c.json {
				return printJSON(cmd.OutOrStdout(), all)
			}
			if len(all) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "nod: no grants")
				return nil
			}
			var t terminal.Table
			t.Head("ID", "GRANT")
			for _, g := range all {
				t.Row(terminal.Cell{Text: g.ID}, terminal.Cell{Text: render.Line(g.Words)})
			}
			return t.Write(cmd.OutOrStdout())
		},
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
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.client()
			if err != nil {
				return err
			}
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
		},
	}
	c.flags(cmd)
	return cmd
}
