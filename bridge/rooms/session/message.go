package session

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/words"
)

// message passes the text of a submitted dialog to the agent, or fills the
// dialog. The noter reports the outcome of the message in the chat.
func (se *Room) message(ctx context.Context, a *engine.Click) (*bridge.Verdict, error) {
	if !a.Record.Interaction.IsSession() {
		return &bridge.Verdict{Kind: bridge.VerdictUnknown, Note: words.Forged}, nil
	}
	s := steering(a)
	if a.Form != nil {
		if err := se.admitSteering(ctx, &s); err != nil {
			v, err := notSteered(err)
			return &v, err
		}
		view, err := se.engine.View(ctx, a.Record, a.Control.Destination)
		*a.Form = bridge.Form{View: view, Control: a.Control}
		return &bridge.Verdict{}, err
	}
	said := bridge.Verdict{Kind: bridge.VerdictNoted}
	_, err := se.Steer(ctx, s)
	if err != nil {
		said, err = notSteered(err)
	}
	if said.Kind == bridge.VerdictInvalid {
		said.Problems = map[int]string{bridge.TypedProblem: said.Note}
	}
	return &said, err
}

// steering returns the message of a submitted dialog.
func steering(a *engine.Click) bridge.Steering {
	i := a.Record.Interaction
	s := bridge.Steering{
		Agent: i.Agent, Session: i.Session, Route: i.Route, By: a.Actor, Text: a.Typed, At: time.Now(), Nonce: a.Nonce,
	}
	switch at := a.Card(); {
	case a.Written != nil:
		s.Where = &bridge.Written{Platform: a.Actor.Platform, Ref: *a.Written}
	case at != nil:
		s.Where = &bridge.Written{Platform: a.Actor.Platform, Ref: *at, Dialog: true, Private: i.Private}
	}
	return s
}

// notSteered returns the reply to the author of a message that was not sent. It
// returns the error if the author need not know the reason.
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
