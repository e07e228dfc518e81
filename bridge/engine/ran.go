package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// callTTL is the time for which nod knows the request of a call, to learn whether
// the call ran.
const callTTL = 24 * time.Hour

// runs finds out whether calls ran that people decided about in chat, because an
// agent's user may have allowed them at the agent's own terminal before.
type runs struct {
	notes       bridge.Notes
	records     bridge.Records
	withdrawals *withdrawals
}

// callNote is the key of the last request for a call.
func callNote(agent, session, call string) string {
	return "call:" + hashedText(agent+"\x00"+session+"\x00"+call)
}

// Expect notes the request of a call whose agent reports the calls that ran. Call
// identifies the tool and its exact input.
func (e *Engine) Expect(ctx context.Context, i bridge.Interaction, call string) error {
	key := callNote(i.Agent, i.Session, call)
	if err := e.runs.notes.DropNote(ctx, key); err != nil {
		return err
	}
	_, err := e.runs.notes.PutNote(ctx, key, string(i.ID), callTTL)
	return err
}

// Ran records that an agent reports that a call ran. A request of the call that is
// still pending was allowed at the terminal. So was one that people denied in chat,
// or whose answer did not reach the agent: that answer came too late.
func (e *Engine) Ran(ctx context.Context, agent, session, call string) error {
	return e.runs.ran(ctx, agent, session, call)
}

func (rn *runs) ran(ctx context.Context, agent, session, call string) error {
	key := callNote(agent, session, call)
	id, err := rn.notes.Note(ctx, key)
	if err != nil || id == "" {
		return err
	}
	if err := rn.notes.DropNote(ctx, key); err != nil {
		return err
	}
	r, err := rn.records.Load(ctx, bridge.ID(id))
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return nil
	case err != nil:
		return err
	case r.Interaction.Agent != agent || r.Interaction.Session != session:
		return nil
	case !r.Over():
		_, err = rn.withdrawals.cancel(ctx, r.Interaction.ID, bridge.ReasonAllowed)
		return err
	case r.State == bridge.StateCancelled && r.Response.Reason == bridge.ReasonAllowed:
		return nil // the card says so
	}
	done := bridge.Completion{Ran: bridge.ReasonAllowed}
	if r.State == bridge.StateApproved && !r.Delivered.IsZero() {
		done.Ran = bridge.RanApproved
	}
	_, err = rn.records.Mark(ctx, r.Interaction.ID, bridge.Mark{Completed: &done})
	return err
}
