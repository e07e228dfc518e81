package telegrammsg

import (
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// TakesReplies reports whether a reply to the card of a pending request with a
// single question is an answer, or finds an option. A card of a later round
// takes none: a reply may have been written for the earlier question.
func TakesReplies(i bridge.Interaction) bool {
	q, lone := i.Lone()
	return lone && !i.LonePlan() && i.Round <= 1 && (q.FreeText() || len(q.Options) > perPage)
}

const invites = "Reply to this message"

// Invites reports whether the text of a message of nod asks for replies.
func Invites(text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(invites))
}

// invitation returns the line that says what a reply to the card does, or nil.
func invitation(v bridge.View) []render.Span {
	i := v.Record.Interaction
	if v.Waiting || !TakesReplies(i) {
		return nil
	}
	const invite = invites + " with your answer"
	q, _ := i.Lone()
	switch example := q.Example(); {
	case !q.FreeText():
		number := strconv.Itoa(len(q.Options)) + " choices, " + strconv.Itoa(perPage) + " a page. "
		return []render.Span{{Text: number + "Or " + strings.ToLower(invites[:1]) + invites[1:] + " with the start of a name."}}
	case example != "":
		return []render.Span{{Text: invite + ": "}, {Text: example, Code: true}, {Text: "."}}
	}
	return []render.Span{{Text: invite + "."}}
}

// PageOf returns the page of a list that shows an option.
func PageOf(option int) int { return option / perPage }

// Find returns the options whose name starts with a text, in any case. An option
// with exactly this name is the only one.
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
