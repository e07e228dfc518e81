package broker

import (
	"context"

	"github.com/redis/go-redis/v9"

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
	args := settleArgs(oc.core, s, response)
	verdict, fields, err := oc.settle(ctx, s, args)
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
	if verdict == blocked {
		return bridge.Record{}, false, bridge.Errorf(bridge.CodeConflict, "interaction %s cannot be decided in this place now", s.ID)
	}
	r, err := read(s.ID, fields)
	if err != nil {
		oc.hub.wake(s.ID, nil)
	} else {
		oc.hub.wake(s.ID, &r)
	}
	oc.poke(s.ID.Partition())
	if verdict == "won" {
		oc.verifier.add(s)
	}
	return r, verdict == "won", err
}

// blocked is the verdict on a settlement whose note Unless is stored.
const blocked = "blocked"

// settle runs the script of a settlement, and reads the record after it. The
// script of a single server checks the note Unless itself. In a Cluster, a
// script has only the keys of one slot, so the note is read first.
func (oc *outcomes) settle(
	ctx context.Context, s bridge.Settlement, args []any,
) (verdict string, fields *redis.MapStringStringCmd, err error) {
	var more []string
	if s.Unless != "" && !oc.slotted.Load() {
		more = []string{oc.keys.note(s.Unless)}
	} else if s.Unless != "" {
		n, err := oc.client.Exists(ctx, oc.keys.note(s.Unless)).Result()
		if err != nil || n > 0 {
			return blocked, nil, err
		}
	}
	reply, fields := oc.runAndReadWith(ctx, s.ID, more, oc.scripts.settle, args...)
	verdict, err = reply.Text()
	if more != nil && redis.HasErrorPrefix(err, "CROSSSLOT") { // a Cluster behind an address that hides it
		oc.slotted.Store(true)
		return oc.settle(ctx, s, args)
	}
	return verdict, fields, err
}

// settleArgs returns the arguments of settle.lua; its header describes them.
func settleArgs(c *core, s bridge.Settlement, response []byte) []any {
	var destination any = ""
	content := ""
	if s.Card != nil {
		destination, content = s.Card.Destination, s.Card.Content
	}
	return []any{
		string(s.ID), string(s.Response.State), response, s.Nonce, c.keys.wake(c.node), expected(s.Expect), destination, content,
	}
}
