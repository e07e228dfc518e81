package claudecode_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/dialect/claudecode"
)

// TestCallFinder checks that the call of a permission prompt is found in the
// transcript: the oldest of the turn with this content that has no result.
func TestCallFinder(t *testing.T) {
	t.Parallel()
	const prompt = `{"session_id":"s","transcript_path":"/t","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make","n":1}}`
	use := func(id, input string) string {
		return `{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":` + input + `}]}}`
	}
	result := func(id string) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"x"}]}}`
	}
	const same, turn = `{"n":1,"command":"make"}`, `{"type":"user","message":{"role":"user","content":"go"}}`
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"nothing":           {nil, ""},
		"one":               {[]string{turn, use("a", same)}, "a"},
		"three at once":     {[]string{turn, use("a", same), use("b", same), use("c", same)}, "a"},
		"the second":        {[]string{turn, use("a", same), use("b", same), use("c", same), result("a")}, "b"},
		"all have results":  {[]string{turn, use("a", same), result("a")}, ""},
		"another input":     {[]string{turn, use("a", `{"command":"make","n":2}`)}, ""},
		"an earlier turn":   {[]string{use("a", same), turn, use("b", `{}`)}, ""},
		"half a line":       {[]string{turn, use("a", same), `{"type":"assistant","message":{"con`}, "a"},
		"a subagent's call": {[]string{turn, strings.Replace(use("a", same), `"isSidechain":false`, `"isSidechain":true`, 1)}, ""},
	} {
		f, path, ok := claudecode.NewCallFinder([]byte(prompt))
		if !ok || path != "/t" {
			t.Fatalf("%q, %t", path, ok)
		}
		for n := len(c.lines) - 1; n >= 0 && f.Line([]byte(c.lines[n])); n-- {
		}
		if f.ID != c.want {
			t.Errorf("%s: %q, want %q", name, f.ID, c.want)
		}
	}
	for _, in := range []string{
		strings.Replace(prompt, "PermissionRequest", "PreToolUse", 1), strings.Replace(prompt, `"session_id"`, `"agent_id":"a","session_id"`, 1),
		strings.Replace(prompt, `"session_id"`, `"tool_use_id":"x","session_id"`, 1), `{`, `[]`,
	} {
		if _, _, ok := claudecode.NewCallFinder([]byte(in)); ok {
			t.Errorf("%s: there is something to find", in)
		}
	}
}
