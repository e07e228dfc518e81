package engine

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
)

// WhatStops says what a stop does, and what it cannot do.
const WhatStops = "Its pending requests are cancelled, and nod denies what it asks from now on. A tool that runs already continues."

// WhatResumes says what a resumption does.
const WhatResumes = "Its requests are shown again."

const (
	noteStopped      = "Stopped. " + WhatStops
	noteMayNotStop   = "You may not stop this session. Nothing was changed. People who may read its requests can."
	noteMayNotResume = "Only people who may answer requests of this session can resume it. Nothing was changed."
	noteResumed      = "Resumed. " + WhatResumes
	noteNotStopped   = "This session is not stopped. Nothing was changed."
)

// onSession returns what applies a click on the message of a session. It returns
// nil for a control of another card.
func (cl *Clicks) onSession(token string) func(context.Context, bridge.Click) (Click, *bridge.Verdict, error) {
	switch {
	case bridge.PeekAction(token) == bridge.ActionSession:
		return cl.sessionClick
	case asksForMessage(token):
		return cl.message
	}
	return nil
}

// sessionClick applies a click on the message of a session.
func (cl *Clicks) sessionClick(ctx context.Context, c bridge.Click) (Click, *bridge.Verdict, error) {
	a := arrived(c)
	v, err := cl.Located(ctx, &a)
	if v != nil || err != nil {
		return a, v, err
	}
	i := a.Record.Interaction
	if !isSession(i) {
		return a, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	verdict, err := cl.changeSession(ctx, a)
	if err != nil {
		return a, nil, err
	}
	view, err := cl.cards.view(ctx, a.Record, a.Control.Destination)
	if err != nil {
		return a, nil, err
	}
	verdict.View = &view
	return a, &verdict, nil
}

// changeSession stops or resumes the session of a clicked message.
func (cl *Clicks) changeSession(ctx context.Context, a Click) (bridge.Verdict, error) {
	i := a.Record.Interaction
	var err error
	var note, missing string
	switch a.Control.Option {
	case bridge.SessionStop:
		note, missing = noteStopped, noteMayNotStop
		_, err = cl.sessions.Stop(ctx, a.Who, i.Agent, i.Session)
	case bridge.SessionResume:
		note, missing = noteResumed, noteNotStopped
		if _, err = cl.sessions.Resume(ctx, a.Who, i.Agent, i.Session); bridge.ErrorCode(err) == bridge.CodeNotFound {
			_, stopped, err := cl.sessions.Stopped(ctx, i.Agent, i.Session)
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
