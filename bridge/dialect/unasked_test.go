package dialect_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/copilot"
)

// TestUnasked checks for all combinations who decides about a request that no
// person has decided through nod: never nod in the name of a person, someone who
// is there unless a gate would depend on a nod that does not work, and no one in a
// stopped session.
func TestUnasked(t *testing.T) {
	t.Parallel()
	outputs := map[string]func(string, dialect.Unasked, string) any{"claude": claudecode.Unasked, "codex": codex.Unasked}
	for n := range 16 {
		u := dialect.Unasked{Gate: n&1 > 0, Unshown: n&2 > 0, Attended: n&4 > 0, Stopped: n&8 > 0}
		want := u.Attended && !u.Stopped && (!u.Gate || u.Unshown)
		if u.Leaves() != want {
			t.Errorf("%+v: leaves is %t", u, !want)
		}
		event := "PermissionRequest"
		if u.Gate {
			event = "PreToolUse"
		}
		for agent, output := range outputs {
			raw, err := dialect.Encode(output(event, u, "the reason"))
			if err != nil {
				t.Fatal(err)
			}
			out, word := string(raw), `"deny"`
			switch {
			case want && !u.Gate:
				word = "{}"
			case want && agent == "claude":
				word = `"ask"`
			}
			if !strings.Contains(out, word) || word != "{}" && !strings.Contains(out, "the reason") || strings.Contains(out, "allow") {
				t.Errorf("%s, %+v: %s, want %s", agent, u, out, word)
			}
		}
	}
}

// TestNothingToShow checks that no one is asked about a call that the agent does not
// describe: the person at the agent decides.
func TestNothingToShow(t *testing.T) {
	t.Parallel()
	hook := func(translate func([]byte) (dialect.Translation, error)) func(string) error {
		return func(raw string) error {
			_, err := translate([]byte(raw))
			return err
		}
	}
	claude := hook(func(raw []byte) (dialect.Translation, error) { return claudecode.Hook(raw, claudecode.AskLocally) })
	ofCodex := hook(func(raw []byte) (dialect.Translation, error) { return codex.Hook(raw, false) })
	for name, c := range map[string]struct {
		translate func(string) error
		raw       string // INPUT is the place of what the call does
		given     string
	}{
		"gate of Claude Code":       {claude, `{"hook_event_name":"PreToolUse","tool_name":"Bash"INPUT}`, `,"tool_input":{}`},
		"permission of Claude Code": {claude, `{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_use_id":"t"INPUT}`, `,"tool_input":{"command":"ls"}`},
		"control of Claude Code":    {hook(claudecode.Control), `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash"INPUT}}`, `,"input":{}`},
		"hook of Codex":             {ofCodex, `{"hook_event_name":"PreToolUse","tool_name":"Bash"INPUT}`, `,"tool_input":{}`},
		"hook of Copilot":           {hook(copilot.Hook), `{"hookName":"permissionRequest","toolName":"bash"INPUT}`, `,"toolInput":{}`},
		"command of Codex":          {hook(codex.Request), `{"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","itemId":"i"INPUT}}`, `,"command":"ls"`},
		"network of Codex":          {hook(codex.Request), `{"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","itemId":"i"INPUT}}`, `,"networkApprovalContext":{"host":"h","protocol":"https"}`},
		"older command of Codex":    {hook(codex.Request), `{"id":1,"method":"execCommandApproval","params":{"conversationId":"t","callId":"i"INPUT}}`, `,"command":["ls"]`},
		"older patch of Codex":      {hook(codex.Request), `{"id":1,"method":"applyPatchApproval","params":{"conversationId":"t","callId":"i"INPUT}}`, `,"fileChanges":{"a":{}}`},
		"changes of Codex":          {hook(codex.Request), `{"id":1,"method":"item/fileChange/requestApproval","params":{"threadId":"t","itemId":"i","grantRoot":"/"}INPUT}`, `,"changes":[{"path":"a","diff":"+a"}]`},
		"permissions of Codex":      {hook(codex.Request), `{"id":1,"method":"item/permissions/requestApproval","params":{"threadId":"t","itemId":"i"INPUT}}`, `,"permissions":{"network":true}`},
	} {
		if err := c.translate(strings.Replace(c.raw, "INPUT", c.given, 1)); err != nil {
			t.Errorf("%s, with what it does: %v", name, err)
		}
		if err := c.translate(strings.Replace(c.raw, "INPUT", "", 1)); bridge.ErrorCode(err) != bridge.CodeUnsupported {
			t.Errorf("%s, without: %v", name, err)
		}
	}
}
