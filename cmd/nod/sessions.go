package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

func sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "sessions", Short: "List, stop, resume and steer sessions of agents"}
	cmd.AddCommand(sessionsList(), sessionsStop(), sessionsResume(), sessionsSteer(), sessionsMessages())
	return cmd
}

func sessionsList() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions of agents, newest first",
		Args:  cobra.NoArgs,
		RunE: c.calls(func(cmd *cobra.Command, cl *client.Client, _ []string) error {
			all, err := cl.Sessions(cmd.Context())
			if err != nil {
				return err
			}
			return printAll(cmd, &c, "session", all, []column[bridge.Session]{
				{"SESSION", func(s bridge.Session) string { return render.Line(s.ID) }, nil},
				{"AGENT", func(s bridge.Session) string { return render.Line(s.Agent) }, nil},
				{"STATE", func(s bridge.Session) string { return render.Line(s.Words(time.Now())) }, sessionColor},
			})
		}),
	}
	c.flags(cmd)
	return cmd
}

func sessionColor(s bridge.Session) terminal.Color {
	if s.Stopped != nil {
		return terminal.Red
	}
	return terminal.Plain
}

func sessionsStop() *cobra.Command {
	return changeCommand(cobra.Command{
		Use:   "stop SESSION|all",
		Short: "Deny everything that a session asks until it is resumed",
		Long: `Stop a session: nod cancels its pending requests, and denies new ones until a
person resumes it. The word all stops every session that nod sessions list
prints.

A stop takes effect at the agent's next request. A tool that is already running
continues. With the token of an agent, the command stops a session of that agent.`,
		Example: "  nod sessions stop release-2\n  nod sessions stop all",
	}, "stopped", stopSessions)
}

// stopSessions stops a session, or all listed sessions. An error with one of
// them does not keep it from the others.
func stopSessions(cl *client.Client, ctx context.Context, agent, session string) ([]bridge.Stop, error) {
	if session != "all" {
		return cl.StopSession(ctx, agent, session)
	}
	all, err := cl.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var out []bridge.Stop
	var left []string
	var first error
	for _, s := range all.Items {
		if s.Stopped != nil || agent != "" && s.Agent != agent {
			continue
		}
		done, err := cl.StopSession(ctx, s.Agent, s.ID)
		out = append(out, done...)
		if err != nil {
			first = cmp.Or(first, err)
			left = append(left, fmt.Sprintf("%s %s (%s)", render.Line(s.Agent), render.Line(s.ID), bridge.PublicText(err)))
		}
	}
	if first != nil {
		return out, bridge.Errorf(bridge.ErrorCode(first), "not stopped completely: %s", strings.Join(left, ", "))
	}
	return out, nil
}

func sessionsResume() *cobra.Command {
	return changeCommand(cobra.Command{
		Use:   "resume SESSION",
		Short: "Let a stopped session ask again",
		Long: `Let a stopped session ask again. This requires the token of a person who may
answer its requests.`,
		Example: "  nod sessions resume release-2",
	}, "resumed", (*client.Client).ResumeSession)
}

// changeCommand returns a command that stops or resumes sessions.
func changeCommand(
	cmd cobra.Command, done string, change func(cl *client.Client, ctx context.Context, agent, session string) ([]bridge.Stop, error),
) *cobra.Command {
	var c connection
	var agent string
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = c.calls(func(cmd *cobra.Command, cl *client.Client, args []string) error {
		session, err := sessionID(cmd.Context(), cl, args[0])
		if err != nil {
			return err
		}
		sessions, err := change(cl, cmd.Context(), agent, session)
		if c.json && (err == nil || len(sessions) > 0) {
			return errors.Join(printJSON(cmd.OutOrStdout(), sessions), err)
		}
		for _, s := range sessions {
			fmt.Fprintf(cmd.ErrOrStderr(), "nod: %s: %s %s\n", done, render.Line(s.Agent), render.Line(s.Session))
		}
		if err == nil && len(sessions) == 0 {
			fmt.Fprintln(cmd.ErrOrStderr(), "nod: no sessions")
		}
		return err
	})
	c.flags(&cmd)
	cmd.Flags().StringVar(&agent, "agent", "", "name of the agent, if several have such a session")
	return &cmd
}
