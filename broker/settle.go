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
	own, err := newAnswer(s.Response)
	if err != nil {
		return bridge.Record{}, false, bridge.Wrap(bridge.CodeInternal, err, "response")
	}
	args := settleArgs(oc.core, s, own.text)
	reply, fields := oc.runAndRead(ctx, s.ID, oc.scripts.settlePlain, args...)
	verdict, err := reply.Text()
	if verdict == slow {
		reply, fields = oc.runAndRead(ctx, s.ID, oc.scripts.settle, args...)
		verdict, err = reply.Text()
	}
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
	r, err := oc.read(s.ID, fields, own)
	if err != nil {
		oc.hub.wake(s.ID, nil)
	} else {
		oc.hub.wake(s.ID, &r)
	}
	oc.poke(s.ID.Partition())
	if verdict == "won" {
		oc.verifier.add(s, fields.Val())
	}
	return r, verdict == "won", err
}

// newAnswer returns a response with its text.
func newAnswer(r bridge.Response) (*answer, error) {
	a := &answer{response: r}
	a.response.At = r.At.Round(0) // a text has no monotonic clock
	text, err := bridge.EncodeJSON(&a.response)
	a.text, a.lasts = text, bridge.Lasting(&a.response)
	return a, err
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
