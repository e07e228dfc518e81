package telegrammsg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TakesReplies reports whether a reply to the card of a pending request with a
// single question is an answer, or searches for an option. It returns false for
// a later round, because the reply may be meant for the earlier question.
func TakesReplies(i bridge.Interaction) bool {
	q, lone := i.Lone()
	return lone && !i.LonePlan() && i.Round <= 1 && (q.FreeText() || len(q.Options) > perPage)
}

// Marks of messages that ask for a text: a phrase of prompts, and the start of
// a button label. A card that asks for a text has only the button, but accepts
// replies too.
const (
	invites = "reply to this message"
	typing  = "✍️ "
)

// Invites reports whether a message of nod asks for a text, by its text and
// buttons.
func Invites(text string, buttons []string) bool {
	return strings.Contains(strings.ToLower(text), invites) ||
		slices.ContainsFunc(buttons, func(label string) bool { return strings.HasPrefix(label, typing) })
}

// hint returns the line that describes the expected answer, or how to find an
// option. It returns nil if neither applies.
func hint(v bridge.View) []render.Span {
	i := v.Record.Interaction
	q, lone := i.Lone()
	switch {
	case v.Waiting || !lone || i.LonePlan():
	case q.FreeText():
		if rule := render.Format(q); rule != "" {
			return []render.Span{{Text: "Format: "}, {Text: rule, Code: q.Example() != "" && q.Widget != bridge.WidgetNumber}}
		}
	case TakesReplies(i):
		return []render.Span{{Text: strconv.Itoa(len(q.Options)) + " choices, " + strconv.Itoa(perPage) + " a page. To find one, " + invites + " with the start of its name."}}
	}
	return nil
}

// PageOf returns the page of a list that shows an option.
func PageOf(option int) int { return option / perPage }

// Find returns the options whose name starts with a text, ignoring case. If an
// option has exactly this name, Find returns only that option.
func Find(q bridge.Question, text string) []int {
	text = strings.ToLower(render.Line(text))
	var found []int
	for n, o := range q.Options {
		name := strings.ToLower(render.Line(o.Text()))
		if name == text {
			return []int{n}
		}
		if text != "" && strings.HasPrefix(name, text) {
			found = append(found, n)
		}
	}
	return found
}
