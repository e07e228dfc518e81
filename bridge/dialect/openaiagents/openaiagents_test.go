package openaiagents_test

import (
	"strings"
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
	for _, c := range []struct{ in, tool, input, prompt string }{
		{`{"rawItem":{"type":"shell_call","callId":"s","status":"in_progress","action":{"commands":["rm -rf build"],"timeoutMs":1000}},"toolName":"shell"}`, "shell", `{"command":"rm -rf build","timeoutMs":1000}`, "shell"},
		{`{"rawItem":{"type":"shell_call","callId":"s","action":{"commands":["ls","rm x"]}}}`, "shell", `{"commands":["ls","rm x"]}`, "shell"},
		{`{"raw_item":{"type":"local_shell_call","call_id":"s","id":"i","action":{"type":"exec","command":["ls","-l"],"env":{"A":"1"}}}}`, "local_shell", `{"command":["ls","-l"],"env":{"A":"1"},"type":"exec"}`, "local_shell"},
		{`{"rawItem":{"type":"apply_patch_call","callId":"p","operation":{"type":"update_file","path":"a.txt","diff":"+b"}}}`, "apply_patch", `{"diff":"+b","path":"a.txt","type":"update_file"}`, "apply_patch"},
		{`{"rawItem":{"type":"computer_call","callId":"c","actions":[{"type":"click","x":1}]}}`, "computer", `{"actions":[{"type":"click","x":1}]}`, "computer"},
		{`{"rawItem":{"type":"hosted_tool_call","id":"m","name":"mcp_approval_request","arguments":"","providerData":{"type":"mcp_approval_request","id":"m","name":"search","arguments":"{\"q\":1}","server_label":"gh"}},"toolName":"mcp_approval_request"}`, "search", `{"q":1}`, "of the MCP server `gh`"},
		{`{"raw_item":{"type":"mcp_approval_request","id":"m","name":"search","arguments":"{\"q\":1}","server_label":"gh"},"tool_name":"search"}`, "search", `{"q":1}`, "of the MCP server `gh`"},
		{`{"rawItem":{"type":"function_call","callId":"f","name":"mail","namespace":"office","arguments":""},"toolName":"office.mail"}`, "office.mail", ``, "office.mail"},
		{`{"rawItem":{"type":"future_call","callId":"x","what":"it"}}`, "future", `{"what":"it"}`, "future"},
	} {
		tr, err := openaiagents.Interruptions([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		a := tr.Exchanges[0].Request.Approval
		if a.Tool != c.tool || string(a.Input) != c.input || !strings.Contains(tr.Exchanges[0].Request.Prompt, c.prompt) {
			t.Errorf("%s: %s %s, %q", c.in, a.Tool, a.Input, tr.Exchanges[0].Request.Prompt)
		}
	}
	for _, in := range []string{`[]`, `[{}]`, `"x"`} {
		if _, err := openaiagents.Interruptions([]byte(in)); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", in, err)
		}
	}
}
