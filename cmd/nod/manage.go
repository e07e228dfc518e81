package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

// record reads the request that arg refers to. The word for the newest request
// refers to the newest one in a state, or in any state if the state is empty.
func (c *connection) record(cmd *cobra.Command, arg string, state bridge.State) (*client.Client, bridge.Record, error) {
	cl, err := c.client()
	if err != nil {
		return nil, bridge.Record{}, err
	}
	id, err := requestID(cmd.Context(), cl, arg, state)
	if err != nil {
		return nil, bridge.Record{}, err
	}
	rec, err := cl.Get(cmd.Context(), id)
	return cl, rec, err
}

func showCommand() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one request with its history",
		Long: `Show one request with its history. Enter its ID, the first characters of the ID,
or "last" for the newest request.`,
		Example: "  nod show last\n  nod show 0193b3c4-7d5e",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, rec, err := c.record(cmd, args[0], "")
			if err != nil {
				return err
			}
			if c.json {
				return printJSON(cmd.OutOrStdout(), rec)
			}
			printRecord(cmd.OutOrStdout(), rec)
			return nil
		},
	}
	c.flags(cmd)
	return cmd
}

// printRecord prints a request in paragraphs with an empty line between them.
func printRecord(w io.Writer, rec bridge.Record) {
	i := rec.Interaction
	v := bridge.NewView(rec, 0, nil, nil)
	v.Revealed = true
	card := render.NewCard(v.Unfinished(), func(bridge.Question) bool { return true }) // a terminal has no controls
	head := []string{string(i.ID) + "  " + terminal.Colors(w).Paint(stateColor(rec), card.HeadText()), card.From}
	state := []string{render.PlainText(card.Closing)}
	if !card.Closed {
		state = pendingLines(v)
	}
	empty := func(s string) bool { return strings.TrimSpace(s) == "" }
	var paragraphs []string
	for _, lines := range [][]string{head, {render.PlainText(card.Body)}, {render.PlainText(card.Questions)}, state, placesOf(rec)} {
		if text := strings.Join(slices.DeleteFunc(lines, empty), "\n"); !empty(text) {
			paragraphs = append(paragraphs, strings.Trim(text, "\n"))
		}
	}
	fmt.Fprintln(w, strings.Join(paragraphs, "\n\n"))
}

// pendingLines states who can answer a pending request, until when, and how.
func pendingLines(v bridge.View) []string {
	i := v.Record.Interaction
	lines := []string{fmt.Sprintf("pending until %s (%s left), responders: %s", i.Deadline.Local().Format(time.DateTime),
		i.Remaining(time.Now()).Round(time.Second), strings.Join(people(i), ", "))}
	if d := i.Decisions(); len(d) > 0 {
		lines = append(lines, "decisions: "+bridge.Listed(d))
	}
	lines = append(lines, render.PlainText(render.ScopeNotes(i)))
	return append(lines, render.Notes(v)...)
}

// placesOf describes the state of each card of a request.
func placesOf(rec bridge.Record) []string {
	var lines []string
	for n, d := range rec.Interaction.Destinations {
		switch ref, ok := rec.Messages[n]; {
		case ok:
			lines = append(lines, fmt.Sprintf("%s:%s  message %s", d.Platform, render.Line(ref.Channel), render.Line(ref.Message)))
		case rec.Failures[n] != "":
			lines = append(lines, fmt.Sprintf("%s:%s  failed: %s", d.Platform, d.Channel, render.Line(rec.Failures[n])))
		case !rec.Late[n].IsZero():
			lines = append(lines, fmt.Sprintf("%s:%s  late: next attempt in %s; nod health says why", d.Platform, d.Channel, max(0, time.Until(rec.Late[n])).Round(time.Second)))
		default:
			lines = append(lines, fmt.Sprintf("%s:%s  not posted yet", d.Platform, d.Channel))
		}
	}
	return lines
}

func answerCommand() *cobra.Command {
	var c connection
	var reason, input, confirm string
	var decline bool
	cmd := &cobra.Command{
		Use:   "answer ID [DECISION | VALUE | QUESTION=VALUE...]",
		Short: "Answer a request from the command line",
		Long: `Answer a request under the same rules as in chat. For an approval, enter a
decision that nod show lists, such as deny, once, session or always. For one
question, enter its value; for several, enter QUESTION=VALUE for each. A list is
VALUE,VALUE, or a JSON list. A form, a plan review or feedback is a JSON object.

With last instead of an ID, nod prints the newest pending request in full, as
its card shows it, and asks before it answers. This needs a terminal.`,
		Example: "  nod answer 0193b3c4-… once\n  nod answer 0193b3c4-… deny --reason \"not on a Friday\"\n  nod answer 0193b3c4-… region=eu size=l",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, rec, err := c.record(cmd, args[0], bridge.StatePending)
			if err != nil {
				return err
			}
			if args[0] == bridge.Newest {
				if err := confirmNewest(cmd, rec, decline || denies(rec.Interaction, args[1:])); err != nil {
					return err
				}
			}
			a := bridge.Reply{Decline: true}
			if !decline {
				if a, err = parseAnswer(rec.Interaction, args[1:]); err != nil {
					return err
				}
			}
			a.Reason, a.Confirm, a.Terms = reason, confirm, &rec.Interaction.Terms
			if input != "" {
				a.Input = json.RawMessage(input)
			}
			done, err := cl.Respond(cmd.Context(), rec.Interaction.ID, a)
			if err != nil {
				return err
			}
			if c.json {
				return printJSON(cmd.OutOrStdout(), done)
			}
			said := string(done.State) // the known state, if the request cannot be read now
			if rec, err := cl.Get(cmd.Context(), done.ID); err == nil && rec.State.Final() {
				said = rec.Outcome()
			} else if err == nil {
				said = render.Line(rec.Voted())
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "nod: %s\n", said)
			return nil
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "reason for denying or closing without an answer")
	cmd.Flags().StringVar(&input, "input", "", "with edit: input to approve instead, as JSON")
	cmd.Flags().StringVar(&confirm, "confirm", "", "typed confirmation that the request requires")
	cmd.Flags().BoolVar(&decline, "decline", false, "close a declinable question without an answer")
	return cmd
}

// denies reports whether an answer only denies an approval.
func denies(i bridge.Interaction, args []string) bool {
	return i.Kind == bridge.KindApproval && len(args) == 1 &&
		slices.Contains([]bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason}, bridge.Decision(args[0]))
}

func parseAnswer(i bridge.Interaction, args []string) (bridge.Reply, error) {
	if len(args) == 0 {
		return bridge.Reply{}, bridge.Errorf(bridge.CodeInvalid, "an answer is required").
			WithHint("see the request with: nod show %s", i.ID)
	}
	if i.Kind == bridge.KindApproval {
		if len(args) != 1 {
			return bridge.Reply{}, bridge.Errorf(bridge.CodeInvalid, "one decision is required").WithHint("use one of %s", bridge.Listed(i.Decisions()))
		}
		return bridge.Reply{Decision: bridge.Decision(args[0])}, nil
	}
	a := bridge.Reply{Answers: map[string]bridge.Answer{}}
	for _, arg := range args {
		q, value := i.Questions[0], arg
		if len(i.Questions) > 1 {
			id, v, ok := strings.Cut(arg, "=")
			found := false
			for _, x := range i.Questions {
				if x.ID == id {
					q, found = x, true
				}
			}
			if !ok || !found {
				return a, bridge.Errorf(bridge.CodeInvalid, "invalid answer %q", arg).
					WithHint("use QUESTION=VALUE; list the questions with: nod show %s", i.ID)
			}
			value = v
		}
		switch {
		case q.Multiple():
			list, err := choices(q, value)
			if err != nil {
				return a, err
			}
			a.Answers[q.ID] = list
		case q.Composite():
			var v bridge.Answer
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				return a, bridge.Errorf(bridge.CodeInvalid, "%s: the answer to a %s must be a JSON object", q.ID, q.Widget).
					WithHint("use an object such as '{\"name\":\"Ana\"}'")
			}
			a.Answers[q.ID] = v
		default:
			a.Answers[q.ID] = bridge.TextAnswer(value)
		}
	}
	return a, nil
}

func cancelCommand() *cobra.Command {
	var c connection
	var reason, session string
	cmd := &cobra.Command{
		Use:   "cancel [ID]",
		Short: "Cancel a request, or all pending requests of a session",
		Long: `Cancel a request, or all pending requests of a session. Enter the ID of the
request, the first characters of the ID, or "last" for the newest pending
request.`,
		Example: "  nod cancel 0193b3c4-…\n  nod cancel --session release-2",
		Args:    cobra.MaximumNArgs(1),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) (err error) {
			if (len(args) == 1) == (session != "") {
				return bridge.Errorf(bridge.CodeInvalid, "either an ID or --session is required")
			}
			if session != "" {
				if session, err = sessionID(cmd.Context(), cl, session); err != nil {
					return err
				}
				page, err := cl.CancelSession(cmd.Context(), session, reason)
				if err != nil {
					return err
				}
				return c.print(cmd, page, "requests cancelled: %d", len(page.Items))
			}
			id, err := requestID(cmd.Context(), cl, args[0], bridge.StatePending)
			if err != nil {
				return err
			}
			rec, err := cl.Cancel(cmd.Context(), id, reason)
			if err != nil {
				return err
			}
			if err := c.print(cmd, rec, "%s", rec.Outcome()); err != nil || c.json || rec.State == bridge.StateCancelled {
				return err
			}
			return cli.ExitError(bridge.CodeConflict.ExitCode())
		}),
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&reason, "reason", "", "reason to show to people")
	cmd.Flags().StringVar(&session, "session", "", "cancel all pending requests of this session")
	return cmd
}
