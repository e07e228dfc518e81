package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/words"
	"github.com/nodbridge/nod/render"
)

const noteFinished = "This session has finished. Nothing was sent."

// asksForMessage reports whether an unverified token opens or submits the dialog
// for a message to an agent.
func asksForMessage(token string) bool {
	a := bridge.PeekAction(token)
	return (a == bridge.ActionInput || a == bridge.ActionSubmit) && bridge.PeekOption(token) == bridge.OptionMessage
}

// messageForm returns the dialog for a message to the agent of the session whose
// message was clicked.
func (cl *Clicks) messageForm(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	a, view, v, err := cl.messageTarget(ctx, c)
	if v == nil && err == nil {
		s := a.steering()
		if err = cl.sessions.admitSteering(ctx, &s); err != nil {
			var refusal bridge.Verdict
			refusal, err = notSteered(err)
			v = &refusal
		}
	}
	if v != nil || err != nil {
		return bridge.Form{}, orZero(v), err
	}
	return bridge.Form{View: view, Control: a.Control}, bridge.Verdict{}, nil
}

// message passes the text of a submitted dialog to the agent. The noter tells the
// chat what becomes of it.
func (cl *Clicks) message(ctx context.Context, c bridge.Click) (Click, *bridge.Verdict, error) {
	a, _, v, err := cl.messageTarget(ctx, c)
	if v != nil || err != nil {
		return a, v, err
	}
	said := bridge.Verdict{Kind: bridge.VerdictNoted}
	if _, err = cl.sessions.Steer(ctx, a.steering()); err != nil {
		said, err = notSteered(err)
	}
	if said.Kind == bridge.VerdictInvalid {
		said.Problems = map[int]string{bridge.TypedProblem: said.Note}
	}
	return a, &said, err
}

// messageTarget returns the session's message that a click is on, and its view.
// A non-nil verdict is the reply to the click.
func (cl *Clicks) messageTarget(ctx context.Context, c bridge.Click) (Click, bridge.View, *bridge.Verdict, error) {
	a := arrived(c)
	v, err := cl.Located(ctx, &a)
	if v != nil || err != nil {
		return a, bridge.View{}, v, err
	}
	i := a.Record.Interaction
	if !isSession(i) {
		return a, bridge.View{}, &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	view, err := cl.cards.view(ctx, a.Record, a.Control.Destination)
	if err == nil && view.Session != nil && render.PhaseOf(*view.Session) == render.PhaseFinished {
		v = &bridge.Verdict{Kind: bridge.VerdictLate, Note: noteFinished}
	}
	return a, view, v, err
}

// steering returns the message that a submitted dialog stands for.
func (a Click) steering() bridge.Steering {
	i := a.Record.Interaction
	s := bridge.Steering{
		Agent: i.Agent, Session: i.Session, Route: i.Route, By: a.Actor, Text: a.Typed, At: time.Now(), Nonce: a.Nonce,
	}
	switch at := a.clickedMessage(); {
	case a.Written != nil:
		s.Where = &bridge.Written{Platform: a.Actor.Platform, Ref: *a.Written}
	case at != nil:
		s.Where = &bridge.Written{Platform: a.Actor.Platform, Ref: *at, Dialog: true, Private: i.Private}
	}
	return s
}

// notSteered returns the reply to the author of a message that was not sent. It
// returns the error unless the author has to know the reason.
func notSteered(err error) (bridge.Verdict, error) {
	switch bridge.ErrorCode(err) {
	case bridge.CodeForbidden, bridge.CodeNotFound:
		return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: NotSteered}, nil
	case bridge.CodeInvalid, bridge.CodeConflict, bridge.CodeRateLimited:
		note := "Not delivered: " + bridge.PublicError(err).Message + "."
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: note}, nil
	}
	return bridge.Verdict{}, err
}
