package render

import (
	"strings"
	"testing"
)

// TestExcerpt checks that a shortened document keeps the agent's words in their
// quote, apart from the script. A part of the script is always shown.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	script := strings.Repeat("echo hello\n", 500)
	size := func(doc []Block) int { return Runes(PlainText(doc)) }
	for _, said := range []string{"short", strings.Repeat("very long ", 500)} {
		doc := []Block{Para("Risk  High"), {Kind: Quote, Inner: []Block{Para("bot says: " + said)}}, {Kind: Code, Text: script, Lang: "sh"}}
		for _, limit := range []int{500, 1200, 3000} {
			out := Excerpt(doc, limit, size, Runes)
			if len(out) != 3 || out[1].Kind != Quote || out[2].Kind != Code || out[2].Lang != "sh" {
				t.Fatalf("limit %d: %+v", limit, out)
			}
			text := strings.TrimSuffix(out[2].Text, "…")
			if !strings.HasPrefix(script, text) || len(text) < limit/3 || Runes(text)+size(out[:2]) > limit {
				t.Errorf("limit %d: %d characters of the script, %d before it", limit, len(text), size(out[:2]))
			}
		}
	}
}

// TestExcerptKeepsMarkup checks that the block in which a document is cut keeps its
// format.
func TestExcerptKeepsMarkup(t *testing.T) {
	t.Parallel()
	plan := Markdown("# Plan\n\nIt is **safe**, " + strings.Repeat("word ", 20) + "\n\n1. one\n2. two\n" + strings.Repeat("3. more\n", 300))
	for _, markup := range []int{0, 7} { // characters of each block
		size := func(doc []Block) int { return Runes(PlainText(doc)) + markup*len(doc) }
		for limit, kind := range map[int]BlockKind{60: Paragraph, 500: List} {
			out := Excerpt(plan, limit, size, Runes)
			last := out[len(out)-1]
			if last.Kind != kind || size(out) > limit || !strings.Contains(PlainText(out), "…") {
				t.Errorf("limit %d: %d characters, %+v", limit, size(out), last)
			}
		}
	}
	var whole []Block
	for _, b := range plan {
		for _, part := range Divide(b) {
			whole = Append(whole, part)
		}
	}
	if PlainText(whole) != PlainText(plan) || len(whole) != len(plan) {
		t.Errorf("divided and joined, it reads\n%s", PlainText(whole))
	}
}
