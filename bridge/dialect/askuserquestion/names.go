package askuserquestion

import (
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// Names translates the names of fields in errors with a request to those of
// the tool's input.
var Names = dialect.Renames(strings.NewReplacer("for checkbox", "with multiSelect", "for radio", "without multiSelect"),
	`^questions(\[\d+\])\.options(\[\d+\])\.value$`, "questions$1.options$2.label",
	`^questions(\[\d+\])\.text$`, "questions$1.question",
	`^prompt$`, "questions[0].question",
	`^tool_call$`, "tool_use_id",
	`^session$`, "conversation_id",
)

// AnswerNames translates the names of fields in errors with an answer to the
// texts of the questions.
func AnswerNames(i bridge.Interaction) dialect.Names {
	return func(f bridge.FieldError) bridge.FieldError {
		id, _ := strings.CutPrefix(f.Field, "answers.")
		for _, q := range i.Questions {
			if q.ID == id {
				f.Field = "answers[" + strconv.Quote(TextOf(i, q)) + "]"
			}
		}
		return f
	}
}
