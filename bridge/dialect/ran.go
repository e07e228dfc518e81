package dialect

import (
	"encoding/json"

	"github.com/nodbridge/nod/bridge"
)

// CallOf identifies a tool and its exact input, regardless of the formatting. It
// is empty if the input has more than one meaning.
func CallOf(tool string, input json.RawMessage) string {
	var v any
	if tool == "" || bridge.CheckJSON(input) != nil || json.Unmarshal(input, &v) != nil {
		return ""
	}
	raw, err := bridge.EncodeJSON([]any{tool, v})
	if err != nil {
		return ""
	}
	return string(raw)
}

// Ran identifies the call that a report says ran. It is empty for another report.
func (e Elsewhere) Ran() string { return CallOf(e.Tool, e.Input) }
