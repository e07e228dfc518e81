package render

import (
	"slices"
	"testing"
	"time"
)

// TestNoted checks that the addresses in a text become links that show
// themselves, that its times are marked, and that no text is lost.
func TestNoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"": nil, "no link": nil, "ftp://a.example": nil, "https:// x": nil,
		"see https://a.example/x?y=1#z.":              {"https://a.example/x?y=1#z"},
		"(https://a.example) http://b.example/c, end": {"https://a.example", "http://b.example/c"},
		"<https://a.example>":                         {"https://a.example"},
	} {
		whole, links := "", []string(nil)
		for _, s := range Noted(text) {
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

// TestNotedTimes checks which texts are times.
func TestNotedTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 14, 2, 5, 0, time.UTC)
	for text, want := range map[string]Span{
		"until " + When(at) + ".":         {Text: "2026-11-22 14:02 UTC", Time: at.Unix() - 5},
		"at 2026-11-22 14:02:05 UTC":      {Text: "2026-11-22 14:02:05 UTC", Time: at.Unix(), Exact: true},
		"at 2026-13-45 99:02 UTC, or not": {Text: "2026-13-45 99:02 UTC"},
		"at 14:02 UTC":                    {Text: "at 14:02 UTC"},
	} {
		if !slices.Contains(Noted(text), want) {
			t.Errorf("%q becomes %+v", text, Noted(text))
		}
	}
}

// TestInZone checks that the times of a text, and nothing else, are in the time
// zone of the route.
func TestInZone(t *testing.T) {
	t.Parallel()
	const text = "At 2026-11-22 14:02:05 UTC, until 2026-07-01 23:30 UTC: https://a.example/2026-11-22 14:02. See 2026-13-45 99:02 UTC."
	for zone, want := range map[string]string{
		"": text, "UTC": text, "Nowhere/None": text,
		"Europe/Madrid": "At 2026-11-22 15:02:05 CET, until 2026-07-02 01:30 CEST: https://a.example/2026-11-22 14:02. See 2026-13-45 99:02 UTC.",
	} {
		if got := InZone(text, zone); got != want {
			t.Errorf("in %q: %s", zone, got)
		}
	}
}
