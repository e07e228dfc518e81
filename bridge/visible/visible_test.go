package visible_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge/visible"
)

// invisible are invisible characters by category.
var invisible = map[string][]rune{
	"blank glyphs":        {0x2800, 0x3164, 0x115f, 0x1160, 0xffa0, 0x1d159, 0x13441, 0x16fe4},
	"variation selectors": {0xfe00, 0xfe0e, 0xfe0f, 0xe0100, 0xe01ef, 0x180b, 0x180f},
	"tags":                {0xe0001, 0xe0020, 0xe0041, 0xe007f},
	"bidi":                {0x200e, 0x200f, 0x061c, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069},
	"zero width":          {0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0x034f, 0x17b4, 0x17b5, 0x180e, 0x2061, 0x2064, 0x206a, 0x206f},
	"soft hyphen":         {0x00ad},
	"spaces":              {0x00a0, 0x1680, 0x2000, 0x2003, 0x2009, 0x200a, 0x202f, 0x205f, 0x3000},
	"separators":          {0x2028, 0x2029, 0x0085},
	"controls":            {0, 7, 8, 0x0b, 0x0c, '\r', 0x1b, 0x7f, 0x9b},
	"private use":         {0xe000, 0xf8ff, 0xf0000, 0x10fffd},
	"unassigned":          {0x0378, 0x2fe0, 0xfff0, 0xffff, 0xe0fff, 0x10ffff, 0x1fffe},
	"replacements":        {0xfffc, 0xfffd, 0xfff9},
	"overlays":            {0x0336, 0x0338, 0x20dd, 0x20e3, 0x0488},
}

// TestInvisible checks that each of them is replaced by its code point at each
// position in a text of letters.
func TestInvisible(t *testing.T) {
	t.Parallel()
	for kind, rs := range invisible {
		for _, r := range rs {
			mark := fmt.Sprintf("⟨U+%04X⟩", r)
			for in, want := range map[string]string{
				"rm" + string(r) + " -rf": "rm" + mark + " -rf", string(r) + "x": mark + "x", "x" + string(r): "x" + mark, string(r): mark,
				"a" + string(r) + string(r) + "b": "a" + mark + mark + "b", "1 " + string(r) + "y": "1 " + mark + "y",
			} {
				if got := visible.Text(in); got != want {
					t.Errorf("%s %U: %q became %q, want %q", kind, r, in, got, want)
				}
			}
		}
	}
	if got := visible.Text("a\xffb"); got != "a⟨U+FFFD⟩b" {
		t.Errorf("invalid UTF-8: %q", got)
	}
	if got := visible.Text("h" + strings.Repeat("\u0301", 9) + "x"); strings.Count(got, "⟨U+0301⟩") != 5 {
		t.Errorf("a heap of marks: %q", got)
	}
	for in, want := range map[string]string{ // tags are text unless they spell a flag that exists
		"🏴\U000e0072\U000e006d\U000e007f": "🏴⟨U+E0072⟩⟨U+E006D⟩⟨U+E007F⟩", "🏴\U000e0067\U000e0062\U000e0065": "🏴⟨U+E0067⟩⟨U+E0062⟩⟨U+E0065⟩",
		"ℹ\ufe0f\ufe0f": "ℹ\ufe0f⟨U+FE0F⟩", "x\ufe0f": "x⟨U+FE0F⟩", "1\ufe0f": "1⟨U+FE0F⟩", "→\ufe0f": "→⟨U+FE0F⟩",
	} {
		if got := visible.Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := visible.Text("\ufffc\ufe0e"); got != "⟨U+FFFC⟩⟨U+FE0E⟩" {
		t.Errorf("a selector after a hidden symbol: %q", got)
	}
	if got := visible.Line("a\u00a0\u2003b\r\nc  d"); got != "a⟨U+00A0⟩⟨U+2003⟩b c d" {
		t.Errorf("a line: %q", got)
	}
}

// TestVisible checks that ordinary text stays unchanged.
func TestVisible(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"plain text, tabs\tand\nlines", "Zürich, Łódź, Ελλάδα, Москва, 東京, 서울, עברית, العربية", "👍🏽 👩‍👩‍👧‍👦 ❤️ ☎️ 1️⃣ #️⃣ 🏳️‍🌈 👩🏽‍💻 ❤️‍🔥 🇪🇸 ⚠️ ©️ ↔️ ‼️ ℹ️ 〽️ 〰️ ㊗️ Ⓜ️ 1⃣ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🧑‍🧑‍🧒 🐦‍⬛ 🫱🏻‍🫲🏿",
		"می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී", "Tiếng Việt", "e\u0301a\u0302\u0301", "שָׁלוֹם", "สวัสดีครับ", "😀 → … – “quotes” ‘x’ € ½ ≠ ∑ █ ▀ ┌─┐",
	} {
		if got := visible.Text(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestStrayJoiners checks that a joiner is replaced if its neighbor is.
func TestStrayJoiners(t *testing.T) {
	t.Parallel()
	const marks = "\u0901\u0901\u0901\u0901" // as many as may follow a letter
	for s, want := range map[string]string{
		"ः\u200c\u17b4":               "ः⟨U+200C⟩⟨U+17B4⟩",
		"\u17b4\u200cः":               "⟨U+17B4⟩⟨U+200C⟩ः",
		"क" + marks + "\u0901\u200dष": "क" + marks + "⟨U+0901⟩⟨U+200D⟩ष",
		"क" + marks + "\u200d\u0901":  "क" + marks + "⟨U+200D⟩⟨U+0901⟩",
		"क" + marks + "\u200dष":       "क" + marks + "\u200dष",
	} {
		if got := visible.Text(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
}

var marker = regexp.MustCompile(`⟨U\+([0-9A-F]{4,6})⟩`)

// TestProperty checks for random text that no character is lost, that a second
// pass changes nothing, and that the result is visible.
func TestProperty(t *testing.T) {
	t.Parallel()
	var odd []rune
	for _, rs := range invisible {
		odd = append(odd, rs...)
	}
	odd = append(odd, []rune("ab1 👍🏽❤म्क\u0901\u0301\u17b4\u200c\u200d\ufe0f\n")...)
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom(odd))).Draw(t, "s"))
		s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "⟨", "")
		out := visible.Text(s)
		back := marker.ReplaceAllStringFunc(out, func(m string) string {
			var r rune
			_, _ = fmt.Sscanf(m, "⟨U+%X⟩", &r)
			return string(r)
		})
		if back != strings.ReplaceAll(s, "\r\n", "\n") {
			t.Fatalf("%q became %q, which says %q", s, out, back)
		}
		if again := visible.Text(out); again != out {
			t.Fatalf("%q became %q, then %q", s, out, again)
		}
		for _, r := range out {
			if r == '\n' || r == '\t' || r == ' ' || r == 0x200d || r == 0x200c || r == 0xfe0f || r == 0xfe0e || r == 0x20e3 {
				continue
			}
			if !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
				t.Fatalf("%q has %U", out, r)
			}
		}
	})
}
