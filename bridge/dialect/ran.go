package dialect

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// CallOf identifies a call, so that a later report about it finds its request: by
// its ID, or otherwise by its tool and exact input, regardless of the formatting.
// It is empty for a call that has no ID, if the input has more than one meaning or
// there is none.
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

// Calls returns the names of the call of a report under which its request may be
// known, the most exact first. There are none for another report.
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

// Ran returns how a call ran, as its report says: as the response in chat says, or
// as someone decided at the agent's own terminal before.
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
