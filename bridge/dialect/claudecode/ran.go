package claudecode

import (
	"encoding/json"
	"reflect"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
)

// ran returns the report that a call ran. If the call asked questions, its
// input contains the answers that Claude Code uses.
func (in hookInput) ran() dialect.Elsewhere {
	e := dialect.Elsewhere{Tool: in.Tool, Input: in.Input, Turn: in.Agent, Call: in.ToolUse, Reason: bridge.ReasonAllowed}
	switch in.Tool {
	case askuserquestion.Tool:
		e.Reason, e.Question = bridge.ReasonAnswered, true
		e.Agrees = func(r bridge.Record) bool { return r.State == bridge.StateAnswered && in.uses(r) }
	case PlanTool:
		c := call{tool: in.Tool, input: in.Input}
		e.Agrees = func(r bridge.Record) bool {
			v, err := c.verdict(r)
			return err == nil && v.allow
		}
	}
	return e
}

// uses reports whether the answers in the input are the answers of a response.
func (in hookInput) uses(r bridge.Record) bool {
	sent, err := askuserquestion.Request(in.Input)
	if err != nil {
		return false
	}
	answers, err := askuserquestion.Answers(dialect.AsSent(r, sent.Ask))
	var used struct {
		Answers map[string]json.RawMessage `json:"answers"`
	}
	if err != nil || dialect.Decode("tool_input", in.Input, &used) != nil || len(used.Answers) != len(answers) {
		return false
	}
	for question, answer := range answers {
		raw, err := dialect.Encode(answer)
		var want, got any
		if err != nil || json.Unmarshal(raw, &want) != nil || json.Unmarshal(used.Answers[question], &got) != nil || !reflect.DeepEqual(got, want) {
			return false
		}
	}
	return true
}
