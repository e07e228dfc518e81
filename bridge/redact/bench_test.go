package redact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/level"
)

// TestLongTexts checks that the time for a text grows linearly with its length
// and not quadratically, whatever the text repeats. Four times the text may
// take twelve times as long, which leaves a margin for a busy machine.
func TestLongTexts(t *testing.T) {
	level.CI(t)
	r := redactor(t)
	const short, long, most, noise = 16 << 10, 64 << 10, 12, time.Second
	for _, unit := range []string{
		"password: ", "token=abcd1234 ", "-----BEGIN PRIVATE KEY-----\n", "'", `"`, `\"`, "curl -u a:b ", "cookie: a=b; ", "authorization: ", "https://a:b",
		"a", "key ", "eyJ.", `{"password":"a b"},`, "--token ", "[redacted key, 4 characters] ", "mysql -u x ", "an-exact-value-of-the-config",
	} {
		took := func(n int) time.Duration {
			text := strings.Repeat(unit, n/len(unit))
			began := time.Now()
			_ = r.Redact(text)
			return time.Since(began)
		}
		a, b := took(short), took(long)
		for tries := 0; b > most*a && b > noise; tries++ { // a busy machine may slow down one of them
			if tries == 5 {
				t.Fatalf("%q: %s for %d bytes, %s for %d", unit, a, short, b, long)
			}
			a, b = took(short), took(long)
		}
	}
}
