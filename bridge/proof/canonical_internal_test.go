package proof

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// seeds are texts of which most are converted in one pass.
var seeds = []string{
	`{"b":1,"a":{"d":[1,-2,{"z":0,"y":null}],"c":"x\n\"\\"},"é":true}`,
	`{"kind":"approval","prompt":"Deploy?","approval":{"tool":"bash","input":{"command":"ls -l | grep \"a\"","n":15}}}`,
	` { "a" : [ ] , "b" : { } , "aa" : "日本" , "a " : false } `,
	`{"a\"b":1,"a!b":2,"A":123456789012345,"B":-0,"C":1234567890123456,"D":1.0,"E":1e3}`,
}

// parts are texts that change how another text is converted.
var parts = []string{
	`"a":1,`, `"a"`, `,`, `:`, `{`, `}`, `[`, `]`, `"`, `\`, `\u0061`, `\/`, "\x00", "\x1f", "\x7f", "\xff", "é", "\u2028", `-`, `0`, `01`, `.5`, `e9`,
	` `, "\n", "\v", `null`, `tru`, `true`, `{"x":1,"x":2}`, `{"y":1,"x":{"b":1,"a":2}}`, strings.Repeat("[", 70) + strings.Repeat("]", 70),
}

// TestCanonicalPlain checks that the conversion in one pass gives the same result
// as the other, and converts nothing that the other rejects.
func TestCanonicalPlain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	plain, left := 0, 0
	for range 60_000 {
		raw := seeds[r.IntN(len(seeds))]
		for range r.IntN(4) {
			at := r.IntN(len(raw) + 1)
			to := min(len(raw), at+r.IntN(3))
			raw = raw[:at] + parts[r.IntN(len(parts))] + raw[to:]
		}
		got, ok := canonicalPlain([]byte(raw))
		if !ok {
			left++
			continue
		}
		plain++
		if want, err := canonical([]byte(raw)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q, %v", raw, got, want, err)
		}
	}
	if plain < 5000 || left < 5000 {
		t.Errorf("%d in one pass, %d not", plain, left)
	}
}

// FuzzCanonicalPlain is TestCanonicalPlain for any text.
func FuzzCanonicalPlain(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := canonicalPlain(raw)
		if !ok {
			return
		}
		if want, err := canonical(raw); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %q\nwant %q, %v", got, want, err)
		}
	})
}

func BenchmarkCanonical(b *testing.B) {
	raw := []byte(seeds[1])
	for name, convert := range map[string]func([]byte) ([]byte, error){"plain": Canonical, "every": canonical} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := convert(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
