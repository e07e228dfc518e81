package dialect_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
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
