package main

import (
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/cli"
)

// fullTree returns all commands, including those that cobra adds.
func fullTree() *cobra.Command {
	root := rootCommand()
	root.SetHelpCommand(cli.HelpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	completeBash(root)
	cli.WordUsage(root)
	complete(root)
	return root
}
