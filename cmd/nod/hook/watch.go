package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/hooks"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/config/files"
)

const (
	// tookTime is the maximum time for which a hook tries to record that the
	// agent has a message. It is shorter than the timeout of the hook.
	tookTime = 8 * time.Second
)

// watchHelp is the text about --watch in the help of agents that support it.
func watchHelp(agent string) string {
	if agent != "claude" {
		return ""
	}
	return `

With --watch, the hook asks no one. It denies a tool call of a session that a
person has stopped, and ends the turn. After a tool call, at a prompt and at the
end of a turn, it passes on what people wrote to the session. At the end of a
turn, the agent then continues, at most 8 times in a row. For any other call, and
if the daemon does not answer within --report-time (300 milliseconds by default),
it prints {}. It is not a gate.

With --report as well, the same process reports the event, as the hook without
--watch does, so that Claude Code starts one process instead of two.

With --wake, the hook runs in the background, and needs asyncRewake in the
settings. When a person writes to the idle session, it exits with code 2,
which starts a turn. The hook with --watch then passes on the message. It does
nothing in claude -p, which would wait for it.`
}

// watcher is one run of a hook that watches a session.
type watcher struct {
	claudecode.Watch
	client *client.Client
	errs   io.Writer
	// patience is the time for which the hook tries to record that the agent
	// has a message. nod reserves the messages for twice that time.
	patience   time.Duration
	reportTime time.Duration // maximum duration of a call to the daemon

	through string // ID of the last message for the agent
}

// watchSession denies a tool call of a stopped session, or passes messages from
// people to the agent. It is not a gate: after any error, it decides nothing.
func (f flags) watchSession(cmd *cobra.Command) error {
	ctx, unwatch := cli.UntilUnread(cmd.Context(), cmd.OutOrStdout())
	defer unwatch()
	w := watcher{errs: cmd.ErrOrStderr(), patience: min(f.patience, tookTime), reportTime: f.reportTime}
	answer, decides := json.RawMessage("{}"), false
	began, in := time.Now(), dialect.NewHookInput(claudecode.Reports)
	_, err := io.Copy(in, cmd.InOrStdin())
	reported := func() {}
	if f.report && err == nil && in.Reports() {
		reported = f.reporting(ctx, in, began, w.errs)
	}
	watched := false
	if w.Watch, watched = claudecode.Watched(in); err == nil && watched {
		if w.client, err = caller.New(f.url); err == nil {
			answer, decides, err = w.look(ctx)
		}
		// A denied call ends the turn without a Stop event.
		idle(w.Session, decides || w.Event == "Stop" && w.through == "")
	}
	reported()
	if err != nil {
		fmt.Fprintf(w.errs, "nod could not watch the session: %s\n", visible.Line(bridge.PublicText(err)))
		answer = json.RawMessage("{}")
	}
	err = say(cmd.OutOrStdout(), decides, answer, 0)
	if err == nil && w.through != "" {
		w.took(ctx)
	}
	return err
}

// reporting tells the daemon what happened while the hook does other work. The
// returned function waits for the end of the report, and prints its error.
func (f flags) reporting(ctx context.Context, in *dialect.HookInput, began time.Time, errs io.Writer) (wait func()) {
	var said bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		h := call{flags: f, agent: hooks.Agents[0], in: in, errs: &said, began: began}
		var err error
		if h.body, err = in.Body(); err == nil {
			_, err = h.answer(ctx) // a report decides nothing
		}
		if err != nil {
			fmt.Fprintf(&said, "nod did not get the report: %s\n", visible.Line(bridge.PublicText(err)))
		}
	}()
	return func() {
		<-done
		_, _ = said.WriteTo(errs) // the output may have no reader
	}
}

// look returns the output of the hook, and reports whether it decides about a
// call.
func (w *watcher) look(ctx context.Context) (json.RawMessage, bool, error) {
	limited, cancel := context.WithTimeout(ctx, w.reportTime)
	defer cancel()
	if w.Takes {
		answer, err := w.messages(limited)
		if err == nil && ctx.Err() != nil {
			w.through, err = "", context.Cause(ctx) // the output has no reader
		}
		return answer, false, err
	}
	stop, err := w.client.Stopped(limited, w.Session)
	if err != nil || stop == nil {
		return json.RawMessage("{}"), false, err
	}
	answer, err := dialect.Encode(claudecode.Stopped("PreToolUse", *stop))
	return answer, true, err // if no one reads the denial, the exit code denies
}

// messages returns output with the waiting messages from people.
func (w *watcher) messages(ctx context.Context) (json.RawMessage, error) {
	all, err := w.client.TakeMessages(ctx, w.Session, client.Taking{
		Reader: "hook " + uuid.NewString(), Lease: 2 * w.patience, Continued: w.Continued,
	})
	if err != nil || len(all) == 0 {
		return json.RawMessage("{}"), err
	}
	var texts []string
	for _, m := range all {
		mark := "(message " + m.ID + ")"
		if m.Steering.Again && w.known(mark) {
			w.through = m.ID
			continue
		}
		if next := append(texts, strings.TrimSpace(m.Text)+" "+mark); claudecode.Fits(next) || len(texts) == 0 {
			texts, w.through = next, m.ID
			continue
		}
		break
	}
	if len(texts) == 0 {
		return json.RawMessage("{}"), nil
	}
	return dialect.Encode(claudecode.Told(w.Event, strings.Join(texts, "\n")))
}

// known reports whether the conversation contains a text. An earlier hook may
// have died after Claude Code had read its output.
func (w *watcher) known(text string) bool {
	raw, err := files.Read(w.Transcript, caller.MaxInput)
	return err == nil && bytes.Contains(raw, []byte(text))
}

// took records that the agent has the messages.
func (w *watcher) took(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.patience)
	defer cancel()
	w.client.Patience, w.client.FirstPatience = w.patience, 0
	if err := w.client.Acknowledge(ctx, w.Session, w.through); err != nil {
		fmt.Fprintf(w.errs, "nod could not record that the agent has the message: %s\n", visible.Line(bridge.PublicText(err)))
	}
}
