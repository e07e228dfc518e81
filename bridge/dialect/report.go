package dialect

import (
	"encoding/json"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Report is the report about a session in a message of that session.
type Report struct {
	Session string
	bridge.SessionReport
}

// stepFields lists the fields of a tool's input that describe its action, most
// informative first.
var stepFields = []string{"command", "file_path", "notebook_path", "path", "url", "query", "pattern", "description"}

// Step describes a tool call in one line.
func Step(tool string, input json.RawMessage) string {
	var in map[string]any
	if json.Unmarshal(input, &in) != nil {
		return tool
	}
	for _, name := range stepFields {
		switch v := in[name].(type) {
		case string:
			if v = strings.TrimSpace(v); v != "" {
				return tool + ": " + v
			}
		case []any: // a command as a list of words
			words := make([]string, 0, len(v))
			for _, w := range v {
				if s, ok := w.(string); ok {
					words = append(words, s)
				}
			}
			if len(words) > 0 {
				return tool + ": " + strings.Join(words, " ")
			}
		}
	}
	return tool
}
