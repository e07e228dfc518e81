package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/timespan"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

// listStandard is the number of requests that nod list prints by default.
const listStandard = 50

func listCommand() *cobra.Command {
	var c connection
	var f bridge.ListFilter
	var state string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List requests, the next deadline first",
		Long: `List requests: first the pending ones, by deadline, then the closed ones, newest
first. With --json, print a page of the API: all requests, newest first.`,
		Example: "  nod list\n  nod list --state pending --session release-2\n  nod list --quiet --limit 1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Limit < 0 {
				return bridge.Errorf(bridge.CodeInvalid, "--limit: %d is out of range (0 or more)", f.Limit)
			}
			cl, err := c.client()
			if err != nil {
				return err
			}
			if f.Session, err = sessionID(cmd.Context(), cl, f.Session); err != nil {
				return err
			}
			f.State = bridge.State(state)
			if c.json {
				page, err := cl.List(cmd.Context(), f)
				if err != nil {
					return err
				}
				sayLacks(cmd.ErrOrStderr(), page.Unreadable, "request")
				return printJSON(cmd.OutOrStdout(), page)
			}
			page, left, err := byDeadline(cmd.Context(), cl, f)
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), cmd.ErrOrStderr(), page, left, quiet)
		},
	}
	c.flags(cmd)
	cli.ChoiceVar(cmd.Flags(), &state, "state", "", "list only requests in this state, such as pending", texts(bridge.States...)...)
	cmd.Flags().StringVar(&f.Session, "session", "", "list only this session")
	cmd.Flags().StringVar(&f.Cursor, "cursor", "", "cursor of the previous page")
	cmd.Flags().IntVar(&f.Limit, "limit", listStandard, "maximum number of requests")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the IDs")
	return cmd
}

// byDeadline returns pending requests by deadline and then closed requests,
// newest first. It also returns the number of pending requests beyond the
// limit. Later pages have only closed requests.
func byDeadline(ctx context.Context, cl *client.Client, f bridge.ListFilter) (out bridge.List, left int, err error) {
	limit := f.Limit
	if limit <= 0 {
		limit = listStandard
	}
	if f.Cursor == "" && (f.State == "" || f.State == bridge.StatePending) {
		if out, err = pending(ctx, cl, f.Session); err != nil {
			return out, 0, err
		}
		if left = len(out.Items) - limit; left > 0 {
			out.Items = out.Items[:limit]
		}
	}
	if f.State == bridge.StatePending {
		return out, left, nil
	}
	for unreadable := 0; len(out.Items) < limit; {
		f.Limit = min(limit-len(out.Items), listMost)
		page, err := cl.List(ctx, f)
		if err != nil {
			return out, left, err
		}
		unreadable += page.Unreadable
		out.Unreadable = max(out.Unreadable, unreadable) // these pages count the pending ones, too
		for _, r := range page.Items {
			if r.State != bridge.StatePending {
				out.Items = append(out.Items, r)
			}
		}
		if out.Next, f.Cursor = page.Next, page.Next; page.Next == "" {
			break
		}
	}
	return out, left, nil
}

// pending returns all pending requests by deadline.
func pending(ctx context.Context, cl *client.Client, session string) (out bridge.List, err error) {
	f := bridge.ListFilter{State: bridge.StatePending, Session: session, Limit: listMost}
	for {
		page, err := cl.List(ctx, f)
		if err != nil {
			return out, err
		}
		out.Items, out.Unreadable = append(out.Items, page.Items...), out.Unreadable+page.Unreadable
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	slices.SortStableFunc(out.Items, func(a, b bridge.Record) int { return a.Interaction.Deadline.Compare(b.Interaction.Deadline) })
	return out, nil
}

func printList(w, talk io.Writer, page bridge.List, unlisted int, quiet bool) error {
	if len(page.Items) == 0 {
		fmt.Fprintln(talk, "nod: no requests")
	}
	sayLacks(talk, page.Unreadable, "request")
	if quiet {
		for _, r := range page.Items {
			fmt.Fprintln(w, r.Interaction.ID)
		}
		return nil
	}
	if len(page.Items) > 0 {
		t := table(page.Items, listColumns(time.Now()))
		t.Cut = true
		if err := t.Write(w); err != nil {
			return err
		}
	}
	if unlisted > 0 {
		fmt.Fprintf(talk, "nod: pending requests that are not listed: %d; list them with a higher --limit\n", unlisted)
	}
	if page.Next != "" {
		fmt.Fprintf(talk, "nod: for the next page, add --cursor %s\n", page.Next)
	}
	return nil
}

// listColumns are the columns of a list of requests.
func listColumns(now time.Time) []column[bridge.Record] {
	dim := func(bridge.Record) terminal.Color { return terminal.Dim }
	return []column[bridge.Record]{
		{"ID", func(r bridge.Record) string { return string(r.Interaction.ID) }, nil},
		{"STATE", stateWords, stateColor},
		{"AGE", func(r bridge.Record) string { return age(now.Sub(r.Interaction.Created)) }, dim},
		{"LEFT", func(r bridge.Record) string {
			if r.State.Final() {
				return ""
			}
			return age(r.Interaction.Remaining(now))
		}, nil},
		{"AGENT", func(r bridge.Record) string { return render.Line(r.Interaction.Agent) }, nil},
		{"REQUEST", func(r bridge.Record) string { return asks(r.Interaction) }, nil},
	}
}

// asks returns the subject of a request on one line: the command of an
// approval, and the prompt.
func asks(i bridge.Interaction) string {
	prompt := render.Line(render.PlainText(render.Markdown(i.Prompt)))
	command, _ := render.Command(i)
	if command = render.Line(command); command == "" {
		return prompt
	}
	if i.Prompt == runPrompt {
		return command
	}
	return prompt + "  " + command
}

// age returns a duration in its largest unit, such as 5m.
func age(d time.Duration) string {
	d = max(d, 0)
	for _, u := range []struct {
		unit time.Duration
		mark string
	}{{timespan.Day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= 2*u.unit || d >= u.unit && u.unit == time.Minute {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.mark
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

// stateWords returns the state of a record, with a mark if the record could not
// be verified.
func stateWords(r bridge.Record) string {
	if r.Unverified != "" {
		return string(r.State) + " (not verified)"
	}
	return string(r.State)
}

func stateColor(r bridge.Record) terminal.Color {
	switch {
	case r.Unverified != "":
		return terminal.Red
	case r.State == bridge.StatePending:
		return terminal.Yellow
	case r.State == bridge.StateApproved, r.State == bridge.StateAnswered:
		return terminal.Green
	case r.State == bridge.StateDenied, r.State == bridge.StateUndeliverable:
		return terminal.Red
	}
	return terminal.Dim
}

// texts converts words to strings.
func texts[T ~string](words ...T) []string {
	out := make([]string, len(words))
	for n, w := range words {
		out[n] = string(w)
	}
	return out
}
