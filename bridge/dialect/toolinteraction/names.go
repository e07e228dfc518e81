package toolinteraction

import (
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Names translates the names of fields in errors with a request to those of
// an interaction_request.
var Names = dialect.Renames(nil,
	`^questions(\[\d+\])\.text$`, "inputSchema.fields$1.label",
	`^questions(\[\d+\])\.default$`, "inputSchema.fields$1.defaultValue",
	`^questions(\[\d+\])\.widget$`, "inputSchema.fields$1.type",
	`^questions`, "inputSchema.fields",
	`^initial`, "inputSchema.initialValues",
	`^approval\.scopes`, "approvalScopes",
	`^approval\.tool$`, "toolName",
	`^approval\.`, "",
	`^timeout$`, "timeoutMs",
	`^completed_view`, "completedView",
	`^tool_call$`, "toolCallId",
	`^tool_name$`, "toolName",
	`^turn$`, "turnId",
	`^response_id$`, "responseId",
	`^session$`, "sessionId",
)

// AnswerNames translates the names of fields in errors with an answer to
// those that the front end knows.
func AnswerNames(i bridge.Interaction) dialect.Names {
	return func(p bridge.FieldError) bridge.FieldError {
		switch p.Field {
		case "decision":
			p.Field = "approvalScope"
		case "decline":
			p.Field = "action"
		case "answers":
			p.Field = "input"
		}
		id, _ := strings.CutPrefix(p.Field, "answers.")
		for _, f := range i.Fields() {
			if strings.ReplaceAll(f.ID, "/", ".") == id {
				p.Field = "input." + f.ID
			}
		}
		return p
	}
}
