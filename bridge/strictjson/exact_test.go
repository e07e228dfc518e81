package strictjson_test

import (
	"errors"
	"testing"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// TestExact checks that a number is accepted if and only if every parser that
// uses doubles reads exactly the number that was written.
func TestExact(t *testing.T) {
	t.Parallel()
	exact := strictjson.Limits{Exact: true}
	for _, in := range []string{"0", "-0", "0e999999", "1.0", "100e-2", "1E2", "0.1", "1e23", "5e-324", "-1.7976931348623157e+308", `{"a":[0.5]}`} {
		if err := exact.Check([]byte(in)); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, want := range map[string]string{
		"12345678901234567890":      "the number 12345678901234567890 is not exact in double precision",
		`{"a":[{"b":1e400}]}`:       "a.0.b: the number 1e400 is not exact in double precision",
		`[0,0.1000000000000000055]`: "1: the number 0.1000000000000000055 is not exact in double precision",
		"9007199254740993.0e0":      "the number 9007199254740993.0e0 is not exact in double precision",
		"1e-400":                    "the number 1e-400 is not exact in double precision",
	} {
		err := exact.Check([]byte(in))
		if err == nil || err.Error() != want || !errors.Is(err, strictjson.ErrInexact) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
		if err := strictjson.Check([]byte(in)); err != nil {
			t.Errorf("%s, with inexact numbers allowed: %v", in, err)
		}
	}
}
