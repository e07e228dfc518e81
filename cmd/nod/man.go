package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/nodbridge/nod/bridge"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "Write the manual pages",
		Long:    "Write a manual page for each command into a directory, which nod creates if needed.",
		Example: "  nod man ~/.local/share/man/man1\n  man nod-run",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // everyone may read the pages
				return bridge.Wrap(bridge.CodeInvalid, err, "directory")
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // so that the pages are reproducible
			header := &doc.GenManHeader{Title: "NOD", Section: "1", Source: "nod " + version, Manual: "nod"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return bridge.Wrap(bridge.CodeInvalid, err, "directory")
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "nod*.1"))
			if err != nil {
				return bridge.Wrap(bridge.CodeInternal, err, "directory")
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "nod: wrote %d pages to %s\n", len(pages), args[0])
			return nil
		},
	}
}
