package claudecode_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// ranTool is a report about a tool call, with its result.
const ranTool = `{"session_id":"s","cwd":"/repo","hook_event_name":"PostToolUse","tool_name":"Bash",` +
	`"tool_input":{"command":"make"},"tool_response":RESULT,"tool_use_id":"t"}`

// read returns the reader of an input.
func read(in string) *dialect.HookInput {
	r := dialect.NewHookInput(claudecode.Reports)
	_, _ = r.Write([]byte(in)) // Write never fails
	return r
}

// reported translates an input as nod does, and reports whether it closes the card
// of the call of ranTool.
func reported(t *testing.T, in string) bool {
	t.Helper()
	body, err := read(in).Body()
	if err != nil {
		t.Fatal(err)
	}
	if len(body) > dialect.MaxHookBody {
		t.Fatalf("%d bytes", len(body))
	}
	tr, err := claudecode.Hook(body, claudecode.AskLocally)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if tr.Elsewhere == nil || tr.Elsewhere.Session != "s" || tr.Report == nil || tr.Report.Folder != "/repo" {
		return false
	}
	other := bridge.Interaction{Ask: bridge.Ask{Approval: &bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"command":"make x"}`)}}}
	same := bridge.Interaction{Ask: bridge.Ask{Approval: &bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"command":"make"}`)}}}
	if tr.Elsewhere.Covers(other) {
		t.Errorf("%.200s: closes the card of another call", in)
	}
	return tr.Elsewhere.Covers(same)
}

// TestReportsOfAnyShape checks that a report closes the card of its call whatever
// else it contains.
func TestReportsOfAnyShape(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]string{
		"plain":               `{"stdout":"ok"}`,
		"larger than a body":  `{"stdout":"` + strings.Repeat("x", 3<<20) + `"}`,
		"deep":                strings.Repeat(`[{"tool_name":"Edit","a":`, 5000) + "1" + strings.Repeat("}]", 5000),
		"invalid UTF-8":       "\"\xff\xfe\x00\"",
		"half a surrogate":    `"\ud800 \"tool_name\":\"Edit\""`,
		"a name twice":        `{"a":1,"a":2,"session_id":"x"}`,
		"inexact numbers":     `[1e999,0.1000000000000000055,01]`,
		"no JSON":             `<html>"`,
		"quotes":              `"{\"tool_input\":{\"command\":\"make x\"}}\\"`,
		"line breaks":         "\"a\nb\"",
		"an incomplete value": `{"stdout":"`,
	} {
		if !reported(t, strings.Replace(ranTool, "RESULT", result, 1)) {
			t.Errorf("%s: the card stays open", name)
		}
	}
	for name, in := range map[string]string{
		"a mark at the start": "\ufeff" + ranTool,
		"another order":       `{"tool_response":RESULT,"tool_input":{"command":"make"},"tool_name":"Bash","hook_event_name":"PostToolUse","cwd":"/repo","session_id":"s"}`,
		"escaped names":       strings.Replace(ranTool, `"tool_name"`, `"\u0074ool_name"`, 1),
		"a name twice":        strings.Replace(ranTool, `"cwd"`, `"session_id":"s","cwd"`, 1),
		"white space":         strings.ReplaceAll(ranTool, `,"`, " ,\r\n\t\""),
	} {
		if !reported(t, strings.Replace(in, "RESULT", `"`+strings.Repeat("x", 2<<20)+`"`, 1)) {
			t.Errorf("%s: the card stays open", name)
		}
	}
	for name, in := range map[string]string{
		"two sessions": strings.Replace(ranTool, `"cwd"`, `"session_id":"x","cwd"`, 1),
		"two inputs":   strings.Replace(ranTool, `"cwd"`, `"tool_input":{"command":"make y"},"cwd"`, 1),
	} {
		if reported(t, in) {
			t.Errorf("%s: closes a card, although it is not clear which", name)
		}
	}
}

// TestReportsProperty checks that any bytes instead of a result, and any part of a
// report, are read without an error as JSON with only one meaning.
func TestReportsProperty(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	parts := []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, "\xff", "\x00", `\u`, `\ud83d`, " ", "1", "tool_input", `"session_id":"x"`, "\u2028"}
	for range 20_000 {
		result := ""
		for range r.IntN(12) {
			result += parts[r.IntN(len(parts))]
		}
		in := strings.Replace(ranTool, "RESULT", result, 1)
		if r.IntN(2) == 0 {
			in = in[:r.IntN(len(in)+1)]
		}
		got := read(in)
		if !got.Reports() {
			continue // cut off before the event
		}
		body, err := got.Body()
		if err == nil {
			err = strictjson.Check(body)
		}
		if err == nil {
			_, err = claudecode.Hook(body, claudecode.AskLocally)
		}
		if err != nil {
			t.Fatalf("%q becomes %s: %v", in, body, err)
		}
	}
}

// TestLongTexts checks that a report keeps the beginning of long texts, and that a
// list that is too long is still not empty.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`ä\ud83d\ude00\u0001`, 1<<17)
	in := `{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"` + long + `","background_tasks":[` + strings.Repeat(`{"a":1},`, 1<<15) + `1],"cwd":"/` + long + `"}`
	body, err := read(in).Body()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := claudecode.Hook(body, claudecode.AskLocally)
	if err != nil || tr.Report.State != bridge.SessionWorking || !strings.HasPrefix(tr.Report.Last, "ä😀") || !strings.HasPrefix(tr.Report.Folder, "/ä") {
		t.Errorf("%+v, %v", tr.Report, err)
	}
	if len(tr.Report.Last) < bridge.MaxLastMessage {
		t.Errorf("%d bytes of the message are left", len(tr.Report.Last))
	}
}
