package session

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/words"
)

// WhatStops explains the effect and the limits of a stop.
const WhatStops = "Its pending requests are cancelled, and nod denies its new requests. A step that is running may still finish."

// WhatResumes explains the effect of resuming a session.
const WhatResumes = "Its new requests are shown again. Cancelled requests stay cancelled."

const (
	noteStopped      = "Stopped. " + WhatStops + " To let it ask again, click Resume on its message."
	noteMayNotStop   = "You may not stop this session. Nothing was changed. People who may read its requests can."
	noteMayNotResume = "Only people who may answer requests of this session can resume it. Nothing was changed."
	noteResumed      = "Resumed. " + WhatResumes
	noteNotStopped   = "This session is not stopped. Nothing was changed."
)

// Click applies a click on the message of a session. It does not object to
// clicks on other cards.
func (se *Room) Click(ctx context.Context, a *engine.Click) (*bridge.Verdict, error) {
	c := a.Control
	switch {
	case c.Action == bridge.ActionSession && a.Form == nil:
		return se.control(ctx, a)
	case c.Option == bridge.OptionMessage && (c.Action == bridge.ActionInput || c.Action == bridge.ActionSubmit):
		return se.message(ctx, a)
	}
	return nil, nil //nolint:nilnil // no objection
}

// control applies a click on a control of a session.
func (se *Room) control(ctx context.Context, a *engine.Click) (*bridge.Verdict, error) {
	if !a.Record.Interaction.IsSession() {
		return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	v, err := se.changeSession(ctx, a)
	if err != nil {
		return nil, err
	}
	view, err := se.engine.View(ctx, a.Record, a.Control.Destination)
	if err != nil {
		return nil, err
	}
	v.View = &view
	return &v, nil
}

// changeSession stops or resumes the session of a clicked message.
func (se *Room) changeSession(ctx context.Context, a *engine.Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	var err error
	var note, missing string
	switch a.Control.Option {
	case bridge.SessionStop:
		note, missing = noteStopped, noteMayNotStop
		_, err = se.Stop(ctx, a.Who, i.Agent, i.Session)
	case bridge.SessionResume:
		note, missing = noteResumed, noteNotStopped
		if _, err = se.Resume(ctx, a.Who, i.Agent, i.Session); bridge.ErrorCode(err) == bridge.CodeNotFound {
			_, stopped, err := se.Stopped(ctx, i.Agent, i.Session)
			if err != nil {
				return bridge.Verdict{}, err
			}
			if stopped { // the person may not even read its requests
				missing = noteMayNotResume
			}
		}
	default:
		return bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	switch bridge.ErrorCode(err) {
	case bridge.CodeNotFound:
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: missing}, nil
	case bridge.CodeForbidden:
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: noteMayNotResume}, nil
	}
	return bridge.Verdict{Kind: bridge.VerdictNoted, Note: note}, err
}
