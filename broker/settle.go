package broker

import (
	"context"
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// Settle implements bridge.Outcomes.
func (b *Broker) Settle(ctx context.Context, s bridge.Settlement) (bridge.Record, bool, error) {
	response, err := json.Marshal(s.Response)
	if err != nil {
		return bridge.Record{}, false, bridge.Wrap(bridge.CodeInternal, err, "response")
	}
	reply, fields := b.runAndRead(ctx, s.ID, b.scripts.settle,
		string(s.ID), string(s.Response.State), response, s.Nonce, b.keys.wake(b.node), expected(s.Expect))
	verdict, err := reply.Text()
	if err != nil {
		b.hub.wake(s.ID, nil) // it may have settled anyway
		return bridge.Record{}, false, unavailable(err)
	}
	if verdict == "missing" {
		return bridge.Record{}, false, bridge.Errorf(bridge.CodeNotFound, "there is no interaction %s", s.ID)
	}
	if verdict == "changed" {
		return bridge.Record{}, false, changed(s.ID)
	}
	r, err := readRecord(s.ID, fields)
	if err != nil {
		b.hub.wake(s.ID, nil)
	} else {
		b.hub.wake(s.ID, &r)
	}
	b.poke()
	if verdict == "won" {
		b.verifier.add(s)
	}
	return r, verdict == "won", err
}
