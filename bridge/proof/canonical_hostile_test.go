package proof

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCanonicalHostile checks that the short way to the canonical form gives the
// same as the complete one, and never accepts what that refuses.
func TestCanonicalHostile(t *testing.T) {
	t.Parallel()
	parts := []string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"a"`, `"b"`, `"a":1`, `"b":2,`, `"":`, `"\u0061":`, `"é":`, "\"\xff\"", `"\ud800"`, `"\ud83d\ude00"`, "\"\u2028\"", "\"\x7f\"", "\"\t\"", `"\t\b\f\n\r\"\\"`, `"\/"`, `"\u000a"`, `"\u001f"`, `"<&>"`,
		`0`, `-0`, `-1`, `01`, `1.0`, `1e2`, `999999999999999`, `9999999999999999`, `123456789012345678`, `-999999999999999`, `true`, `false`, `null`, `nul`, ` `, "\n", "\t", "\r", "\v", "\ufeff", "\x00", `"k":{"z":1,"y":[{"x":null}],"y":2}`, `"k":{"b":1,"a":2},`, `"A":`, `"a!":1,"a":2`, `"a":1,"a!":2`,
	}
	r := rand.New(rand.NewPCG(18, 5))
	plain := 0
	for n := range 400_000 {
		var raw []byte
		if n%2 == 0 {
			raw = append(raw, '{')
		}
		for range r.IntN(9) {
			raw = append(raw, parts[r.IntN(len(parts))]...)
		}
		if n%2 == 0 {
			raw = append(raw, '}')
		}
		got, ok := canonicalPlain(raw)
		if !ok {
			continue
		}
		plain++
		want, err := canonical(raw)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q, %v", raw, got, want, err)
		}
	}
	if plain < 1000 {
		t.Errorf("only %d were converted", plain)
	}
}
