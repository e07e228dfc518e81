package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/render"
)

// steerPoll is the interval at which nod checks whether a message was
// delivered.
const steerPoll = 500 * time.Millisecond

func sessionsSteer() *cobra.Command {
	var c connection
	var agent string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "steer SESSION TEXT",
		Short: "Send a message to the agent of a session",
		Long: `Send a message to the agent of a session. This requires the token of a person
who may answer the session's requests, because the agent reads the message as an
instruction. The audit log contains its text.

The agent gets the message at its next step: Claude Code after a tool call, at a
prompt or at the end of a turn, and Codex next to nod proxy codex. The command prints
whether the agent has it by the end of --wait. A message waits up to 24 hours.`,
		Example: "  nod sessions steer release-2 \"Use port 8080 instead\"\n  nod sessions steer release-2 \"Skip the tests\" --wait 5m",
		Args:    cobra.MinimumNArgs(2),
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
			s, err := cl.Steer(cmd.Context(), agent, args[0], strings.Join(args[1:], " "))
			for end := time.Now().Add(wait); err == nil && s.Fate == bridge.FateWaiting && time.Now().Before(end); {
				if !bridge.Pause(cmd.Context(), steerPoll) {
					break
				}
				s, err = cl.Steering(cmd.Context(), s.Session, s.ID)
			}
			if err != nil {
				return err
			}
			if c.json {
				return printJSON(cmd.OutOrStdout(), s)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), render.Line(s.Status()))
			return err
		}),
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&agent, "agent", "", "name of the agent, if several have such a session")
	cli.DurationVar(cmd.Flags(), &wait, "wait", 2*time.Second, "how long to wait until the agent has the message")
	return cmd
}
