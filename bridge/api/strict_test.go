package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
)

// ambiguous holds JSON that two parsers could read differently, formatted
// options the field that holds the question.
var ambiguous = map[string]string{
	"a member twice":             `{"type":"x","type":"y","id":"1"}`,
	"a member twice, escaped":    `{"type":"x","\u0074ype":"y","id":"1"}`,
	"a member of the input":      `{"type":"x","input":{"command":"ls","command":"rm -rf /"}}`,
	"deep in the input":          `{"type":"x","input":{"a":[{"b":{"c":1,"c":2}}]}}`,
	"half a surrogate pair":      `{"type":"\ud800"}`,
	"invalid UTF-8":              "{\"type\":\"\xff\"}",
	"two values":                 `{"type":"x"}{"type":"y"}`,
	"two values, a CR between":   "{\"type\":\"x\"}\r{\"type\":\"y\"}",
	"a byte order mark":          "\ufeff{\"type\":\"x\"}",
	"an input that is very deep": `{"type":"x","input":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `}`,
}

// TestDialectsAreStrict checks that dialects and hooks reject text that has
// more than one meaning.
func TestDialectsAreStrict(t *testing.T) {
	t.Parallel()
	for what, in := range ambiguous {
		for name, translate := range dialects {
			// A widget block is any text; only its blocks are parsed as
			// widgets.
			if name == "widget_block" {
				name, in = "widget_block in its block", "```widget\n"+in+"\n```"
			}
			if tr, err := translate([]byte(in)); err == nil && len(tr.Exchanges) > 0 {
				t.Errorf("%s: %s opens a request", name, what)
			} else if err != nil && bridge.ErrorCode(err) != bridge.CodeInvalid {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		hook := strings.Replace(in, `{"type":"x"`, `{"hook_event_name":"PreToolUse","tool_name":"Bash","type":"x"`, 1)
		if _, err := claudecode.Hook([]byte(hook), ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("claude: %s: %v", what, err)
		}
		if _, err := codex.Hook([]byte(hook), false); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("codex: %s: %v", what, err)
		}
	}
}

// TestBodiesAreStrict checks that the API's own bodies have only one meaning
// and no unknown fields, such as a field in another spelling.
func TestBodiesAreStrict(t *testing.T) {
	t.Parallel()
	read := func(body string) error {
		var r bridge.Request
		return read(httptest.NewRequest(http.MethodPost, "/v1/interactions", strings.NewReader(body)), &r)
	}
	good := `{"prompt":"May I?","approval":{"tool":"bash","input":{"command":"ls","Command":"ls -l"}},"timeout":"5s"}`
	if err := read(good); err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string]string{
		"another spelling":        strings.Replace(good, `"tool"`, `"Tool"`, 1),
		"two spellings":           strings.Replace(good, `"tool"`, `"Tool":"git","tool"`, 1),
		"a member twice":          strings.Replace(good, `"tool"`, `"tool":"git","tool"`, 1),
		"a member of input twice": strings.Replace(good, `"command"`, `"command":"rm","command"`, 1),
		"an unknown member":       strings.Replace(good, `"tool"`, `"tools":[],"tool"`, 1),
		"half a surrogate pair":   strings.Replace(good, `May I`, `\ud800`, 1),
		"invalid UTF-8":           strings.Replace(good, `May I`, "\xff", 1),
		"two values":              good + good,
		"a wrong type":            strings.Replace(good, `"bash"`, `["bash"]`, 1),
		"an invalid duration":     strings.Replace(good, `"5s"`, `"soon"`, 1),
	} {
		if err := read(bad); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestFailedGateIsDenied checks that the terminal asks about an HTTP hook with
// invalid input, and that it is denied in a mode without prompts. An error would
// let the tool run.
func TestFailedGateIsDenied(t *testing.T) {
	t.Parallel()
	s := exchanges{}
	post := func(query, body string) (*httptest.ResponseRecorder, error) {
		r := httptest.NewRequest(http.MethodPost, "/v1/hooks/claude?"+query, strings.NewReader(body))
		r.SetPathValue("agent", "claude")
		w := httptest.NewRecorder()
		return w, s.hook(w, r, Principal{})
	}
	for what, body := range map[string]string{
		"a member twice":   `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"a":1,"a":2}}`,
		"no tool":          `{"hook_event_name":"PreToolUse"}`,
		"the event twice":  `{"hook_event_name":"SessionStart","hook_event_name":"PreToolUse"}`,
		"cut off":          `{"hook_event_name" : "PreToolUse","tool_name":"Bash"`,
		"two of them":      `{"hook_event_name":"PreToolUse"}{"hook_event_name":"PreToolUse"}`,
		"too deep to read": `{"hook_event_name":"PreToolUse","x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`,
	} {
		silent := strings.Replace(body, `{"hook`, `{"permission_mode":"auto","hook`, 1)
		for in, decision := range map[string]string{body: "ask", silent: "deny"} {
			if what == "the event twice" {
				decision = "deny"
			}
			w, err := post("", in)
			if err != nil || w.Code != 200 || !strings.Contains(w.Body.String(), `"permissionDecision":"`+decision+`"`) {
				t.Errorf("%s, want %s: %d %s, %v", what, decision, w.Code, w.Body, err)
			}
		}
		if _, err := post("wait=1s", body); bridge.ErrorCode(err) != bridge.CodeInvalid { // nod hook denies the call
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := post("", `{"hook_event_name":"PermissionRequest"}`); err == nil { // Claude Code then asks at its terminal
		t.Error("a permission dialog is answered")
	}
}
