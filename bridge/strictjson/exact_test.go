package strictjson_test

import (
	"errors"
	"testing"

	"github.com/nodbridge/nod/bridge/strictjson"
)

// TestExact checks that a number passes if and only if every reader that keeps
// doubles finds the number that was written.
func TestExact(t *testing.T) {
	t.Parallel()
	exact := strictjson.Limits{Exact: true}
	for _, in := range []string{"0", "-0", "0e999999", "1.0", "100e-2", "1E2", "0.1", "1e23", "5e-324", "-1.7976931348623157e+308", `{"a":[0.5]}`} {
		if err := exact.Check([]byte(in)); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
	for in, want := range map[string]string{
		"12345678901234567890":      "the number 12345678901234567890 cannot be kept exactly",
		`{"a":[{"b":1e400}]}`:       "a.0.b: the number 1e400 cannot be kept exactly",
		`[0,0.1000000000000000055]`: "1: the number 0.1000000000000000055 cannot be kept exactly",
		"9007199254740993.0e0":      "the number 9007199254740993.0e0 cannot be kept exactly",
		"1e-400":                    "the number 1e-400 cannot be kept exactly",
	} {
		err := exact.Check([]byte(in))
		if err == nil || err.Error() != want || !errors.Is(err, strictjson.ErrInexact) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
		if err := strictjson.Check([]byte(in)); err != nil {
			t.Errorf("%s, if numbers need not be exact: %v", in, err)
		}
	}
}
