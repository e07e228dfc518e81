package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/render"
)

func eventsCommand() *cobra.Command {
	var c connection
	var after, session string
	var rendered bool
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Stream events, or replay a session",
		Example: `  nod events
  nod events --after 2026-11-21T09:00:00Z --session release-2 --json
  nod events --session release-2 --render`,
		Args: cobra.NoArgs,
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, _ []string) (err error) {
			if session, err = sessionID(cmd.Context(), cl, session); err != nil {
				return err
			}
			if rendered {
				return renderSession(cmd, cl, after, session, c.json)
			}
			err = cl.Events(cmd.Context(), after, session, func(e bridge.Event) error {
				if c.json {
					return printLine(cmd.OutOrStdout(), e)
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %-20s  %-9s  %s\n", e.Timestamp.Local().Format(time.TimeOnly), e.InteractionID, e.Type, e.State, render.Line(e.Agent))
				return err
			})
			if cmd.Context().Err() != nil {
				return nil // the user ended the stream
			}
			return err
		}),
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&after, "after", "", "start after this event or at this time (RFC 3339); 0 means the beginning (default: now; with --render: 0)")
	cmd.Flags().StringVar(&session, "session", "", "show only this session")
	cmd.Flags().BoolVar(&rendered, "render", false, "replay past events and show the current state of each request; requires --session")
	return cmd
}

// renderSession replays the events of a session and prints its requests.
func renderSession(cmd *cobra.Command, cl *client.Client, after, session string, asJSON bool) error {
	if session == "" {
		return bridge.Errorf(bridge.CodeInvalid, "--session: required with --render").WithHint("list the sessions with: nod list --json")
	}
	if after == "" {
		after = "0"
	}
	var replay bridge.Replay
	if err := cl.History(cmd.Context(), after, session, replay.Add); err != nil {
		return err
	}
	records := replay.Records()
	if asJSON {
		return printJSON(cmd.OutOrStdout(), records)
	}
	if len(records) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod: no events in session %s\n", render.Line(session))
	}
	for n, rec := range records {
		if n > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		printTurn(cmd.OutOrStdout(), rec)
	}
	return nil
}

// printTurn prints one request, without its destinations.
func printTurn(w io.Writer, rec bridge.Record) {
	card := render.NewCard(bridge.NewView(rec, 0, nil, nil), func(bridge.Question) bool { return true })
	fmt.Fprintf(w, "%s  %s\n%s\n\n%s\n", rec.Interaction.Created.Local().Format(time.DateTime), card.HeadText(), card.From, render.PlainText(card.Body))
	if len(card.Questions) > 0 {
		fmt.Fprintf(w, "\n%s\n", render.PlainText(card.Questions))
	}
	if card.Closed {
		fmt.Fprintf(w, "\n%s\n", render.PlainText(card.Closing))
	} else if s := render.Standing(rec); s != "" {
		fmt.Fprintf(w, "\n%s\n", s)
	}
}
