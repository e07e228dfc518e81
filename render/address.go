package render

import (
	"regexp"
	"strings"
)

var address = regexp.MustCompile(`https?://[^\s<>"]+`)

// Linked returns a text in which addresses of the web are links. A link never
// shows anything but its address.
func Linked(s string) []Span {
	var out []Span
	for {
		at := address.FindStringIndex(s)
		if at == nil {
			break
		}
		url := strings.TrimRight(s[at[0]:at[1]], ".,;:!?)'")
		if at[0] > 0 {
			out = append(out, Span{Text: s[:at[0]]})
		}
		out = append(out, Span{Text: url, URL: url})
		s = s[at[0]+len(url):]
	}
	if s != "" || out == nil {
		out = append(out, Span{Text: s})
	}
	return out
}
