package telegrammsg

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Toast returns the text of the answer to a click, which Telegram shows at the
// top of the screen.
func Toast(s string) string { return render.Cut(render.Clean(s), maxNote, render.Runes) }

// FitsToast reports whether the answer to a click can hold a text.
func FitsToast(s string) bool { return render.Runes(render.Clean(s)) <= maxNote }

// Whisper returns a message for one member of a group. An older server would
// show it to everyone, but refuses its disabled button. Never send it without
// the button.
func Whisper(s string) Message {
	m := Reply(s)
	m.Keyboard = [][]Button{{disabled("Only you can see this", "")}}
	return m
}

// Reply returns a short message without formatting. A line that names a card ends with
// a link that opens it.
func Reply(s string) Message {
	w := &writer{}
	for n, line := range strings.Split(render.Cut(unlinked(render.Clean(s)), maxText, render.Runes), "\n") {
		if n > 0 {
			w.add("\n")
		}
		said, address := render.Entry(line)
		w.spans(render.Noted(said), false)
		if address != "" {
			w.add(" · ")
			w.link(render.LabelOpen, address)
		}
	}
	return w.message()
}

// Offer is Reply with a button that opens a link.
func Offer(s, link string) Message {
	m := Reply(s)
	m.Keyboard = [][]Button{{{Text: bridge.LabelSign, URL: link}}}
	return m
}

// Prompt is a message that asks one person for a reply.
type Prompt struct {
	Message
	Placeholder string // for the person's input
}

// NewPrompt returns the prompt for a form. It mentions the user, so that the
// input opens only for that user.
func NewPrompt(f bridge.Form, user int64, name string) Prompt {
	ask, placeholder := wanted(f)
	w := &writer{}
	if text := render.Typed(f).Text; f.Control.Option == bridge.OptionDecide && len(text) > 0 {
		w.blocks(text, "")
		w.add("\n")
	}
	w.notify(cmp.Or(render.Line(name), "You"), user)
	w.add(", " + ask)
	if exact := exactly(f); exact != "" {
		w.add(": ")
		w.add(exact, "bold") // no period, which would look like a part of the text
	} else {
		w.add(".")
	}
	return Prompt{w.message(), render.Cut(render.Line(placeholder), maxPlaceholder, render.Runes)}
}

// wanted returns the instruction for answering a form, and an example of an
// answer.
func wanted(f bridge.Form) (ask, placeholder string) {
	switch f.Control.Option {
	case bridge.OptionReason, bridge.OptionEdit, bridge.OptionConfirm, bridge.OptionDecide, bridge.OptionMessage:
		t := render.Typed(f)
		return t.Ask, t.Label
	case bridge.OptionForm:
		q := render.Fields(f.View.Record.Interaction)[f.Control.Question]
		ask = "reply to this message with your answer"
		if q.Text != "" {
			ask += ": " + render.Cut(render.Line(q.Text), maxAsked, render.Runes)
		}
		if q.Example() != "" {
			ask += " (" + q.Example() + ")"
		}
		return ask, cmp.Or(q.Placeholder, q.Example(), render.TitleAnswer)
	}
	return "reply to this message with your answer", render.TitleAnswer
}

// exactly returns the only text that a form accepts, if there is one.
func exactly(f bridge.Form) string {
	if o := f.Control.Option; o == bridge.OptionConfirm || o == bridge.OptionDecide {
		return render.Typed(f).Exact
	}
	return ""
}

// Reminder returns a message that mentions the users with these IDs.
func Reminder(r bridge.Reminder) Message {
	w := &writer{}
	w.add(render.Reminds)
	for n, u := range r.Users {
		id, err := strconv.ParseInt(u, 10, 64)
		if err != nil {
			continue
		}
		if len(w.entities) > 0 {
			w.add(", ")
		}
		name := "👤"
		if n < len(r.Names) {
			name = cmp.Or(render.Line(r.Names[n]), name)
		}
		w.notify(name, id)
	}
	if len(w.entities) > 0 {
		w.add(": ")
	}
	w.spans(render.Noted(render.Cut(render.Clean(r.Text), maxText/2, render.Runes)), false)
	return w.message()
}
