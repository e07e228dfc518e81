package claudecode

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// CallFinder finds the call of a permission prompt in the transcript of the
// session, because the prompt does not contain its ID. The call is the oldest
// of the turn that has the same tool and input, and no result yet. CallFinder
// reads the lines from the last one backward.
type CallFinder struct {
	tool  string
	input any
	done  map[string]bool
	// ID is the ID of the call, or "" if none has been found yet.
	ID string
}

// NewCallFinder returns a finder for the call in a hook's input. It returns
// false if no search is needed, because the input contains the ID of its call,
// or if the call is from another agent.
func NewCallFinder(raw []byte) (f *CallFinder, transcript string, ok bool) {
	var in struct {
		hookInput
		Transcript string `json:"transcript_path"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Event != "PermissionRequest" || in.ToolUse != "" || in.Agent != "" || in.Transcript == "" {
		return nil, "", false
	}
	f = &CallFinder{tool: in.Tool, done: map[string]bool{}}
	return f, in.Transcript, json.Unmarshal(in.Input, &f.input) == nil
}

// Line reads a line. It returns false at the start of the turn.
func (f *CallFinder) Line(raw []byte) (more bool) {
	if !bytes.Contains(raw, []byte(`"tool_use`)) && !bytes.Contains(raw, []byte(`"tool_result"`)) && !bytes.Contains(raw, []byte(`"user"`)) {
		return true
	}
	var l struct {
		Type    string `json:"type"`
		Side    bool   `json:"isSidechain"` // the line belongs to a subagent
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(raw, &l) != nil || l.Side {
		return true
	}
	var blocks []struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Name   string `json:"name"`
		Input  any    `json:"input"`
		Result string `json:"tool_use_id"`
	}
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return l.Type != "user" // the content of a prompt is a string
	}
	for n := len(blocks) - 1; n >= 0; n-- {
		switch b := blocks[n]; {
		case b.Type == "tool_result":
			f.done[b.Result] = true
		case b.Type == "tool_use" && b.Name == f.tool && !f.done[b.ID] && reflect.DeepEqual(b.Input, f.input):
			f.ID = b.ID
		}
	}
	return true
}
