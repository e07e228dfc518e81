package render

import (
	"slices"
	"testing"
)

// TestLinked checks that the addresses in a text become links that show
// themselves, and that no text is lost.
func TestLinked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"": nil, "no link": nil, "ftp://a.example": nil, "https:// x": nil,
		"see https://a.example/x?y=1#z.":              {"https://a.example/x?y=1#z"},
		"(https://a.example) http://b.example/c, end": {"https://a.example", "http://b.example/c"},
		"<https://a.example>":                         {"https://a.example"},
	} {
		whole, links := "", []string(nil)
		for _, s := range Linked(text) {
			whole += s.Text
			if s.URL != "" {
				links = append(links, s.URL)
			}
			if s.URL != "" && s.URL != s.Text {
				t.Errorf("%q: a link to %q shows %q", text, s.URL, s.Text)
			}
		}
		if whole != text || !slices.Equal(links, want) {
			t.Errorf("%q becomes %q with the links %q", text, whole, links)
		}
	}
}
