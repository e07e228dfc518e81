package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

func TestMarkdownToPlain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"emphasis", "a **b** _c_ ~~d~~ `e`", "a b c d e"},
		{"link shows its address", "[bank](https://evil.example/x)", "bank (https://evil.example/x)"},
		{"script link is not a link", "[x](javascript:alert)", "x (javascript:alert)"},
		{"html is text", "<b>x</b> & <script>", "<b>x</b> & <script>"},
		{"list", "- a\n- b\n  1. c\n", "- a\n- b\n  1. c"},
		{"code", "```go\nx := 1\n```", "    x := 1"},
		{"direction override is visible", "safe\u202etxt.exe", "safe⟨U+202E⟩txt.exe"},
		{"quote", "> a\n> b", "> a\n> b"},
	} {
		if got := render.PlainText(render.Markdown(c.in)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSpans checks that adjacent texts of one style are one span: the markup of two would
// touch, and platforms would read it in another way.
func TestSpans(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int{"**one\ntwo\nthree**": 1, "a\nb": 1, "`a\nb`": 1, "a **b** **c**": 4} {
		if got := render.Markdown(in)[0].Spans; len(got) != want {
			t.Errorf("%q has %d spans: %+v", in, len(got), got)
		}
	}
}

func TestHostileMarkdownIsShownAsItStands(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"> ", ">", "- ", "1. ", "* ", "> - ", "[", "![", "[a]("} {
		src := strings.Repeat(unit, 10000) + "x"
		doc := render.Markdown("first\n\n" + src)
		if len(doc) != 1 || !strings.Contains(render.PlainText(doc), strings.TrimRight(src, " ")) {
			t.Errorf("%q: %d blocks", unit, len(doc))
		}
	}
	for _, src := range []string{strings.Repeat("-", 200), "- a\n  - b\n    1. c\n       > d", "* * * * *", strings.Repeat("- item\n", 500)} {
		if doc := render.Markdown("# Title\n\n" + src); doc[0].Kind != render.Heading {
			t.Errorf("%.30q is not parsed", src)
		}
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"command", `{"command":"rm -rf /tmp/x","timeout":5}`, "    rm -rf /tmp/x\n\n    {\n      \"timeout\": 5\n    }"},
		{"argv is quoted", `{"argv":["echo","a b","$HOME"]}`, "    echo 'a b' '$HOME'"},
		{"path and diff", `{"path":"a.go","diff":"+x"}`, "a.go\n\n    +x"},
		{"other", `{"n":1}`, "    {\n      \"n\": 1\n    }"},
		{"hidden characters show", `{"command":"ls \u200b-l"}`, "    ls ⟨U+200B⟩-l"},
		{"a list", `[1,2]`, "    [\n      1,\n      2\n    ]"},
	} {
		if got := render.PlainText(render.Input(bridge.Approval{Input: json.RawMessage(c.in)})); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCutAndSplit(t *testing.T) {
	t.Parallel()
	if got := render.Cut("👩‍👩‍👧‍👦 family", 5, render.UTF16); got != "…" {
		t.Errorf("a family was cut in two: %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		n := rapid.IntRange(1, 50).Draw(t, "n")
		for _, unit := range []render.Unit{render.Runes, render.UTF16} {
			if got := render.Cut(s, n, unit); unit(got) > n && unit(s) > n {
				t.Fatalf("%q is longer than %d", got, n)
			}
			if n < 2 {
				continue // a code point may need two UTF-16 units
			}
			pieces := render.Split(s, n, unit)
			if strings.Join(pieces, "") != s {
				t.Fatalf("pieces of %q do not join to it: %q", s, pieces)
			}
			for _, p := range pieces {
				if unit(p) > n {
					t.Fatalf("piece %q is longer than %d", p, n)
				}
			}
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# a\n- [x](http://y)\n> `z`")
	f.Add(strings.Repeat("> ", 500) + "x")
	f.Fuzz(func(t *testing.T, s string) {
		render.PlainText(render.Markdown(s))
	})
}
