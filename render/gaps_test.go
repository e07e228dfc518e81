package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// asking returns the text of the card of an approval.
func asking(t *testing.T, tool string, input map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	v := find(t, "approval")
	v.Record.Interaction.Prompt = "Please."
	v.Record.Interaction.Approval = &bridge.Approval{Tool: tool, Input: raw, Scopes: []bridge.Scope{bridge.ScopeOnce}}
	c := cardOf(v)
	return c.HeadText() + "\n" + render.PlainText(c.Body)
}

// TestGaps checks that no blanks push a text out of sight, and that ordinary
// indentation and paragraphs stay.
func TestGaps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, want string }{
		"spaces":      {"ls" + strings.Repeat(" ", 3000) + "; rm -rf /", "ls⟨3,000 spaces⟩; rm -rf /"},
		"tabs":        {"ls" + strings.Repeat("\t", 61) + "; rm", "ls⟨61 tabs⟩; rm"},
		"empty lines": {"ls" + strings.Repeat("\n", 81) + "rm -rf /", "ls\n    ⟨80 empty lines⟩\n    rm -rf /"},
		"blank lines": {"ls\n" + strings.Repeat(" \n", 80) + "rm", "ls\n    ⟨80 empty lines with 80 spaces or tabs⟩\n    rm"},
		"a little":    {"if x; then\n\n\n" + strings.Repeat(" ", 60) + "y\nfi", "if x; then\n    \n    \n    " + strings.Repeat(" ", 60) + "y\n    fi"},
		"a mixture":   {"ls" + strings.Repeat(" \t", 40) + "x", "ls⟨40 spaces mixed with 40 tabs⟩x"},
	} {
		if got := asking(t, "Bash", map[string]any{"command": c.command}); !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
	for name, got := range map[string]string{
		"a diff": asking(t, "Edit", map[string]any{"file_path": "a", "old_string": "x", "new_string": "x" + strings.Repeat("\n", 80) + "evil"}),
		"a file": asking(t, "Write", map[string]any{"file_path": "a", "content": "x" + strings.Repeat("\n", 80) + "evil"}),
		"a call": asking(t, "db", map[string]any{"q": "x" + strings.Repeat(" ", 80) + "evil"}),
		"words":  render.PlainText(render.Markdown("x" + strings.Repeat(" ", 80) + "evil\n\n```\na" + strings.Repeat("\n", 80) + "evil\n```")),
	} {
		if lines := strings.Count(got, "\n"); lines > 15 || strings.Contains(got, strings.Repeat(" ", 62)) {
			t.Errorf("%s has %d lines:\n%s", name, lines, got)
		}
	}
}

// TestLookalikes checks that a card says which letters look like others.
func TestLookalikes(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"./p\u0430ypal.sh":                        "“pаypal” has the Cyrillic “а” (U+0430)",
		"\u0441\u0430t notes":                     "“саt” has the Cyrillic “с” (U+0441)",
		"echo \u0440\u043e\u0441":                 "“рос” has the Cyrillic “р” (U+0440)",
		"ls \u03bf.txt":                           "“ο” has the Greek “ο” (U+03BF)",
		"echo Москва Ελλάδα":                      "",
		"echo Zürich ñandú":                       "",
		"make deploy":                             "",
		"a\u0430 b\u0435 c\u043e d\u0455 e\u0456": "; 2 more words",
	} {
		got := asking(t, "Bash", map[string]any{"command": command})
		if want == "" && strings.Contains(got, "Look-alike") || !strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%s", command, want, got)
		}
	}
	v := find(t, "approval")
	v.Record.Interaction.Risk, v.Record.Interaction.Rule, v.Record.Interaction.RuleReason = "high", "rule 1", "it deletes data"
	if got := render.PlainText(cardOf(v).Body); !strings.Contains(got, "High: it deletes data") || strings.Contains(got, "rule 1") {
		t.Errorf("the risk is shown as %s", got)
	}
}
