package timespan

import (
	"testing"
	"time"
)

// TestParse checks days and weeks, and that other durations read as before.
func TestParse(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0": 0, "-5m": -5 * time.Minute, "1.5h": 90 * time.Minute,
		"250ms": 250 * time.Millisecond,
		"30d":   720 * time.Hour, "2w": 336 * time.Hour, "1w2d": 216 * time.Hour, "1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour,
		"-1d": -24 * time.Hour, "1w1h": 169 * time.Hour, "0d": 0,
	} {
		if got, err := Parse(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "w", "1", "1d2w", "1d1d", "1d-1h", "1d+1h", "1d2", "1 d", "30D", "1e3d", "1y", "999999999w",
		"106751d", "106000d99999999h", "d1h", "--1d", "1h1d", "NaNd", ".d"} {
		if got, err := Parse(s); err == nil {
			t.Errorf("%q: %v, want an error", s, got)
		}
	}
}

// TestFormat checks that a duration has no trailing zero parts, and that Parse
// reads it again.
func TestFormat(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 250 * time.Millisecond: "250ms", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", -5 * time.Minute: "-5m",
		time.Hour: "1h", 90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 20 * time.Hour: "20h", 2 * Week: "336h",
	} {
		got := Format(d)
		if again, err := Parse(got); got != want || err != nil || again != d {
			t.Errorf("%s is %q, and again %s, %v; want %q", d, got, again, err, want)
		}
	}
}
