package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/render"
)

func passkeyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "passkey",
		Short: "Invite people to add passkeys, and revoke them",
		Long: `Invite people to add a passkey, list passkeys and revoke them. NOD_TOKEN must be
the token of a person. People add further passkeys in the web console, within 5
minutes after they have signed in.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(passkeyInvite(), passkeyList(), passkeyRevoke())
	return cmd
}

func passkeyInvite() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "invite PERSON",
		Short: "Create a link with which a person adds a passkey",
		Long: `Create a link with which a person adds one passkey within 24 hours. NOD_TOKEN
must be the token of an administrator. Anyone with the link can add a passkey as
this person, so send it to the person only, over a channel that you trust.`,
		Example: "  nod passkey invite ana",
		Args:    cobra.ExactArgs(1),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
			in, err := cl.Invite(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), render.Line(in.URL))
			fmt.Fprintf(cmd.ErrOrStderr(), "this link is for %s only, works once, and expires at %s\n", render.Line(in.Person), in.Expires.UTC().Format(time.RFC3339))
			return nil
		}),
	}
	c.urlFlag(cmd)
	return cmd
}

func passkeyList() *cobra.Command {
	var c connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List passkeys",
		Long: `List your passkeys with the person, the ID, the state, the time when it was
added, and the name. Auditors and administrators see the passkeys of all people.`,
		Args: cobra.NoArgs,
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, _ []string) error {
			all, err := cl.Passkeys(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			for _, k := range all {
				state := "valid"
				if !k.Revoked.IsZero() {
					state = "revoked"
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s\t%s\t%s\t%s\t%s\n",
					render.Line(k.Person), k.ID, state, k.Created.UTC().Format(time.RFC3339), render.Line(k.Label))
			}
			return nil
		}),
	}
	c.urlFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func passkeyRevoke() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "revoke PERSON ID",
		Short: "Revoke a passkey",
		Long: `Revoke a passkey. Signatures that it made stay valid. People can revoke their
own passkeys, except for the last one. Administrators can revoke any passkey.`,
		Example: "  nod passkey revoke ana 5aK0PqC1xS4Yb2yEoD6fTg",
		Args:    cobra.ExactArgs(2),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
			if err := cl.RevokePasskey(cmd.Context(), args[0], args[1]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "revoked a passkey of %s\n", render.Line(args[0]))
			return nil
		}),
	}
	c.urlFlag(cmd)
	return cmd
}
