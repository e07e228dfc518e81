package askuserquestion

import (
	"github.com/nodbridge/nod/bridge"
)

// StatusType is the type of Status.
const StatusType = "tool_status"

// Status is the state of a tool call for front ends: first calling, and then
// completed or error.
type Status struct {
	Type           string    `json:"type"`
	ConversationID string    `json:"conversation_id"`
	ToolCallID     string    `json:"tool_call_id"`
	ToolName       string    `json:"tool_name"`
	Status         string    `json:"status"`
	Arguments      Input     `json:"arguments"`
	Result         *Answered `json:"result,omitempty"`
	Error          string    `json:"error,omitempty"`
}

// Input is the input of the tool.
type Input struct {
	Questions []Question `json:"questions"`
}

// Answered holds the answers to a call, by the text of each question.
type Answered struct {
	Answers map[string]string `json:"answers"`
}

// Calling returns the status of a pending call. It contains the tool's original
// questions, without the previews of a question that takes several options.
func Calling(i bridge.Interaction) Status {
	s := Status{
		Type: StatusType, ConversationID: i.Session, ToolCallID: i.ToolCall, ToolName: Tool, Status: "calling",
		Arguments: Input{Questions: []Question{}},
	}
	for _, q := range i.Questions {
		out := Question{Question: TextOf(i, q), Header: q.Header, MultiSelect: q.Multiple()}
		for _, o := range q.Options {
			out.Options = append(out.Options, Option{Label: o.Text(), Description: o.Description, Preview: o.Preview})
		}
		s.Arguments.Questions = append(s.Arguments.Questions, out)
	}
	return s
}

// Finished returns the status of a closed call.
func Finished(r bridge.Record) Status {
	s := Calling(r.Interaction)
	answers, err := Answers(r)
	if err != nil {
		s.Status, s.Error = "error", whyNot(r)
		return s
	}
	s.Status, s.Result = "completed", &Answered{answers}
	return s
}
