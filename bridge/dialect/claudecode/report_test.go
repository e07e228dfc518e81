package claudecode_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
)

// TestReports checks what the events of a session report.
func TestReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event string
		want  bridge.SessionReport
	}{
		{`"UserPromptSubmit","prompt":"Fix it"`, bridge.SessionReport{State: bridge.SessionWorking, Prompt: "Fix it"}},
		{`"UserPromptSubmit","prompt":"<task-notification>x"`, bridge.SessionReport{State: bridge.SessionWorking}},
		{`"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"/a","old_string":"x"}`, bridge.SessionReport{State: bridge.SessionWorking, Step: "Edit: /a"}},
		{`"PostToolUse","tool_name":"Task","tool_input":[1],"agent_id":"a","agent_type":"Explore"`,
			bridge.SessionReport{State: bridge.SessionWorking, Step: "Task", Subagent: "Explore", SubagentID: "a"}},
		{`"PermissionDenied","tool_name":"Bash","tool_input":{"command":"rm -rf build"},"reason":"deletes files"`,
			bridge.SessionReport{State: bridge.SessionWorking, Step: "Denied by its automatic check: Bash: rm -rf build"}},
		{`"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}`, bridge.SessionReport{}},
		{`"Notification","notification_type":"permission_prompt","message":"Needs you"`, bridge.SessionReport{State: bridge.SessionWaiting, Waits: "Needs you"}},
		{`"Notification","notification_type":"idle_prompt","message":"Idle"`, bridge.SessionReport{State: bridge.SessionWaiting, Waits: "your next message"}},
		{`"Stop","last_assistant_message":"Done"`, bridge.SessionReport{State: bridge.SessionWaiting, Waits: "your next message", Last: "Done"}},
		{`"Stop","last_assistant_message":"Soon","background_tasks":[{}]`, bridge.SessionReport{State: bridge.SessionWorking, Last: "Soon"}},
		{`"SessionEnd"`, bridge.SessionReport{State: bridge.SessionFinished}},
	} {
		got, err := claudecode.Hook([]byte(`{"session_id":"s","cwd":"/repo","hook_event_name":`+c.event+`}`), claudecode.AskLocally)
		c.want.Folder = "/repo"
		if err != nil || got.Report == nil || got.Report.Session != "s" || got.Report.SessionReport != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.event, got.Report, err, c.want)
		}
	}
	for _, event := range []string{`"SessionStart"`, `"SubagentStop"`, `"Notification","notification_type":"auth_success","message":"x"`} {
		got, err := claudecode.Hook([]byte(`{"session_id":"s","hook_event_name":`+event+`}`), claudecode.AskLocally)
		if err != nil || got.Report != nil {
			t.Errorf("%s: %+v, %v", event, got.Report, err)
		}
	}
}

// TestModeWords checks that a permission mode is described, and not only named.
func TestModeWords(t *testing.T) {
	t.Parallel()
	const hook = `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Edit","tool_input":{"file_path":"/a"},` +
		`"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`
	got, err := claudecode.Hook([]byte(hook), claudecode.AskLocally)
	if err != nil {
		t.Fatal(err)
	}
	if note := got.Exchanges[0].Request.Approval.ScopeNotes[bridge.ScopeSession]; !strings.HasPrefix(note, "file edits") {
		t.Errorf("the approval for the session covers %q", note)
	}
}
