package openaiagents_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
	"github.com/nodbridge/nod/bridge/dialect/openaiagents"
)

const (
	js = `[{"type":"tool_approval_item","rawItem":{"type":"function_call","name":"runCommand","callId":"call_1","status":"completed","arguments":"{\"command\":\"ls\"}"},"agent":{"name":"Deployer"},"toolName":"runCommand"},{"type":"tool_approval_item","rawItem":{"type":"function_call","name":"mail","callId":"call_2","arguments":"not json"},"agent":{"name":"Deployer"}}]`
	py = `{"type":"tool_approval_item","raw_item":{"type":"function_call","name":"run_command","call_id":"call_1","arguments":"{\"command\":\"ls\"}"},"agent":{"name":"Deployer"},"tool_name":"run_command"}`
)

func TestInterruptions(t *testing.T) {
	t.Parallel()
	book := dialecttest.NewBook(t, "interruptions")
	for name, c := range map[string]struct {
		in    string
		resps []bridge.Response
	}{
		"js": {js, []bridge.Response{{State: bridge.StateApproved, Scope: bridge.ScopeSession}, {State: bridge.StateDenied, Reason: "no mail"}}},
		"py": {py, []bridge.Response{{State: bridge.StateDenied, Scope: bridge.ScopeAlways}}}, "py-silence": {py, []bridge.Response{{State: bridge.StateExpired}}},
	} {
		tr, err := openaiagents.Interruptions([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		book.Golden(t, name, c.in, tr, c.resps...)
	}
	for _, in := range []string{`[]`, `[{}]`, `"x"`} {
		if _, err := openaiagents.Interruptions([]byte(in)); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", in, err)
		}
	}
}
