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
		Long: `Generate a random token and its hash. Give the token to the agent as NOD_TOKEN,
and add the hash to token_hashes in the daemon's config, so that no one who reads
the config can act as that agent. To replace a token, add the new hash,
distribute the new token, and remove the old hash.`,
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
