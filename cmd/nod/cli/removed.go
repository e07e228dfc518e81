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

// OfAgents lists the commands that agents start from their settings. These
// commands ignore removed flags, because an error would block every call of an
// agent.
var OfAgents = []string{"hook", "mcp", "proxy"}

// withoutRemoved returns a command line without the removed names that nod
// ignores, and reports each of them in one line.
func withoutRemoved(root *cobra.Command, args []string, stderr io.Writer) []string {
	if len(args) == 0 {
		return args
	}
	if row, ok := removed.Find(removed.Command, args[0]); ok && row.Runs != "" {
		fmt.Fprintf(stderr, "nod: nod %s was removed; running nod %s\n", row.Name, row.Runs)
		args = append(strings.Fields(row.Runs), args[1:]...)
	}
	if !slices.Contains(OfAgents, args[0]) {
		return args
	}
	c, _, err := root.Find(args)
	if err != nil {
		return args
	}
	kept, gone := removed.Cut(args, func(flag string) bool {
		f := c.Flags().Lookup(flag)
		return f != nil && f.NoOptDefVal == ""
	})
	for _, row := range gone {
		fmt.Fprintf(stderr, "nod: ignoring %s, which was removed: %s\n", FlagOf(row), row.Instead)
	}
	return kept
}

// FlagOf returns the flag of a row, without its command.
func FlagOf(row removed.Name) string { return row.Name[strings.LastIndexByte(row.Name, ' ')+1:] }

// removedError returns the error for a removed name, or nil if the name was not
// removed.
func removedError(kind removed.Kind, name, what string) error {
	instead, ok := removed.Instead(kind, name)
	if !ok {
		return nil
	}
	return bridge.Errorf(bridge.CodeInvalid, "%s was removed", what).WithHint("%s", instead)
}
