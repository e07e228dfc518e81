package render

import (
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// notable matches web addresses, and times in the format of [When].
var notable = lazyregexp.New(`https?://[^\s<>"]+|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC`)

// Noted returns a text for a person as spans. Web addresses become links, which
// always show their address. Times become local times.
func Noted(s string) []Span {
	var out []Span
	for {
		at := notable.FindStringIndex(s)
		if at == nil {
			break
		}
		found := Span{Text: s[at[0]:at[1]]}
		if strings.HasPrefix(found.Text, "http") {
			found.Text = strings.TrimRight(found.Text, ".,;:!?)'")
			found.URL = found.Text
		} else {
			found.Time, found.Exact = parseWhen(found.Text)
		}
		if at[0] > 0 {
			out = append(out, Span{Text: s[:at[0]]})
		}
		out = append(out, found)
		s = s[at[0]+len(found.Text):]
	}
	if s != "" || out == nil {
		out = append(out, Span{Text: s})
	}
	return out
}

// timed matches the same texts as notable, with the word before a time.
var timed = lazyregexp.New(`https?://[^\s<>"]+|(?:(at|until) )?(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC)`)

// Relative returns a text in which times are relative to now, for platforms
// that cannot show the reader's time zone.
func Relative(s string, now time.Time) string {
	return timed.ReplaceAllStringFunc(s, func(found string) string {
		parts := timed.FindStringSubmatch(found)
		unix, exact := parseWhen(parts[2])
		if unix == 0 {
			return found
		}
		d := time.Unix(unix, 0).Sub(now)
		if !exact { // a time in the future, without seconds
			d = max(d+30*time.Second, 1)
		}
		away := distance(max(d, -d))
		switch {
		case d <= 0:
			return away + " ago"
		case parts[1] == "until":
			return "for " + away
		}
		return "in " + away
	})
}

// distance returns a duration for people. A long one has no seconds.
func distance(d time.Duration) string {
	switch {
	case d < time.Second/2:
		return "a moment"
	case d >= 48*time.Hour:
		d = d.Round(24 * time.Hour)
	case d >= 2*time.Minute:
		d = d.Round(time.Minute)
	}
	return bridge.Brief(d)
}

// parseWhen returns the Unix time of a text, or zero if it is not a time, and
// reports whether it has seconds.
func parseWhen(s string) (unix int64, exact bool) {
	for _, layout := range []string{whenFormat, exactFormat} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Unix(), layout == exactFormat
		}
	}
	return 0, false
}

// Formats of the times that [Noted] finds.
const (
	whenFormat  = "2006-01-02 15:04 UTC"
	exactFormat = "2006-01-02 15:04:05 UTC"
)

// When returns a time in the format that [Noted] finds.
func When(t time.Time) string { return t.UTC().Format(whenFormat) }

// WhenExact returns a time to the second in the format that [Noted] finds.
func WhenExact(t time.Time) string { return t.UTC().Format(exactFormat) }
