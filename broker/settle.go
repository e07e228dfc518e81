package broker

import (
	"context"

	"github.com/nodbridge/nod/bridge"
)

// outcomes implements bridge.Outcomes: settlements here, votes in vote.go.
type outcomes struct {
	*core
	hub      *hub
	verifier *verifier
}

// Settle implements bridge.Outcomes.
func (oc *outcomes) Settle(ctx context.Context, s bridge.Settlement) (bridge.Record, bool, error) {
	response, err := bridge.EncodeJSON(&s.Response)
	if err != nil {
		return bridge.Record{}, false, bridge.Wrap(bridge.CodeInternal, err, "response")
	}
	reply, fields := oc.runAndRead(ctx, s.ID, oc.scripts.settle, settleArgs(oc.core, s, response)...)
	verdict, err := reply.Text()
	if err != nil {
		oc.hub.wake(s.ID, nil) // it may have been settled anyway
		return bridge.Record{}, false, unavailable(err)
	}
	if verdict == "missing" {
		return bridge.Record{}, false, bridge.NotFound(s.ID)
	}
	if verdict == "changed" {
		return bridge.Record{}, false, changed(s.ID)
	}
	r, err := read(s.ID, fields)
	if err != nil {
		oc.hub.wake(s.ID, nil)
	} else {
		oc.hub.wake(s.ID, &r)
	}
	oc.poke()
	if verdict == "won" {
		oc.verifier.add(s)
	}
	return r, verdict == "won", err
}

// settleArgs returns the arguments of settle.lua; its header describes them.
func settleArgs(c *core, s bridge.Settlement, response []byte) []any {
	return []any{string(s.ID), string(s.Response.State), response, s.Nonce, c.keys.wake(c.node), expected(s.Expect)}
}
