package bridge

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge/timespan"
)

// Duration is a time.Duration that is written as a string such as "5m" in JSON.
// A bare number is in seconds.
type Duration time.Duration

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	s, plain := plainString(b)
	if !plain {
		if n, err := strconv.ParseFloat(string(b), 64); err == nil {
			*d = Duration(n * float64(time.Second))
			return nil
		}
		if err := json.Unmarshal(b, &s); err != nil {
			return Errorf(CodeInvalid, "duration: must be a string such as \"5m\" or a number of seconds")
		}
	}
	v, err := timespan.Parse(s)
	if err != nil {
		return Errorf(CodeInvalid, "duration: invalid %q (such as %s)", s, timespan.Examples)
	}
	*d = Duration(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler, for YAML.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := timespan.Parse(string(b))
	*d = Duration(v)
	return err
}

// plainString returns the text of a JSON string of printable ASCII without
// escapes. It reports false for any other value.
func plainString(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", false
	}
	b = b[1 : len(b)-1]
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(b), true
}
