package widgetblock

import (
	"strings"

	"github.com/nodbridge/nod/bridge/dialect"
)

// words replaces the names of widgets in error messages.
var words = strings.NewReplacer("for radio", "for selection", "for checkbox", "for selection")

var (
	formNames   = names(`^questions$`, "schema.properties")
	listNames   = names(`^questions$`, "items")
	actionNames = names(`^questions\[0\]\.options(\[\d+\])\.value$`, "actions$1.id", `^questions\[0\]\.options`, "actions")
	otherNames  = names()
)

func names(own ...string) dialect.Names {
	return dialect.Renames(words, append(own,
		`^questions\[0\]\.plan$`, "planContent",
		`^questions\[0\]\.text$`, "message",
		`^questions\[0\]\.`, "",
		`^prompt$`, "message",
		`^tool_call$`, "widgetId",
		`^session$`, "sessionId",
	)...)
}

// Names translates the names of fields in errors with the widget's request to
// those of the widget.
func (p Payload) Names() dialect.Names {
	switch p.Type {
	case "form":
		return formNames
	case "feedback":
		return listNames
	case "action_selection":
		return actionNames
	}
	return otherNames
}

// AnswerNames translates the names of fields in errors with an answer to
// those of a submission.
var AnswerNames = dialect.Renames(nil, `^answers\.value\b`, "value", `^answers$`, "value")
