package render_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
	"github.com/nodbridge/nod/render"
)

// cardText returns everything that the card of an approval says.
func cardText(tool string, input map[string]any) string {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	i := bridge.Interaction{Agent: "agent", Ask: bridge.Ask{Kind: bridge.KindApproval, Prompt: "?", Approval: &bridge.Approval{Tool: tool, Input: raw}}}
	c := render.NewCard(bridge.View{Record: bridge.Record{State: bridge.StatePending, Interaction: i}}, nil)
	return c.From + "\n" + c.HeadText() + "\n" + render.PlainText(c.Body)
}

// TestExact checks that changes which look the same are shown so that people see
// the difference.
func TestExact(t *testing.T) {
	t.Parallel()
	edit := func(was, now string) map[string]any {
		return map[string]any{"file_path": "/a", "old_string": was, "new_string": now}
	}
	for _, c := range []struct {
		name, tool string
		input      map[string]any
		want       []string
		without    string
	}{
		{"line ends", "Edit", edit("a\r\nb\r\n", "a\nb\n"), []string{"-a⟨U+000D⟩", "+a"}, ""},
		{"line ends of both", "Edit", edit("a\r\nb\r\n", "a\r\nc\r\n"), []string{"ends with CR and LF", "-b", "+c"}, "U+"},
		{"normalization", "Edit", edit("caf\u00e9", "cafe\u0301"), []string{"-caf⟨U+00E9⟩", "+cafe⟨U+0301⟩"}, ""},
		{"another alphabet", "Edit", edit("paypal", "p\u0430ypal"), []string{"-paypal", "+p⟨U+0430⟩ypal"}, ""},
		{"space at the end", "Edit", edit("x", "x "), []string{"+x⟨U+0020⟩"}, ""},
		{"tab", "Edit", edit("  x", "\tx"), []string{"-⟨U+0020⟩⟨U+0020⟩x", "+⟨U+0009⟩x"}, ""},
		{"another word", "Edit", edit("Größe", "Straße"), []string{"-Größe", "+Straße"}, "U+"},
		{"one of several lines", "Edit", edit("a\ne\u0301", "b\n\u00e9"), []string{"-a", "-e⟨U+0301⟩", "+b", "+⟨U+00E9⟩"}, ""},
		{"several edits", "MultiEdit", map[string]any{"file_path": "/a", "edits": []any{map[string]any{"old_string": "x\r\n", "new_string": "x\n"}}}, []string{"-x⟨U+000D⟩"}, ""},
		{"empty file", "Write", map[string]any{"file_path": "/a", "content": ""}, []string{"Write /a", "The file is empty."}, "{"},
		{"file with CR and LF", "Write", map[string]any{"file_path": "/a", "content": "x\r\ny\r\n"}, []string{"ends with CR and LF", "x\n"}, "U+"},
		{"mixed line ends", "Write", map[string]any{"file_path": "/a", "content": "x\r\ny\n"}, []string{"x⟨U+000D⟩\n", "y"}, "ends with"},
		{"command", "Bash", map[string]any{"command": "rm x\r\nls"}, []string{"rm x⟨U+000D⟩\n", "ls"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			card := cardText(c.tool, c.input)
			for _, w := range c.want {
				if !strings.Contains(card, w) {
					t.Errorf("%q is not on the card:\n%s", w, card)
				}
			}
			if c.without != "" && strings.Contains(card, c.without) {
				t.Errorf("%q is on the card:\n%s", c.without, card)
			}
		})
	}
}

// TestPatches checks that a list of changes is shown as diffs, and that any other
// list is unchanged.
func TestPatches(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`[{"path":"a.go","kind":{"type":"update","move_path":"b.go"},"diff":"@@ -1 +1 @@\n-a\n+b"},{"path":"c","diff":"+x\r"}]`: "a.go\n\n    @@ -1 +1 @@\n    -a\n    +b\n\n    {\n      \"kind\": {\n        \"move_path\": \"b.go\",\n        \"type\": \"update\"\n      }\n    }\n\nc\n\n    +x⟨U+000D⟩",
		`[{"path":"a.go","diff":""}]`: "    [\n      {\n        \"path\": \"a.go\",\n        \"diff\": \"\"\n      }\n    ]",
	} {
		got := render.PlainText(render.Input(bridge.Approval{Input: json.RawMessage(input)}))
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", input, got, want)
		}
	}
}

// TestExactProperty checks that two inputs of a tool never have the same card, so
// that whatever the tool gets is on it.
func TestExactProperty(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	tools := []string{"Bash", "run", "Write", "Edit", "MultiEdit", "NotebookEdit", "delete", "WebFetch", "execute", "other", ""}
	for range level.Often(4000, 600) {
		tool, input := tools[r.IntN(len(tools))], randomInput(r)
		changed := changedInput(r, input)
		a, b := cardText(tool, input), cardText(tool, changed)
		if a == b {
			was, _ := json.Marshal(input)
			now, _ := json.Marshal(changed)
			t.Fatalf("%s has the same card for\n%s\n%s\n\n%s", tool, was, now, a)
		}
	}
}

// pieces are parts of texts that are easy to lose.
var pieces = []string{"a", "b", "\n", "\r\n", "\r", " ", "\t", "\u00e9", "e\u0301", "\u200b", "'", "`", "*", "-", "+", "\\", "\u0430", ""}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func randomInput(r *rand.Rand) map[string]any {
	in := map[string]any{}
	for _, name := range []string{"command", "argv", "program", "file_path", "path", "content", "old_string", "new_string", "new_source", "url", "method", "diff", "stdin", "host", "cell_id", "description", "diffs", "timeout"} {
		if r.IntN(3) > 0 {
			continue
		}
		switch name {
		case "argv":
			in[name] = []any{"x", randomText(r)}
		case "diffs":
			in[name] = []any{map[string]any{"path": "p" + randomText(r), "newText": randomText(r), "oldText": randomText(r)}}
		case "timeout":
			in[name] = r.IntN(100)
		default:
			in[name] = randomText(r)
		}
	}
	if len(in) == 0 {
		in["command"] = "x" + randomText(r)
	}
	return in
}

// changedInput returns an input in which one text differs.
func changedInput(r *rand.Rand, in map[string]any) map[string]any {
	for {
		raw, _ := json.Marshal(in)
		var out map[string]any
		_ = json.Unmarshal(raw, &out)
		for name, v := range out {
			switch v := v.(type) {
			case string:
				out[name] = changedText(r, v)
			case []any:
				if m, ok := v[0].(map[string]any); ok {
					m["newText"] = changedText(r, m["newText"].(string))
				} else {
					v[1] = changedText(r, v[1].(string))
				}
			case float64:
				out[name] = v + 1
			}
			return out
		}
	}
}

func changedText(r *rand.Rand, s string) string {
	for {
		n := r.IntN(len(s) + 1)
		for n < len(s) && s[n]&0xc0 == 0x80 {
			n++
		}
		if piece := pieces[r.IntN(len(pieces))]; piece != "" {
			return s[:n] + piece + s[n:]
		}
	}
}
