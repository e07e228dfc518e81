package desk

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/rooms/session"
	"github.com/nodbridge/nod/bridge/words"
)

// session lists sessions, or stops or resumes some.
func (d *Desk) session(ctx context.Context, c bridge.Command, word, name string) (string, error) {
	list := "To list your sessions, send /" + bridge.CommandName + " sessions."
	if word == "sessions" {
		return d.listSessions(ctx, c)
	}
	if name == "" {
		return "Name a session: /" + bridge.CommandName + " " + word + " SESSION. " + list, nil
	}
	var done []bridge.Stop
	var err error
	switch {
	case word == "resume":
		if newer, nerr := d.sessions.StoppedAfter(ctx, name, c.At); nerr != nil || newer {
			return words.OlderThanStop, nerr
		}
		done, err = d.sessions.Resume(ctx, c.Actor, "", name)
	case name == "all":
		done, err = d.sessions.StopAll(ctx, c.Actor)
	default:
		done, err = d.sessions.Stop(ctx, c.Actor, "", name)
	}
	switch {
	case bridge.ErrorCode(err) == bridge.CodeForbidden:
		return "Only people who may answer requests of this session can resume it. Nothing was changed.", nil
	case bridge.ErrorCode(err) == bridge.CodeNotFound && word == "resume":
		return "No stopped session with this name, or not visible to you. Nothing was changed. " + list, nil
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return "Session not found, or not visible to you. Nothing was changed. " + list, nil
	case err != nil && (word == "resume" || len(done) == 0):
		return "", err
	case len(done) == 0:
		return "No session to stop.", nil
	}
	names := make([]string, len(done))
	for n, s := range done {
		names[n] = bridge.OneLine(s.Agent) + " " + bridge.OneLine(s.Session)
	}
	if word == "resume" {
		return "Resumed: " + words.Short(strings.Join(names, ", ")) + ". " + session.WhatResumes, nil
	}
	said := "Stopped: " + words.Short(strings.Join(names, ", ")) + ". " + session.WhatStops + " To resume, send /" + bridge.CommandName +
		" resume SESSION."
	if err != nil {
		said += " Not everything was stopped: " + bridge.PublicError(err).Message + ". Send the command again."
	}
	return said, nil
}

// tell sends a message to a session.
func (d *Desk) tell(ctx context.Context, c bridge.Command, rest string) (string, error) {
	name, text, _ := strings.Cut(rest, " ")
	if strings.TrimSpace(text) == "" {
		return "Name a session and write a message: /" + bridge.CommandName + " tell SESSION TEXT. To list your sessions, send /" +
			bridge.CommandName + " sessions.", nil
	}
	s, err := d.sessions.Steer(ctx, bridge.Steering{Session: name, By: c.Actor, Text: text})
	switch code := bridge.ErrorCode(err); {
	case err == nil:
		return s.Status(), nil
	case code == bridge.CodeNotFound:
		return "Session not found, or not visible to you. Nothing was sent. To list your sessions, send /" + bridge.CommandName +
			" sessions.", nil
	case code == bridge.CodeForbidden:
		return session.NotSteered, nil
	case code == bridge.CodeInvalid || code == bridge.CodeConflict || code == bridge.CodeRateLimited:
		return "Nothing was sent: " + bridge.PublicError(err).Message + ".", nil
	}
	return "", err
}

// listSessions lists the sessions that a person may see.
func (d *Desk) listSessions(ctx context.Context, c bridge.Command) (string, error) {
	all, err := d.sessions.ListFor(ctx, c.Actor)
	if err != nil {
		return "", err
	}
	note := bridge.Lacks(all.Unreadable, "session")
	if len(all.Items) == 0 {
		return "No sessions." + note, nil
	}
	lines := make([]string, len(all.Items))
	for n, s := range all.Items {
		lines[n] = fmt.Sprintf("%s  %s: %s", bridge.OneLine(s.ID), bridge.OneLine(s.Agent), s.Words(time.Now()))
	}
	if note != "" {
		lines = append(lines, strings.TrimSpace(note))
	}
	return listed("Sessions, newest first (stop one: /"+bridge.CommandName+" stop SESSION):", lines, c), nil
}
