package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/render"
)

// maxWatched limits the input of a hook that watches, in bytes. It is larger
// than maxHookInput, because the daemon does not receive it.
const maxWatched = 64 << 20

// watchHelp describes --watch for the agents that have it.
func watchHelp(agent string) string {
	if agent != "claude" {
		return ""
	}
	return `

With --watch, the hook asks no one. It denies a tool call of a session that a
person has stopped, and ends the turn. For any other call, and if the daemon does
not answer within 300 milliseconds, it prints {}. It is not a gate.`
}

// watchStop denies a tool call of a stopped session. It is not a gate: whatever
// fails, it decides nothing.
func (f hookFlags) watchStop(cmd *cobra.Command) error {
	answer, event := json.RawMessage("{}"), "watch"
	body, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxWatched))
	if session := claudecode.Watched(body); err == nil && session != "" {
		var stop *bridge.Stop
		if stop, err = f.stopped(cmd.Context(), session); err == nil && stop != nil {
			event = "PreToolUse" // if no one reads the denial, the exit code denies
			answer, err = dialect.Encode(claudecode.Stopped(*stop))
		}
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "nod could not check whether the session is stopped: %s\n", render.Line(bridge.PublicText(err)))
		answer = json.RawMessage("{}")
	}
	return say(cmd.OutOrStdout(), event, answer, 0)
}

// stopped asks the daemon whether a session is stopped.
func (f hookFlags) stopped(ctx context.Context, session string) (*bridge.Stop, error) {
	cl, err := (&connection{url: f.url}).client()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, reportTime)
	defer cancel()
	return cl.Stopped(ctx, session)
}
