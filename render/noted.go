package render

import (
	"regexp"
	"strings"
	"time"
)

// notable finds addresses of the web, and times in the format of [When].
var notable = regexp.MustCompile(`https?://[^\s<>"]+|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC`)

// Noted returns a text that tells a person something. Addresses of the web are
// links, which never show anything but their address, and times are shown in the
// reader's zone.
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

// InZone returns a text with its times in a time zone, for places that cannot
// show the reader's. An unknown zone and an empty one mean UTC.
func InZone(s, zone string) string {
	place, err := time.LoadLocation(zone)
	if err != nil || place == time.UTC {
		return s
	}
	return notable.ReplaceAllStringFunc(s, func(found string) string {
		unix, exact := parseWhen(found)
		switch {
		case unix == 0:
			return found
		case exact:
			return time.Unix(unix, 0).In(place).Format("2006-01-02 15:04:05 MST")
		}
		return time.Unix(unix, 0).In(place).Format("2006-01-02 15:04 MST")
	})
}

// parseWhen returns the Unix time of a text, or zero if there is no such time, and
// whether the text has seconds.
func parseWhen(s string) (unix int64, exact bool) {
	for _, layout := range []string{whenFormat, exactFormat} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Unix(), layout == exactFormat
		}
	}
	return 0, false
}

// Formats of times in texts that [Noted] reads.
const (
	whenFormat  = "2006-01-02 15:04 UTC"
	exactFormat = "2006-01-02 15:04:05 UTC"
)

// When returns a time for a text that [Noted] reads.
func When(t time.Time) string { return t.UTC().Format(whenFormat) }

// WhenExact returns a time to the second for a text that [Noted] reads.
func WhenExact(t time.Time) string { return t.UTC().Format(exactFormat) }
