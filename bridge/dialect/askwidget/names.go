package askwidget

import (
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Names translates the names of fields in errors with a request to those of a
// frame's payload.
var Names = dialect.Renames(nil,
	`^questions(\[\d+\])\.options(\[\d+\])\.(value|label)$`, "widgets$1.options$2",
	`^questions(\[\d+\])\.(text|description)$`, "widgets$1.label",
	`^questions`, "widgets",
	`^approval\.`, "",
	`^tool_call$`, "id",
	`^session$`, "sessionId",
)

// AnswerNames translates the names of fields in errors with an answer to
// those of an ask_response. The answers to several widgets are the lines of its
// value.
func AnswerNames(i bridge.Interaction) dialect.Names {
	return func(f bridge.FieldError) bridge.FieldError {
		switch f.Field {
		case "answers":
			f.Field = "value"
		case "decision":
			f.Field = "always"
		}
		id, ok := strings.CutPrefix(f.Field, "answers.")
		for n, q := range i.Questions {
			if !ok || q.ID != id {
				continue
			}
			if f.Field = "value"; len(i.Questions) > 1 {
				f.Message = "line " + strconv.Itoa(n+1) + ": " + f.Message
			}
			return f
		}
		return f
	}
}
