package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/config"
)

func tokenCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Generate a token and its hash",
		Long: `Make a random token, and the hash of it. Give the token to the agent, as
NOD_TOKEN, and put the hash into token_hashes of the daemon's config: then
nobody who reads the config can ask as that agent. To replace a token, add the
new hash, hand the new token out, and remove the old hash.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token := config.NewToken()
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]string{"token": token, "hash": config.HashToken(token)})
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n", token, config.HashToken(token))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print both as JSON")
	return cmd
}
