package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// namer writes the names of people and groups in a line, and mentions them if
// possible.
type namer struct {
	left []bridge.Mention // not yet in the line
	of   bridge.Placement // has the display names
	out  []Span
}

// text adds a text.
func (n *namer) text(s string) {
	if last := len(n.out) - 1; last >= 0 && n.out[last].Mention == nil && n.out[last].Time == 0 {
		n.out[last].Text += s
		return
	}
	n.out = append(n.out, Span{Text: s})
}

// names adds the names of people or groups. The text last precedes the last
// name.
func (n *namer) names(names []string, groups bool, last string) {
	for k, name := range names {
		switch {
		case k == 0:
		case k == len(names)-1:
			n.text(last)
		default:
			n.text(", ")
		}
		at := slices.IndexFunc(n.left, func(m bridge.Mention) bool {
			if m.Group != "" {
				return groups && m.Name == name
			}
			return !groups && m.Person == name
		})
		if at < 0 {
			n.text(Line(n.of.NameOf(name)))
			continue
		}
		n.mention(n.left[at])
		n.left = slices.Delete(n.left, at, at+1)
	}
}

// some adds the people that a line names before groups. If there are many, it
// adds their number.
func (n *namer) some(who []string) {
	switch {
	case len(who) > maxWaiting:
		n.text(strconv.Itoa(len(who)) + " people, ")
	case len(who) > 0:
		n.names(who, false, ", ")
		n.text(", ")
	}
}

func (n *namer) mention(m bridge.Mention) {
	n.out = append(n.out, Span{Text: Line(m.Name), Mention: &m})
}

// rest adds the mentions that are not in the line yet.
func (n *namer) rest() {
	for k, m := range n.left {
		if k == 0 {
			n.text(" · ")
		} else {
			n.text(", ")
		}
		n.mention(m)
	}
	n.left = nil
}

// Reminds is the start of a reminder.
const Reminds = "⏰ "

// Remind returns the text of a reminder. It starts with who: mentions in the
// markup of a platform.
func Remind(who []string, text string) string {
	if len(who) == 0 {
		return Reminds + text
	}
	return Reminds + strings.Join(who, ", ") + ": " + text
}
