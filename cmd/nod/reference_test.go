package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/cli.md and docs/errors.md from the commands")

// TestReference checks that docs/cli.md matches the help of the commands.
func TestReference(t *testing.T) {
	t.Parallel()
	const path = "../../docs/cli.md"
	want := cliReference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is out of date; run make reference (%v)", path, err)
	}
}

const written = "For everyone who uses the command line.\n\nThis page lists every command with its flags. `make reference` writes it from the source.\n"

func cliReference() string {
	var b strings.Builder
	root := rootCommand()
	b.WriteString("# CLI reference\n\n" + written + "\n" + root.Long + "\n\n")
	for _, c := range root.Commands() {
		fmt.Fprintf(&b, "- [`nod %s`](#%s): %s\n", c.Name(), "nod-"+c.Name(), c.Short)
	}
	var describe func(c *cobra.Command)
	describe = func(c *cobra.Command) {
		if c.Name() == "help" {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n", c.CommandPath())
		text := c.Long
		if text == "" {
			text = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
		}
		b.WriteString(text + "\n")
		if c.Runnable() {
			fmt.Fprintf(&b, "\n    %s\n", c.UseLine())
		}
		if c.Example != "" {
			b.WriteString("\n")
			for line := range strings.SplitSeq(c.Example, "\n") {
				b.WriteString("    " + strings.TrimSpace(line) + "\n")
			}
		}
		first := true
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if first {
				b.WriteString("\n| Flag | Purpose |\n|---|---|\n")
				first = false
			}
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			usage := strings.ReplaceAll(f.Usage, "|", `\|`)
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" && f.Name != "config" {
				usage += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, usage)
		})
		for _, sub := range c.Commands() {
			describe(sub)
		}
	}
	for _, c := range root.Commands() {
		describe(c)
	}
	return b.String()
}
