package console

import "testing"

// TestPageOf checks that a sign-in leads back to a page of the console and to
// nothing else.
func TestPageOf(t *testing.T) {
	t.Parallel()
	for fragment, want := range map[string]string{
		"#/i/0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03": "#/i/0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", "#/inbox?text=a%20b": "#/inbox?text=a%20b",
		"": "", "#": "", "#evil": "", "//evil.example": "", "https://evil.example/#/i": "", "#/a\r\nSet-Cookie: x": "#/a%0D%0ASet-Cookie:%20x", "/#/i": "",
	} {
		if got := pageOf(fragment); got != want {
			t.Errorf("%q leads to %q, want %q", fragment, got, want)
		}
	}
}
