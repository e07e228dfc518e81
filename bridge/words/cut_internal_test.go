package words

import (
	"strings"
	"testing"
)

// TestCutBytes checks that a text is shortened between characters.
func TestCutBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abc": "abc", "abcdef": "abcd… (2 more bytes on its card)", "abcé": "abc… (2 more bytes on its card)",
	} {
		if got := cutBytes(text, 4); got != want {
			t.Errorf("%q is shortened to %q; want %q", text, got, want)
		}
	}
	if got := []rune(Short(strings.Repeat("é", maxShort+1))); len(got) != maxShort {
		t.Errorf("it has %d characters", len(got))
	}
}
