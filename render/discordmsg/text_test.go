package discordmsg

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// escaped is [Escape] for any text, character by character.
func escaped(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	var b strings.Builder
	start := true
	for n, r := range s {
		next, _ := utf8.DecodeRuneInString(s[n+utf8.RuneLen(r):])
		if strings.ContainsRune("\\*_~`|<>#[]()@", r) || start && (r == '-' || r == '+' || r == '.') || r == ':' && (next == '/' || unicode.IsLetter(next)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		start = r == '\n' || start && (r == ' ' || r >= '0' && r <= '9')
	}
	return b.String()
}

// TestEscapeLiteral checks that a text which is returned unchanged needs no
// backslash.
func TestEscapeLiteral(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "Z9", " ", "1", ".", "-", "+", ":", "/", "'", "\"", ",", "?", "!", "=", "%", "*", "(", "@", "\n", "é", "\xff", "&", "$", "a.", "a-"}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "text"), "")
		if got, want := Escape(s), escaped(s); got != want || literal(s) && want != s {
			t.Fatalf("%q: %q, want %q", s, got, want)
		}
	})
}
