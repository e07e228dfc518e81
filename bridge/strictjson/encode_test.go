package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge/strictjson"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// TestEncode checks that whatever Encode accepts is read back byte for byte, and
// that everything else is refused with its place.
func TestEncode(t *testing.T) {
	t.Parallel()
	type value struct {
		Argv []string          `json:"argv"`
		Env  map[string]string `json:"env,omitempty"`
		Raw  json.RawMessage   `json:"raw,omitempty"`
	}
	for _, c := range []struct {
		name string
		in   any
		want string
	}{
		{"argument", value{Argv: []string{"a", "s\xff"}}, "argv.1: is not valid UTF-8"},
		{"half a character", value{Argv: []string{"\xe2\x80"}}, "argv.0: is not valid UTF-8"},
		{"surrogate", value{Argv: []string{"\xed\xa0\x80"}}, "argv.0: is not valid UTF-8"},
		{"value", value{Env: map[string]string{"A": "\xff"}}, "env.A: is not valid UTF-8"},
		{"text", "\xff", "is not valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw, err := strictjson.Encode(c.in)
			if err == nil || err.Error() != c.want {
				t.Errorf("%s, %v, want %s", raw, err, c.want)
			}
		})
	}
	for _, in := range []any{value{Raw: json.RawMessage("\"\xff\"")}, map[string]string{"\xff": ""}} {
		if raw, err := strictjson.Encode(in); err == nil {
			t.Errorf("%q is encoded as %s", in, raw)
		}
	}
}

// TestEncodeProperty checks random argument lists, as an operating system passes
// them on.
func TestEncodeProperty(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	for range 5000 {
		in, invalid := make([]string, r.IntN(4)), -1
		for n := range in {
			in[n] = randomText(r)
			if invalid < 0 && !utf8.ValidString(in[n]) {
				invalid = n
			}
		}
		raw, err := strictjson.Encode(in)
		if (err == nil) != (invalid < 0) {
			t.Fatalf("%q: %s, %v", in, raw, err)
		}
		if e, ok := errors.AsType[*strictjson.Error](err); ok && e.Path != strconv.Itoa(invalid) {
			t.Fatalf("%q: refused at %q, want %d", in, e.Path, invalid)
		}
		if err != nil {
			continue
		}
		var out []string
		if err := strictjson.Decode(raw, &out); err != nil {
			t.Fatalf("%q: %s: %v", in, raw, err)
		}
		for n := range in {
			if !bytes.Equal([]byte(in[n]), []byte(out[n])) {
				t.Fatalf("%q is read back as %q", in, out)
			}
		}
	}
}

// randomText returns text, random bytes, and runes that encoders treat in a
// special way.
func randomText(r *rand.Rand) string {
	var b []byte
	for range r.IntN(6) {
		switch r.IntN(3) {
		case 0:
			b = append(b, byte(r.IntN(256)))
		case 1:
			b = utf8.AppendRune(b, []rune{0, 0x1f, '"', '\\', '<', 0x7f, 0x85, 0x2028, 0xfffd, 0xfeff, utf8.MaxRune}[r.IntN(11)])
		default:
			b = append(b, "abc"...)
		}
	}
	return string(b)
}
