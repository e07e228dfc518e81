package acp

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/elicitation"
)

// reasonTurn is the reason for cancelling a request whose turn ended in the
// editor.
const reasonTurn = "the turn was cancelled in the editor"

// Settled returns the reason on the card of a request after the client has sent
// a result. The reason states what the user of the client did, if the result
// reveals it.
func Settled(method string, params, result json.RawMessage) string {
	if method == "elicitation/create" {
		var r elicitation.Result
		switch dialect.Decode("result", result, &r); r.Action {
		case elicitation.Accept:
			return bridge.ReasonAnsweredEditor
		case elicitation.Decline, elicitation.Cancel:
			return bridge.ReasonDismissedEditor
		}
		return bridge.ReasonSettledEditor
	}
	var o outcome
	var p permissionParams
	if dialect.Decode("result", result, &o) != nil || dialect.Decode("params", params, &p) != nil {
		return bridge.ReasonSettledEditor
	}
	if o.Outcome.Outcome == "cancelled" {
		return reasonTurn
	}
	for _, option := range p.Options {
		if option.ID != o.Outcome.Option {
			continue
		}
		switch option.Kind {
		case allowOnce, allowAlways:
			return bridge.ReasonAllowedEditor
		case rejectOnce, rejectAlways:
			return bridge.ReasonDismissedEditor
		}
	}
	return bridge.ReasonSettledEditor
}
