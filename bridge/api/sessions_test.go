package api_test

import (
	"strings"
	"testing"
)

// sessions makes the calls about sessions.
func (d described) sessions() {
	d.t.Helper()
	const approval = `{"session":"z","prompt":"May I?","approval":{"tool":"bash","input":{"command":"ls"}}}`
	d.call("agent", "POST", "/v1/interactions", approval, 201)
	d.call("ana", "GET", "/v1/sessions", "", 200)
	if got := d.call("agent", "GET", "/v1/sessions?session=z", "", 200); strings.Contains(got, "stopped") {
		d.t.Errorf("before the stop: %s", got)
	}
	d.messages()
	report := `{"state":"working","title":"Fix","prompt":"p","host":"h","folder":"~/f","branch":"b","step":"s","waits_for":"w",` +
		`"last_message":"m","route":"default","subagent":"a","subagent_id":"1","at":"2026-11-22T14:00:00Z"}`
	if got := d.call("agent", "POST", "/v1/sessions/r", report, 200); !strings.Contains(got, `"title":"Fix"`) {
		d.t.Errorf("the report is %s", got)
	}
	d.call("agent", "POST", "/v1/sessions/r", `{"state":"resting"}`, 400)
	d.call("agent", "POST", "/v1/sessions/never", `{"update":true}`, 404)
	d.call("ana", "POST", "/v1/sessions/unknown/stop", "", 404)
	if got := d.call("ana", "POST", "/v1/sessions/z/stop", `{"agent":"ci"}`, 200); !strings.Contains(got, `"session":"z"`) {
		d.t.Errorf("the stop is %s", got)
	}
	if got := d.call("agent", "GET", "/v1/sessions?session=z", "", 200); !strings.Contains(got, `"stopped":{`) {
		d.t.Errorf("after the stop: %s", got)
	}
	if got := d.call("agent", "POST", "/v1/interactions", approval, 201); !strings.Contains(got, `"state":"denied"`) {
		d.t.Errorf("a request of the stopped session is %s", got)
	}
	d.call("ana", "POST", "/v1/sessions/z/messages", `{"text":"hi"}`, 409)
	d.call("agent", "POST", "/v1/sessions/z/resume", "", 403)
	d.call("ana", "POST", "/v1/sessions/z/resume", `{"agent":"ci"}`, 200)
	d.call("ana", "POST", "/v1/sessions/z/resume", "", 404)
	d.call("other", "POST", "/v1/sessions/own/stop", "", 200)
	if got := d.call("other", "GET", "/v1/sessions", "", 200); !strings.Contains(got, `"name":"agent cd"`) || strings.Contains(got, `"z"`) {
		d.t.Errorf("the sessions of another agent are %s", got)
	}
}

// TestStopNamesWhatItStopped checks that a stop that cannot cancel one of the
// requests cancels the others, and that its error names the stopped session.
func TestStopNamesWhatItStopped(t *testing.T) {
	t.Parallel()
	_, router := description(t)
	d := described{newServer(t), t, router, map[string]bool{}}
	for _, command := range []string{"ls", "pwd", "id"} {
		d.call("agent", "POST", "/v1/interactions", `{"session":"z","prompt":"May I?","approval":{"tool":"bash","input":{"command":"`+command+`"}}}`, 201)
	}
	pending := func() int {
		return strings.Count(d.call("ana", "GET", "/v1/interactions?state=pending", "", 200), `"tool":"bash"`)
	}
	if got := pending(); got != 3 {
		t.Fatalf("%d requests are pending", got)
	}
	d.fails.Store(1)
	if got := d.call("ana", "POST", "/v1/sessions/z/stop", "", 500); !strings.Contains(got, "; stopped: ci z") {
		t.Errorf("the error is %s", got)
	}
	if got := pending(); got != 1 {
		t.Errorf("%d requests are pending, want the one that could not be read", got)
	}
	d.call("ana", "POST", "/v1/sessions/z/stop", "", 200)
	if got := pending(); got != 0 {
		t.Errorf("after the repeat, %d requests are pending", got)
	}
}

// messages makes the calls about messages from people.
func (d described) messages() {
	d.t.Helper()
	const inbox = "/v1/sessions/z/messages"
	d.call("agent", "POST", inbox, `{"text":"hi"}`, 403)
	d.call("ana", "POST", "/v1/sessions/unknown/messages", `{"text":"hi"}`, 404)
	d.call("ana", "POST", inbox, `{"text":" "}`, 400)
	sent := d.call("ana", "POST", inbox, `{"text":"hi","agent":"ci"}`, 201)
	id := strings.Split(sent[strings.Index(sent, `"id":"`)+6:], `"`)[0]
	if got := d.call("agent", "GET", inbox+"?reader=a&lease=1m&continued=false", "", 200); !strings.Contains(got, "UTC: 'hi'") || strings.Contains(got, `"record"`) {
		d.t.Errorf("the agent reads %s", got)
	}
	for _, path := range []string{inbox, inbox + "?reader=b", "/v1/sessions/other/messages?reader=a"} {
		if got := d.call("agent", "GET", path, "", 200); strings.Contains(got, "hi") {
			d.t.Errorf("another reader gets %s", got)
		}
	}
	d.call("agent", "GET", inbox+"?reader=a&lease=1h", "", 400)
	if got := d.call("ana", "GET", inbox+"/"+id, "", 200); !strings.Contains(got, `"fate":"waiting"`) {
		d.t.Errorf("before the acknowledgment: %s", got)
	}
	d.call("agent", "POST", inbox+"/ack", `{"through":"`+id+`"}`, 204)
	if got := d.call("ana", "GET", inbox+"/"+id, "", 200); !strings.Contains(got, `"fate":"delivered"`) {
		d.t.Errorf("after the acknowledgment: %s", got)
	}
	d.call("ana", "GET", inbox+"/1-1", "", 404)
}

// TestStopBeforeDelivery checks that an approval that was given before a stop,
// and that its agent receives after it, lets no tool run.
func TestStopBeforeDelivery(t *testing.T) {
	t.Parallel()
	const hook = `{"session_id":"z","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`
	const request = `{"session":"z","prompt":"May I?","approval":{"tool":"bash","input":{"command":"ls"}}}`
	for name, c := range map[string]struct {
		method, path, body string // the call that opens the request
		opened             int
		again              string // the path of the call that gets the answer
		allows             string
	}{
		"hook":          {"POST", "/v1/hooks/claude?wait=1ms", hook, 202, "/v1/hooks/claude?wait=1s", `"permissionDecision":"allow"`},
		"read":          {"GET", "/v1/interactions", request, 201, "/v1/interactions/@", `"state":"approved"`},
		"read and wait": {"GET", "/v1/interactions", request, 201, "/v1/interactions/@?wait=1s", `"state":"approved"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, router := description(t)
			d := described{newServer(t), t, router, map[string]bool{}}
			open := d.call("agent", "POST", c.path, c.body, c.opened)
			id := open[strings.Index(open, `"id":"`)+6:][:36]
			again, body := strings.Replace(c.again, "@", id, 1), c.body
			if c.method == "GET" {
				body = ""
			}
			d.call("ana", "POST", "/v1/interactions/"+id+"/response", `{"decision":"once"}`, 200)
			d.call("ana", "POST", "/v1/sessions/z/stop", `{"agent":"ci"}`, 200)
			if got := d.call("agent", c.method, again, body, 403); !strings.Contains(got, "stopped by ana") {
				t.Errorf("the answer is %s", got)
			}
			d.call("ana", "GET", "/v1/interactions/"+id, "", 200)
			d.call("ana", "POST", "/v1/sessions/z/resume", "", 200)
			if got := d.call("agent", c.method, again, body, 200); !strings.Contains(got, c.allows) {
				t.Errorf("after the resumption, the answer is %s", got)
			}
			d.call("ana", "POST", "/v1/sessions/z/stop", `{"agent":"ci"}`, 200)
			if c.method == "GET" { // the agent already had it
				d.call("agent", c.method, again, body, 200)
			}
		})
	}
}
