package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

// connection holds the flags of every command that calls the daemon.
type connection struct {
	url      string
	json     bool
	patience time.Duration
	cmd      *cobra.Command // command that reports retries to its user; nil reports none
}

func (c *connection) flags(cmd *cobra.Command) {
	c.cmd = cmd
	cli.DurationVar(cmd.Flags(), &c.patience, "patience", 0, "how long to retry while the daemon is unreachable (default 2m, or 3s if it was never reached)")
	c.urlFlag(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "print JSON instead of text")
}

// urlFlag adds only the flag for the URL of the daemon.
func (c *connection) urlFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.url, "url", "", "URL of the daemon (NOD_URL; default http://127.0.0.1:8787)")
}

// calls returns the function of a command that calls the daemon.
func (c *connection) calls(run func(cmd *cobra.Command, cl *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		cl, err := c.client()
		if err != nil {
			return err
		}
		return run(cmd, cl, args)
	}
}

// print prints a value as JSON if the user wants that, or otherwise a line for
// people.
func (c *connection) print(cmd *cobra.Command, v any, format string, args ...any) error {
	if c.json {
		return printJSON(cmd.OutOrStdout(), v)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "nod: "+format+"\n", args...)
	return nil
}

func (c *connection) client() (*client.Client, error) {
	cl, err := caller.New(c.url)
	if err != nil {
		return nil, err
	}
	if cl.Patience = c.patience; c.patience != 0 {
		cl.FirstPatience = c.patience
	}
	if c.cmd != nil {
		cl.Retrying = func(err error) {
			fmt.Fprintf(c.cmd.ErrOrStderr(), "nod: retrying: %s\n", render.Line(cli.WithHint(err)))
		}
	}
	return cl, nil
}

// column is a column of a list.
type column[T any] struct {
	title string
	text  func(T) string
	color func(T) terminal.Color // nil means plain text
}

// table returns the rows of a list below the titles of its columns.
func table[T any](all []T, columns []column[T]) terminal.Table {
	var t terminal.Table
	for n := range len(all) + 1 {
		var row []terminal.Cell
		for _, c := range columns {
			switch {
			case n == 0:
				row = append(row, terminal.Cell{Text: c.title, Color: terminal.Bold})
			case c.color == nil:
				row = append(row, terminal.Cell{Text: c.text(all[n-1])})
			default:
				row = append(row, terminal.Cell{Text: c.text(all[n-1]), Color: c.color(all[n-1])})
			}
		}
		t.Row(row...)
	}
	return t
}

// printAll prints a list as JSON or as a table.
func printAll[T any](cmd *cobra.Command, c *connection, noun string, page bridge.Page[T], columns []column[T]) error {
	sayLacks(cmd.ErrOrStderr(), page.Unreadable, noun)
	if c.json {
		return printJSON(cmd.OutOrStdout(), page.Items)
	}
	if len(page.Items) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod: no %ss\n", noun)
		return nil
	}
	t := table(page.Items, columns)
	return t.Write(cmd.OutOrStdout())
}

// sayLacks says that a list lacks a number of unreadable items.
func sayLacks(talk io.Writer, n int, noun string) {
	if n > 0 {
		fmt.Fprintf(talk, "nod:%s\n", strings.TrimSuffix(bridge.Lacks(n, noun), "."))
	}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func printLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
