package redact_test

import (
	"strings"
	"testing"
	"time"
)

// TestLongTexts checks that a text as long as an input may be is read in a
// bounded time, whatever it repeats.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for _, unit := range []string{"password: ", "token=abcd1234 ", "-----BEGIN PRIVATE KEY-----\n", "'", `"`, `\"`, "curl -u a:b ", "cookie: a=b; ", "authorization: ", "https://a:b", "a", "key ", "eyJ.", `{"password":"a b"},`, "--token ", "[redacted key, 4 characters] ", "mysql -u x ", "an-exact-value-of-the-config"} {
		text := strings.Repeat(unit, 256<<10/len(unit))
		began := time.Now()
		_ = r.Redact(text)
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("%q: %s", unit, d)
		} else {
			t.Logf("%q: %s", unit, d)
		}
	}
}
