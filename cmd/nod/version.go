package main

import (
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/cli"
)

// stamped is the version that the linker sets in release builds.
var stamped string

// version is the version of the program.
var version = cli.BuiltVersion(stamped)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return itself().PrintVersion(cmd.OutOrStdout()) },
	}
}
