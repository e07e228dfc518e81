package dialect

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// CallOf identifies a call, so that a later report about it finds its request.
// The identifier is the ID of the call, or otherwise its tool and exact input,
// regardless of the formatting. It is empty if the call has no ID, and its
// input is missing or ambiguous.
func CallOf(id, tool string, input json.RawMessage) string {
	var name any = []string{id}
	if id == "" {
		var v any
		if tool == "" || len(input) == 0 || bridge.CheckJSON(input) != nil || json.Unmarshal(input, &v) != nil {
			return ""
		}
		name = []any{tool, v}
	}
	raw, err := bridge.EncodeJSON(name)
	if err != nil {
		return ""
	}
	return string(raw)
}

// Calls returns the possible identifiers of the call in a report, most exact
// first. It returns none if the report is not about a call.
func (e Elsewhere) Calls() []string {
	if e.Tool == "" {
		return nil
	}
	var out []string
	for _, id := range []string{e.Call, ""} {
		if name := CallOf(id, e.Tool, e.Input); name != "" && (len(out) == 0 || out[0] != name) {
			out = append(out, name)
		}
	}
	return out
}

// Ran returns how a call ran according to its report: as the response in chat
// requires, or by a decision at the agent's own terminal.
func (e Elsewhere) Ran(r bridge.Record) string {
	agrees := r.State == bridge.StateApproved
	if e.Agrees != nil {
		agrees = e.Agrees(r)
	}
	switch {
	case agrees && !r.Delivered.IsZero():
		return bridge.RanApproved
	case e.Question:
		return bridge.ReasonAnswered
	}
	return bridge.ReasonAllowed
}
