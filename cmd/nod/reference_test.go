package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/cli.md and docs/api.md anew")

// The references in docs say what the program and its API are; make reference
// writes them.
func TestReference(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"../../docs/cli.md": cliReference(), "../../docs/api.md": apiReference(t)} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not what the source says; write it anew with: make reference (%v)", path, err)
		}
	}
}

const written = "Written from the source by `make reference`.\n"

func cliReference() string {
	var b strings.Builder
	root := rootCommand()
	b.WriteString("# Command line\n\n" + written + "\n" + root.Long + "\n\n")
	for _, c := range root.Commands() {
		fmt.Fprintf(&b, "- [`nod %s`](#%s): %s\n", c.Name(), "nod-"+c.Name(), c.Short)
	}
	var describe func(c *cobra.Command)
	describe = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
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
				b.WriteString("\n| flag | |\n|---|---|\n")
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

func apiReference(t *testing.T) string {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../../bridge/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# HTTP API\n\n" + written + "\nThe daemon serves the whole description, with every schema, at `/openapi.yaml`. Besides it there are\n[`/v1/ws`](websocket.md), `/mcp`, `/metrics`, `/console/`, and the addresses that the services call.\n\n")
	b.WriteString(strings.TrimSpace(doc.Info.Description) + "\n")
	paths := doc.Paths.Map()
	names := make([]string, 0, len(paths))
	for p := range paths {
		names = append(names, p)
	}
	slices.Sort(names)
	for _, p := range names {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			op := paths[p].GetOperation(method)
			if op == nil {
				continue
			}
			fmt.Fprintf(&b, "\n## %s %s\n\n%s\n", method, p, strings.TrimSpace(op.Summary+"\n\n"+op.Description))
			params := slices.Concat(paths[p].Parameters, op.Parameters)
			if len(params) > 0 {
				b.WriteString("\n| parameter | in | |\n|---|---|---|\n")
			}
			for _, ref := range params {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", ref.Value.Name, ref.Value.In, strings.ReplaceAll(strings.TrimSpace(ref.Value.Description), "\n", " "))
			}
			var codes []string
			for code := range op.Responses.Map() {
				codes = append(codes, code)
			}
			slices.Sort(codes)
			b.WriteString("\nAnswers: " + strings.Join(codes, ", ") + ".\n")
		}
	}
	return b.String()
}
