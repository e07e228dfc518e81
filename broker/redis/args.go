package redis

import (
	"strconv"
	"time"
)

// args builds the keys and arguments of do.lua, which its header describes.
type args struct{ keys, argv []string }

func (a *args) key(name string)      { a.keys = append(a.keys, name) }
func (a *args) add(values ...string) { a.argv = append(a.argv, values...) }
func (a *args) time(t time.Time)     { a.add(optionalMillis(t)) }

// ttl adds a time to live. It is at least 1 ms unless the document never
// expires.
func (a *args) ttl(d time.Duration) {
	if d != 0 {
		d = max(d, time.Millisecond)
	}
	a.add(optional(d.Milliseconds()))
}

// optional returns a number, or "" for 0.
func optional(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// optionalMillis returns a time in milliseconds, or "" for the zero time.
func optionalMillis(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// millis reads a time that a script or Redis returned.
func millis(s string) time.Time {
	n, _ := strconv.ParseInt(s, 10, 64) // only scripts and Redis write the value
	return time.UnixMilli(n).UTC()
}
