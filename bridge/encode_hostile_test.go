package bridge

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// hostileRaw holds texts that an agent may send as JSON, and some that are not JSON.
var hostileRaw = []string{
	"", " ", "{", "}", "nul", "01", "1e999", "-0", "123456789012345678901234567890.10", "\"\\ud800\"", "\"\xff\"", "\"\u2028<>&\"", "[1,]",
	`{"a":1,"a":2}`, " { \"a\" :\t[ ] ,\r\n\"\\u0061\":{}}\n", `"\u003c"`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001), "null", "1 2", "\ufeff1",
}

// hostileText returns random bytes, runes around the borders of encodings, or
// both.
func hostileText(r *rand.Rand) string {
	var b []byte
	for range r.IntN(9) {
		switch r.IntN(4) {
		case 0:
			b = append(b, byte(r.IntN(256)))
		case 1:
			b = utf8.AppendRune(b, []rune{0, 0x1f, 0x20, 0x7f, 0x80, 0x7ff, 0x800, 0x2027, 0x2028, 0x2029, 0x202a, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, utf8.MaxRune}[r.IntN(17)])
		case 2:
			b = append(b, "\xe2\x80"...) // the start of U+2028
		default:
			b = append(b, `<>&"\/'`[r.IntN(7)])
		}
	}
	return string(b)
}

// spoil replaces what fill has chosen with hostile values.
func spoil(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		at := []time.Time{time.Unix(math.MaxInt32*100, 0), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.FixedZone("", 86399)), time.Unix(1, 1)}
		if r.IntN(30) == 0 {
			v.Set(reflect.ValueOf(at[r.IntN(len(at))]))
		}
		return
	case reflect.TypeFor[json.RawMessage]():
		if r.IntN(6) == 0 {
			v.SetBytes([]byte(hostileRaw[r.IntN(len(hostileRaw))]))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText(r))
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, math.MaxInt64, math.MinInt64, 1 << 53, -1}[r.IntN(5)])
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(r, v.Elem())
		}
	case reflect.Slice:
		for k := range v.Len() {
			spoil(r, v.Index(k))
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Field(n).CanSet() {
				spoil(r, v.Field(n))
			}
		}
	}
}

// TestEncodeHostile checks that nod encodes hostile values as encoding/json does,
// and rejects the same ones.
func TestEncodeHostile(t *testing.T) {
	t.Parallel()
	r := seed.Rand(t)
	refused, accepted := 0, 0
	for range 1200 {
		var rec Record
		fill(r, reflect.ValueOf(&rec).Elem(), 3)
		spoil(r, reflect.ValueOf(&rec).Elem())
		for _, html := range []bool{false, true} {
			got, err := encode(&rec, html)
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			wrong := enc.Encode(flatRecord(rec))
			switch want := bytes.TrimSuffix(b.Bytes(), []byte("\n")); {
			case (err == nil) != (wrong == nil):
				t.Fatalf("%v, want %v", err, wrong)
			case err != nil:
				refused++
			case !bytes.Equal(got, want):
				t.Fatalf("%s\nwant\n%s", got, want)
			default:
				accepted++
			}
		}
	}
	if refused < 100 || accepted < 100 {
		t.Errorf("%d refused, %d accepted", refused, accepted)
	}
}

// FuzzEncodeText checks that a string is encoded as encoding/json does.
func FuzzEncodeText(f *testing.F) {
	for _, s := range []string{"", "a", "<\u2028\xff", "\x00\x1f\x7f\x80\xc0", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x80\xa8\xe2\x80"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, html bool) {
		if got, want := appendText(nil, s, html), plainly(t, s, html); !bytes.Equal(got, want) {
			t.Fatalf("%q: %s, want %s", s, got, want)
		}
	})
}
