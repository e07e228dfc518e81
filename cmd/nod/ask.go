package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

// asking holds the flags that ask, approve and run share.
type asking struct {
	connection
	texts          bridge.Ask // set by the flags for texts
	key, onTimeout string
	timeout, grace time.Duration
	join, keep     bool
}

// textFlags adds a flag for each text to a command.
func textFlags(cmd *cobra.Command, all iter.Seq[bridge.Text]) {
	for t := range all {
		if t.Flag != "" {
			cmd.Flags().StringVar(t.Value, t.Flag, "", t.About)
		}
	}
}

func (a *asking) flags(cmd *cobra.Command) {
	a.connection.flags(cmd)
	textFlags(cmd, a.texts.Texts())
	cmd.Flags().StringVar(&a.key, "key", "", "idempotency key; repeating it finds the first request")
	cli.DurationVar(cmd.Flags(), &a.timeout, "timeout", bridge.DefaultTimeout, "how long people have to answer")
	cli.DurationVar(cmd.Flags(), &a.grace, "grace", 0, "wait this long before posting, so that you can answer locally")
	cmd.Flags().BoolVar(&a.join, "join", false, "share the answer of an identical pending request of the session")
	cli.ChoiceVar(cmd.Flags(), &a.onTimeout, "on-timeout", "",
		"on timeout: expire (default), deny (approvals only), default (questions only), escalate or pending",
		texts(bridge.OnTimeouts...)...)
}

// waitFlags adds the common flags, and those of commands that wait for a
// response.
func (a *asking) waitFlags(cmd *cobra.Command) {
	a.flags(cmd)
	cmd.Flags().BoolVar(&a.keep, "keep", false, "leave the request open if a signal ends the wait")
}

func (a *asking) request(prompt string) bridge.Request {
	r := bridge.Request{Ask: a.texts}
	r.Prompt, r.Timeout, r.OnTimeout = prompt, bridge.Duration(a.timeout), bridge.OnTimeout(a.onTimeout)
	r.Grace, r.Join = bridge.Duration(a.grace), a.join
	return r
}

// ask sends a request and waits until it is closed. A signal cancels the
// request.
func (a *asking) ask(cmd *cobra.Command, r bridge.Request) (bridge.Record, error) {
	if err := noneEmpty(cmd); err != nil {
		return bridge.Record{}, err
	}
	whole := r
	if err := whole.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	c, err := a.client()
	if err != nil {
		return bridge.Record{}, err
	}
	key := cmp.Or(a.key, uuid.NewString())
	ctx, stop := cli.UntilSignal(cmd.Context(), syscall.SIGHUP)
	defer stop()
	done := func() {}
	var opened bridge.ID
	rec, err := c.Request(ctx, r, client.RequestOptions{
		Key: key, Keep: a.keep, Reason: func() string { return "interrupted at the command line" },
		Opened: func(rec bridge.Record) {
			if !rec.State.Final() {
				opened = rec.Interaction.ID
			}
			if rec.Repeated {
				fmt.Fprintf(cmd.ErrOrStderr(), "nod: --key: an earlier call opened %s; only one of the calls gets an approval\n", rec.Interaction.ID)
			}
			done = showWaiting(ctx, cmd.ErrOrStderr(), rec)
		},
	})
	done()
	if left, ok := errors.AsType[*client.LeftError](err); ok {
		if s, ok := cli.Interrupted(ctx); ok {
			a.withdrawn(cmd.ErrOrStderr(), s, left, key)
			return rec, cli.ExitError(s.Code())
		}
	}
	if spent, ok := errors.AsType[*bridge.RepeatedError](err); ok {
		id := spent.Interaction.ID
		return rec, bridge.Errorf(bridge.CodeConflict, "--key: another call has the answer to %s", id).
			WithHint("use another key to ask again, or read the answer: nod show %s", id)
	}
	if err != nil {
		if opened != "" && bridge.ErrorCode(err) != bridge.CodeNotFound { // the daemon may have lost it
			fmt.Fprintf(cmd.ErrOrStderr(), "nod: %s may still be open; %s\n", opened, resume(key))
		}
		return rec, err
	}
	if err := caller.Verified(rec, r); err != nil {
		return rec, err
	}
	if a.json {
		return rec, printJSON(cmd.OutOrStdout(), rec)
	}
	return rec, nil
}

// showWaiting shows on a terminal the people that nod is waiting for, their
// platforms, and the time left. If the output is not a terminal, it writes one
// line. The returned function clears the line.
func showWaiting(ctx context.Context, w io.Writer, rec bridge.Record) func() {
	if rec.State.Final() {
		return func() {}
	}
	line := "waiting for " + waitsFor(rec)
	if !terminal.Is(w) {
		fmt.Fprintf(w, "nod: %s %s, until %s\n", rec.Interaction.ID, line, rec.Interaction.Deadline.UTC().Format("2006-01-02 15:04:05 UTC"))
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			fmt.Fprintf(w, "\r\x1b[K%s, %s left", line, rec.Interaction.Remaining(time.Now()).Round(time.Second))
			select {
			case <-ctx.Done():
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-t.C:
			}
		}
	}()
	return func() { cancel(); <-finished }
}

func people(i bridge.Interaction) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range i.Responders {
		if name := render.Line(r.Person); !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, g := range i.Groups {
		out = append(out, bridge.GroupMark+render.Line(g))
	}
	return out
}

// waitsFor names the responders who may approve a request, each with the
// platforms where a card reaches them, or with the reason why no card does. It
// names no platforms for the members of a group.
func waitsFor(rec bridge.Record) string {
	i := rec.Interaction
	var cards []string
	for _, d := range i.Destinations {
		cards = append(cards, bridge.Missing(cards, []string{d.Platform})...)
	}
	var out []string
	for _, name := range people(i) {
		if slices.Contains(i.Requesters, name) {
			continue
		}
		var on []string
		for _, r := range i.Responders {
			if render.Line(r.Person) == name && slices.Contains(cards, r.Platform) {
				on = append(on, bridge.Missing(on, []string{render.Platform(r.Platform)})...)
			}
		}
		for _, t := range i.Told {
			if t.Name == name {
				on = append(on, bridge.Missing(on, toldOn(rec, t))...)
			}
		}
		if len(on) > 0 {
			name += " (" + strings.Join(on, ", ") + ")"
		}
		out = append(out, name)
	}
	line := strings.Join(out, ", ")
	if len(i.Groups) > 0 {
		for n, name := range cards {
			cards[n] = render.Platform(name)
		}
		line += ", cards on " + strings.Join(cards, ", ")
	}
	return line
}

// toldOn returns the platforms on which someone is told of a request, or the
// reason why there is none.
func toldOn(rec bridge.Record, t bridge.Told) (on []string) {
	why := t.Why
	for _, n := range t.At {
		switch {
		case n >= len(rec.Interaction.Destinations):
		case rec.Failures[n] != "":
			why = rec.Failures[n]
		default:
			on = append(on, render.Platform(rec.Interaction.Destinations[n].Platform))
		}
	}
	if len(on) == 0 && why != "" {
		on = []string{"not notified: " + render.Line(why)}
	}
	return on
}

// exitDeferred is the exit code for a request that stays open for a late
// answer.
const exitDeferred = 7

// signalExitCodes is the text of the help about signals that end a wait.
const signalExitCodes = `130, 143 or 129 if SIGINT, SIGTERM or SIGHUP ended the wait; nod then cancels
the request, unless --keep is set.`

// outcome converts the final state of a request to an exit code. It reports
// anything other than an answer on stderr.
func outcome(w io.Writer, rec bridge.Record) error {
	by := ""
	if rec.Response != nil && rec.Response.Actor != nil {
		a := rec.Response.Actor
		by = " by " + render.Line(a.Display()) + " on " + render.Line(a.Platform) + rec.Response.Assurance.With()
	}
	reason := ""
	if rec.Response != nil && rec.Response.Reason != "" {
		reason = ": " + render.Line(rec.Response.Reason)
	}
	code := 0
	switch rec.State {
	case bridge.StatePending: // deferred: a late answer goes to the session inbox
		fmt.Fprintf(w, "nod: deferred; print a late answer with: nod sessions messages %s\n", render.ShellQuote(rec.Interaction.Session))
		return cli.ExitError(exitDeferred)
	case bridge.StateAnswered:
		return nil
	case bridge.StateApproved:
	case bridge.StateDenied:
		code = 1
	case bridge.StateExpired:
		code = 3
	case bridge.StateCancelled, bridge.StateSuperseded:
		code = 4
	default:
		code = bridge.CodeUnavailable.ExitCode()
	}
	fmt.Fprintf(w, "nod: %s%s%s\n", terminal.Colors(w).Paint(stateColor(rec), rec.Outcome()), by, reason)
	if code == 0 {
		return nil
	}
	return cli.ExitError(code)
}

// askFlags are the flags of nod ask that describe the question.
type askFlags struct {
	texts                        bridge.Question // set by the flags for texts
	file, fallback, plan, schema string
	other, optional, declinable  bool
	choices                      map[bridge.Widget]*[]string
}

func askCommand() *cobra.Command {
	var a asking
	f := askFlags{choices: map[bridge.Widget]*[]string{}}
	cmd := &cobra.Command{
		Use:   "ask PROMPT",
		Short: "Ask a question and print the answer",
		Long: `Ask a question in chat, wait, and print the answer.

The answer is the chosen value, one value per line if several can be chosen, and
JSON for a form or a plan. Without a widget flag, the choice is Yes or No.
An option is VALUE or VALUE=LABEL.

Exit codes: 0 answered, 2 usage or invalid input, 3 expired, 4 cancelled or
declined, 5 unavailable or undeliverable, 6 forbidden, 7 deferred.
` + signalExitCodes,
		Example: `  nod ask "Which region?" --select eu,us --timeout 5m
  nod ask "Ship it?"
  nod ask "What went wrong?" --textarea
  nod ask "Deploy when?" --datetime
  nod ask "Please review" --plan plan.md
  nod ask "New service" --form schema.json
  nod ask --request questions.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := a.request(strings.Join(args, ""))
			if err := f.fill(cmd, &r); err != nil {
				return err
			}
			rec, err := a.ask(cmd, r)
			if err != nil {
				return err
			}
			if rec.State == bridge.StateAnswered && !a.json {
				if err := printAnswers(cmd.OutOrStdout(), rec); err != nil {
					return bridge.Wrap(bridge.CodeInternal, err, "cannot print the answer")
				}
			}
			return outcome(cmd.ErrOrStderr(), rec)
		},
	}
	a.waitFlags(cmd)
	f.flags(cmd)
	return cmd
}

func (f *askFlags) flags(cmd *cobra.Command) {
	for _, w := range []struct {
		widget bridge.Widget
		help   string
	}{
		{bridge.WidgetButtons, "row of buttons; one click answers"}, {bridge.WidgetSelect, "drop-down list"},
		{bridge.WidgetRadio, "list with one choice"}, {bridge.WidgetCheckbox, "list with several choices"},
	} {
		f.choices[w.widget] = cmd.Flags().StringSlice(string(w.widget), nil, w.help)
	}
	for flag, w := range typedWidgets {
		cmd.Flags().Bool(flag, false, w.help)
	}
	for _, v := range []struct {
		to         *string
		name, help string
	}{
		{&f.plan, "plan", "file with a plan in Markdown to review; - for stdin"},
		{&f.schema, "form", "file with a JSON Schema, shown as a form; - for stdin"},
		{&f.fallback, "default", "preselected value; the answer with --on-timeout default"},
		{&f.file, "request", "file with a request as JSON, for several questions; - for stdin"},
	} {
		cmd.Flags().StringVar(v.to, v.name, "", v.help)
	}
	textFlags(cmd, f.texts.Texts())
	cmd.Flags().BoolVar(&f.other, "other", false, "also accept free text")
	cmd.Flags().BoolVar(&f.optional, "optional", false, "accept an empty answer")
	cmd.Flags().BoolVar(&f.declinable, "declinable", false, "let people close the question without an answer")
}

// fill adds the question to the request.
func (f *askFlags) fill(cmd *cobra.Command, r *bridge.Request) error {
	if f.file != "" {
		return readRequest(cmd, f.file, r)
	}
	q, err := question(cmd, f.choices, f.texts)
	if err == nil {
		err = fromFiles(cmd, &q, f.plan, f.schema)
	}
	if err != nil {
		return err
	}
	r.Declinable = f.declinable
	q.AllowOther = f.other
	if f.optional {
		no := false
		q.Required = &no
	}
	if f.fallback != "" {
		d := bridge.TextAnswer(f.fallback)
		if q.Multiple() {
			if d, err = choices(q, f.fallback); err != nil {
				return err
			}
		}
		q.Default = &d
	}
	r.Questions = []bridge.Question{q}
	return nil
}

func printAnswers(w io.Writer, rec bridge.Record) error {
	var b strings.Builder
	questions := rec.Interaction.Questions
	for _, q := range questions {
		for _, v := range rec.Response.Answers[q.ID].Values() {
			if terminal.Is(w) {
				v = render.Clean(v) // an answer from a person may contain escape sequences
			}
			if len(questions) > 1 {
				fmt.Fprintf(&b, "%s=%s\n", q.ID, v)
			} else {
				fmt.Fprintln(&b, v)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
