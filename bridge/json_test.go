package bridge_test

import (
	"encoding/json"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestReadableJSON checks that only escapes that people need not read are gone,
// and that the value stays the same.
func TestReadableJSON(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "plain", "a && b < c > d", `\u003c`, `\\u003c`, "\\<", `"<"`, "\u2028\u202e\x00\n", `\`} {
		raw, err := json.Marshal(map[string]string{value: value})
		if err != nil {
			t.Fatal(err)
		}
		read := bridge.ReadableJSON(raw)
		var got map[string]string
		if err := json.Unmarshal(read, &got); err != nil || len(got) != 1 || got[value] != value {
			t.Errorf("%s becomes %s: %v", raw, read, err)
		}
		want, err := bridge.EncodeJSON(map[string]string{value: value})
		if err != nil || string(read) != string(want) {
			t.Errorf("%s is written %s and read %s: %v", raw, want, read, err)
		}
	}
	if got := string(bridge.ReadableJSON([]byte(`{"a":"\u003C\u00e9\"`))); got != `{"a":"<\u00e9\"` {
		t.Error(got)
	}
}

// TestEditUnchanged checks that an input whose escapes only differ counts as
// unchanged, and that people edit readable text.
func TestEditUnchanged(t *testing.T) {
	t.Parallel()
	a := bridge.Approval{Input: json.RawMessage(`{"command":"a \u0026\u0026 b \u003e c"}`), Decisions: []bridge.Decision{bridge.DecideEdit}}
	ask := bridge.Ask{Kind: bridge.KindApproval, Approval: &a}
	if got := a.EditText(); got != "{\n  \"command\": \"a && b > c\"\n}" {
		t.Errorf("people edit %s", got)
	}
	r, problem, err := ask.Decide(bridge.DecideEdit, bridge.Given{Input: json.RawMessage(a.EditText())})
	if err != nil || problem != "" || r.Input != nil {
		t.Errorf("unchanged, it is %s, %s, %v", r.Input, problem, err)
	}
}
