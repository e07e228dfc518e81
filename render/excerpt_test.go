package render

import (
	"strings"
	"testing"
)

// TestExcerpt checks that a shortened document keeps the agent's words in their
// quote, apart from the script, of which there is always a part.
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
