package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// calls has a message of every format and entry whose agent makes up an ID for
// its call. CONTENT is what the agent asks, and ID is the ID.
var calls = map[string]struct{ path, body string }{
	"hook of Claude Code": {"/v1/hooks/claude?unanswered=deny", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"ID","tool_input":{"command":"CONTENT"}}`},
	"permission of Claude Code with an ID": {"/v1/hooks/claude?unanswered=deny&join=false",
		`{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_use_id":"ID","tool_input":{"command":"CONTENT"}}`},
	"hook of Codex":         {"/v1/hooks/codex?unanswered=deny", `{"session_id":"s","turn_id":"t","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"ID","tool_input":{"command":"CONTENT"}}`},
	"Claude Code's control": {"/v1/dialects/claude_control?session=s", `{"type":"control_request","request_id":"ID","request":{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{"command":"CONTENT"}}}`},
	"Codex's app server":    {"/v1/dialects/codex", `{"id":1,"method":"item/commandExecution/requestApproval","params":{"threadId":"s","turnId":"t","itemId":"ID","startedAtMs":1,"command":"CONTENT"}}`},
	"permission of Codex with an ID": {"/v1/hooks/codex?unanswered=deny&join=false",
		`{"session_id":"s","turn_id":"t","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_use_id":"ID","tool_input":{"command":"CONTENT"}}`},
	"Codex's changes":             {"/v1/dialects/codex", `{"id":1,"method":"item/fileChange/requestApproval","changes":[{"path":"CONTENT","diff":"+a"}],"params":{"threadId":"s","turnId":"t","itemId":"ID","startedAtMs":1}}`},
	"Codex's permissions":         {"/v1/dialects/codex", `{"id":1,"method":"item/permissions/requestApproval","params":{"threadId":"s","turnId":"t","itemId":"ID","startedAtMs":1,"permissions":{"network":"CONTENT"}}}`},
	"Codex's questions":           {"/v1/dialects/codex", `{"id":1,"method":"item/tool/requestUserInput","params":{"threadId":"s","turnId":"t","itemId":"ID","questions":[{"id":"q","header":"h","question":"CONTENT","options":[{"label":"a"},{"label":"b"}]}]}}`},
	"Codex's forms":               {"/v1/dialects/codex", `{"id":"ID","method":"mcpServer/elicitation/request","params":{"threadId":"s","turnId":"t","serverName":"m","mode":"form","message":"CONTENT","requestedSchema":{"type":"object","properties":{"a":{"type":"boolean"}}}}}`},
	"Codex's older patches":       {"/v1/dialects/codex", `{"id":1,"method":"applyPatchApproval","params":{"conversationId":"s","callId":"ID","fileChanges":{"CONTENT":{"add":{"content":"a"}}}}}`},
	"Codex's older app server":    {"/v1/dialects/codex", `{"id":1,"method":"execCommandApproval","params":{"conversationId":"s","callId":"ID","command":["CONTENT"]}}`},
	"ACP":                         {"/v1/dialects/acp", `{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"ID","rawInput":{"command":"CONTENT"}},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}`},
	"form of ACP":                 {"/v1/dialects/acp", `{"id":"ID","method":"elicitation/create","params":{"sessionId":"s","message":"CONTENT","requestedSchema":{"type":"object","properties":{"a":{"type":"boolean"}}}}}`},
	"AI SDK":                      {"/v1/dialects/ai_sdk?session=s", `{"type":"tool-approval-request","approvalId":"ID","toolCall":{"toolCallId":"t","toolName":"Bash","input":{"command":"CONTENT"}}}`},
	"OpenAI Agents":               {"/v1/dialects/openai_agents?session=s", `{"rawItem":{"name":"Bash","callId":"ID","arguments":"{\"command\":\"CONTENT\"}"}}`},
	"questions":                   {"/v1/dialects/ask_user_question?session=s&one_at_a_time=false", `{"tool_name":"AskUserQuestion","tool_use_id":"ID","input":{"questions":[{"question":"CONTENT","header":"h","options":[{"label":"a"},{"label":"b"}]}]}}`},
	"frame of a question":         {"/v1/dialects/ask_widget?session=s", `{"type":"ask_request","id":"ID","payload":{"prompt":"CONTENT"}}`},
	"frame of an approval":        {"/v1/dialects/ask_widget?session=s", `{"type":"approval_request","id":"ID","payload":{"tool":"Bash","input":{"command":"CONTENT"}}}`},
	"widget":                      {"/v1/dialects/widget?session=s", `{"widgetId":"ID","type":"confirmation","message":"CONTENT"}`},
	"widget in a text":            {"/v1/dialects/widget_block?session=s", "```widget\n{\"widgetId\":\"ID\",\"type\":\"confirmation\",\"message\":\"CONTENT\"}\n```"},
	"interaction of a tool":       {"/v1/dialects/tool_interaction", `{"sessionId":"s","toolCallId":"ID","toolName":"Bash","interactionType":"approval","input":{"command":"CONTENT"}}`},
	"tool_use_id with odd glyphs": {"/v1/hooks/claude?unanswered=deny", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"functions.Bash:0/ID","tool_input":{"command":"CONTENT"}}`},
}

// caller calls a server as an agent or a person.
type caller struct {
	t   *testing.T
	url string
}

func (c caller) do(token, path, body, as string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if as != "" {
		r.Header.Set("Nod-Caller", as)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp, string(b)
}

// asks sends a message, and returns the request that is open for it.
func (c caller) asks(path, body, as string) bridge.Record {
	c.t.Helper()
	resp, got := c.do("agent", path, body, as)
	var open bridge.List
	if err := json.Unmarshal([]byte(got), &open); resp.StatusCode != http.StatusAccepted || err != nil || len(open.Items) != 1 {
		c.t.Fatalf("%s: %s, no open request: %s", body, resp.Status, got)
	}
	return open.Items[0]
}

// gets sends a message, and returns the ID of the request whose answer it got.
func (c caller) gets(path, body, as string) string {
	c.t.Helper()
	resp, got := c.do("agent", path, body, as)
	if resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %s, no answer: %s", body, resp.Status, got)
	}
	return resp.Header.Get("Nod-Interaction")
}

// answers answers a request as its person.
func (c caller) answers(r bridge.Record) {
	c.t.Helper()
	reply := map[string]any{"decision": "once"}
	if len(r.Interaction.Questions) > 0 {
		given := map[string]any{}
		for _, q := range r.Interaction.Questions {
			switch {
			case len(q.Options) > 0:
				given[q.ID] = q.Options[0].Value
			case q.Widget == bridge.WidgetForm:
				given[q.ID] = map[string]any{}
			default:
				given[q.ID] = "true"
			}
		}
		reply = map[string]any{"answers": given}
	}
	body, err := json.Marshal(reply)
	if err != nil {
		c.t.Fatal(err)
	}
	if resp, got := c.do("ana", "/v1/interactions/"+string(r.Interaction.ID)+"/response", string(body), ""); resp.StatusCode != http.StatusOK {
		c.t.Fatalf("not answered: %s", got)
	}
}

// An entry is a way in which agents ask: as is the random ID of the caller.
type entry interface {
	// asks sends a call, and returns the ID of the request that is open for it.
	asks(id, content, as string) string
	// gets sends a call, and returns the ID of the request whose answer it got.
	gets(id, content, as string) string
	answers(request string)
	// traits reports whether calls have IDs, and whether callers have.
	traits() (ids, callers bool)
}

// overHTTP is the entry of a format in calls.
type overHTTP struct {
	caller
	name, path, body string
	open             map[string]bridge.Record
}

func (h overHTTP) call(wait, id, content string) (path, body string) {
	path = h.path + "?wait=" + wait
	if strings.Contains(h.path, "?") {
		path = h.path + "&wait=" + wait
	}
	return path, strings.NewReplacer("CONTENT", content+" "+h.name, "ID", id).Replace(h.body)
}

func (h overHTTP) asks(id, content, as string) string {
	h.t.Helper()
	path, body := h.call("10ms", id, content)
	rec := h.caller.asks(path, body, as)
	h.open[string(rec.Interaction.ID)] = rec
	return string(rec.Interaction.ID)
}

func (h overHTTP) gets(id, content, as string) string {
	h.t.Helper()
	path, body := h.call("20s", id, content)
	return h.caller.gets(path, body, as)
}

func (h overHTTP) answers(request string)      { h.t.Helper(); h.caller.answers(h.open[request]) }
func (h overHTTP) traits() (ids, callers bool) { return true, true }

// TestOneIdentity checks the identity of a call in every format and entry: a
// repeat joins the request if it is open or its answer was not sent. Once an
// answer was sent, only the caller that received it can get it again.
func TestOneIdentity(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	entries := map[string]func(t *testing.T) entry{}
	for name, x := range calls {
		entries[name] = func(t *testing.T) entry {
			return overHTTP{caller{t, s.URL}, name, x.path, x.body, map[string]bridge.Record{}}
		}
	}
	for name, frame := range frames {
		entries["frame: "+name] = func(t *testing.T) entry {
			own := newServer(t) // whose callers the entry counts
			return &overSocket{caller: caller{t, own.URL}, waiting: own.waiting, session: name, frame: frame, labels: map[string]string{}}
		}
	}
	entries["MCP"] = func(t *testing.T) entry { return overMCP{caller{t, s.URL}} }
	for name, of := range entries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			identity(t, of(t))
		})
	}
}

func identity(t *testing.T, e entry) {
	ids, callers := e.traits()
	first := e.asks("Bash_0", "ls", "one")
	if again := e.asks("Bash_0", "ls", "two"); again != first {
		t.Error("a repetition of an open request is another one")
	}
	if other := e.asks("Bash_0", "rm", "one"); other == first {
		t.Error("another content joins it")
	}
	if other := e.asks("Bash_1", "ls", "one"); ids && other == first {
		t.Error("another ID joins it")
	}
	e.answers(first)
	if got := e.gets("Bash_0", "ls", "three"); got != first {
		t.Errorf("an answer that was not sent is of %s", got)
	}
	for _, as := range []string{"one", "two", "three"} {
		if !callers {
			break
		}
		if got := e.gets("Bash_0", "ls", as); got != first {
			t.Errorf("the retry of %s gets the answer of %s", as, got)
		}
	}
	next := ""
	for _, as := range []string{"four", "five", ""} {
		got := e.asks("Bash_0", "ls", as)
		if got == first || next != "" && got != next {
			t.Errorf("caller %q asks %s again", as, got)
		}
		next = got
	}
	e.answers(next)
	if got := e.gets("Bash_0", "ls", ""); got != next {
		t.Errorf("the second answer is of %s", got)
	}
	if got := e.asks("Bash_0", "ls", ""); got == next {
		t.Error("without a caller ID, an answer was used twice")
	}
}
