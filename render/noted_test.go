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

// TestRelative checks that the times of a text, and nothing else, are distances.
func TestRelative(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 14, 2, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"Ana already denied this (2026-11-22 13:58:00 UTC). Your click changed nothing.":                  "Ana already denied this (4 min ago). Your click changed nothing.",
		"nod will remind you at 2026-11-22 15:02 UTC. The request stays open until 2026-11-25 14:30 UTC.": "nod will remind you in 1 h. The request stays open for 3 days.",
		"nod will remind you at 2026-11-22 14:12 UTC.":                                                    "nod will remind you in 10 min.",
		"nod will remind you at 2026-11-22 14:02 UTC.":                                                    "nod will remind you in 25 s.",
		"nod will remind you at 2026-11-22 14:01 UTC.":                                                    "nod will remind you in a moment.",
		"It ended at 2026-11-22 14:02:00 UTC.":                                                            "It ended 5 s ago.",
		"This has already expired (2026-11-22 14:02:05 UTC).":                                             "This has already expired (a moment ago).",
		"It ended at 2026-11-20 13:00:00 UTC.":                                                            "It ended 2 days ago.",
		"https://a.example/?at=2026-11-22 and 2026-11-22 14:02 CET":                                       "https://a.example/?at=2026-11-22 and 2026-11-22 14:02 CET",
		"2026-99-22 14:02 UTC":                                                                            "2026-99-22 14:02 UTC",
		"nothing":                                                                                         "nothing",
	} {
		if got := Relative(text, now); got != want {
			t.Errorf("%q becomes %q; want %q", text, got, want)
		}
	}
}
