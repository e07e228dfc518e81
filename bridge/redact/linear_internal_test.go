package redact

import (
	"strings"
	"testing"
)

// TestLinear checks that a text of twice the length is not read more than twice,
// whatever it repeats. It counts bytes, because times differ from run to run.
func TestLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"password=", "password: ", "token=a.*", "--token=", "--token ", `password=%22`, "password=&quot;", `{\"password\":\"a b\"},`, `\"token\":\"a b c\" `,
		"password=$", "password=a$", "key=value&", "secret='", `pass="x" `, "password=" + strings.Repeat("x", 50), "pw=é",
	} {
		read := func(n int) int {
			s := strings.Repeat(unit, n/len(unit))
			total := 0
			for _, find := range []func(*reading) []span{(*reading).assigned, (*reading).flags} {
				r := newReading(s, quotesOf(s))
				find(r)
				total += r.read
			}
			return total + n
		}
		if short, long := read(16<<10), read(64<<10); long > 5*short {
			t.Errorf("%q: %d bytes are read for 16 KiB, and %d for 64 KiB", unit, short, long)
		}
	}
}
