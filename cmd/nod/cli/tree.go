package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/removed"
)

// HelpCommand replaces cobra's help, which exits with 0 for an unknown topic.
func HelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show help for a command",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// findGroup returns the command that args name if it only groups other
// commands, or if no known command follows it. In both cases, cobra itself
// would print the help of the group and succeed.
func findGroup(root *cobra.Command, args []string) (group *cobra.Command, rest []string) {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return nil, nil // cobra adds these commands at run time
	}
	c, rest, err := root.Find(args)
	if err != nil || !c.HasSubCommands() {
		return nil, nil
	}
	if c.Runnable() && (len(rest) == 0 || strings.HasPrefix(rest[0], "-") || c.ValidateArgs(rest[:1]) == nil) {
		return nil, nil
	}
	return c, rest
}

// runGroup handles a command line that ends at a group. It prints the help if
// the user requested it, and returns an error otherwise.
func (p Program) runGroup(group *cobra.Command, rest []string, stderr io.Writer) error {
	switch {
	case len(rest) == 0 && !group.HasParent(), len(rest) == 1 && slices.Contains([]string{"--help", "-h"}, rest[0]):
		group.InitDefaultHelpFlag()
		return group.Help()
	case len(rest) == 1 && rest[0] == "--version" && !group.HasParent():
		return p.PrintVersion(group.OutOrStdout())
	case len(rest) == 0:
		group.SetOut(stderr)
		if err := group.Help(); err != nil {
			return err
		}
		return bridge.Errorf(bridge.CodeInvalid, "%s: a command is required", group.CommandPath())
	case strings.HasPrefix(rest[0], "-"):
		return bridge.Errorf(bridge.CodeInvalid, "unknown flag: %s", rest[0]).WithHint("flags follow the command; see %s --help", group.CommandPath())
	}
	return unknownCommand(group, rest)
}

// CommandName returns the words of a command after nod.
func CommandName(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
}

// unknownCommand returns the error for words that do not start with a command
// of c. For a removed command, it names the replacement. Otherwise, it suggests
// the closest command.
func unknownCommand(c *cobra.Command, words []string) error {
	name := words[0]
	full := func(name string) string { return strings.TrimPrefix(CommandName(c)+" "+name, " ") }
	if err := removedError(removed.Command, full(strings.Join(words, " ")), fmt.Sprintf("command %q", full(name))); err != nil {
		return err
	}
	c.SuggestionsMinimumDistance = 2
	msg := fmt.Sprintf("unknown command %q", full(name))
	if close := c.SuggestionsFor(name); name != "" && len(close) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", full(close[0]))
	}
	return bridge.Errorf(bridge.CodeInvalid, "%s", msg).WithHint("list the commands with: %s --help", c.CommandPath())
}
