// Command nod-hook answers the hooks of coding agents, like nod hook. It has no
// daemon, no setup and no other command of nod, so it starts in milliseconds.
// The command itself is in package hook.
package main

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/hook"
)

// stamped is the version that the linker sets in release builds.
var stamped string

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the program with a single command, and passes it the arguments of
// nod hook.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 || !slices.Contains([]string{"version", "--version"}, args[0]) {
		args = append([]string{"hook"}, args...)
	}
	return itself().Run(args, stdin, stdout, stderr)
}

func itself() cli.Program {
	return cli.Program{Name: "nod-hook", Tree: tree, Version: cli.BuiltVersion(stamped)}
}

func tree() *cobra.Command {
	root := &cobra.Command{Use: "nod", SilenceUsage: true, SilenceErrors: true, Args: cobra.NoArgs}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(hook.Command(), &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return itself().PrintVersion(cmd.OutOrStdout()) },
	})
	root.SetHelpCommand(cli.HelpCommand())
	root.InitDefaultHelpCmd()
	cli.WordUsage(root)
	return root
}
