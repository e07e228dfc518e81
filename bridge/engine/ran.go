package engine

import (
	"context"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/documents"
	"github.com/nodbridge/nod/bridge/life"
)

// callTTL is the time for which nod remembers the request of a call, to find
// out whether the call ran.
const callTTL = 24 * time.Hour

// runs finds out whether calls ran after people decided about them in chat,
// because an agent's user may have allowed a call earlier at the agent's own
// terminal.
type runs struct {
	notes       documents.Notes
	records     core.Interactions
	withdrawals *withdrawals
}

// callNote is the key of the last request for a call.
func callNote(agent, session, call string) string {
	return "call:" + bridge.HashText(agent+"\x00"+session+"\x00"+call)
}

// Expect stores the request of a call, for agents that report the calls that
// ran. Call identifies the tool and its exact input.
func (e *Engine) Expect(ctx context.Context, i bridge.Interaction, call string) error {
	return e.runs.notes.SetNote(ctx, callNote(i.Agent, i.Session, call), string(i.ID), callTTL)
}

// Ran records the report of an agent that a call ran. Names are the identifiers
// under which Expect may have stored the request of the call, most exact first.
// If the request is still pending, someone decided at the terminal. Otherwise,
// how returns whether the call ran because of the decision in chat, or before
// the response arrived.
func (e *Engine) Ran(ctx context.Context, agent, session string, names []string, how func(bridge.Record) string) error {
	for _, name := range names {
		if found, err := e.runs.ran(ctx, agent, session, name, how); err != nil || found {
			return err
		}
	}
	return nil
}

func (rn *runs) ran(ctx context.Context, agent, session, name string, how func(bridge.Record) string) (found bool, err error) {
	key := callNote(agent, session, name)
	id, err := rn.notes.Note(ctx, key)
	if err != nil || id == "" {
		return false, err
	}
	if err := rn.record(ctx, agent, session, bridge.ID(id), how); err != nil {
		return true, err // a repeated report finds the note again
	}
	return true, rn.notes.DropNote(ctx, key)
}

// record records that the call of a request ran. It is safe to repeat.
func (rn *runs) record(ctx context.Context, agent, session string, id bridge.ID, how func(bridge.Record) string) error {
	r, err := rn.records.Load(ctx, id)
	switch {
	case bridge.ErrorCode(err) == bridge.CodeNotFound:
		return nil
	case err != nil:
		return err
	case r.Interaction.Agent != agent || r.Interaction.Session != session:
		return nil
	}
	done := bridge.Completion{Ran: how(r)}
	switch {
	case !r.Over():
		_, err = rn.withdrawals.cancel(ctx, id, done.Ran)
		return err
	case r.State == bridge.StateCancelled && r.Response.Reason == done.Ran:
		return nil // the card already shows it
	}
	_, err = rn.records.Mark(ctx, id, life.Completed{Completion: done})
	return err
}
