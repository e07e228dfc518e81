package person

import (
	"fmt"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// app is the client app in which people answer.
type app interface {
	typed(h *Hands, who string, at sandbox.Place, label, text string) sandbox.Reaction
	retyped(h *Hands, who string, at sandbox.Place, label, text string, refused sandbox.Reaction) sandbox.Reaction
	choose(h *Hands, who string, at sandbox.Place, w bridge.Widget, labels []string) sandbox.Reaction
	chooseFrom(h *Hands, who string, at sandbox.Place, options int, label string) sandbox.Reaction
	answer(h *Hands, who string, at sandbox.Place, fields []Field)
}

var apps = map[string]app{"slack": slack{}, "discord": discord{}, "telegram": telegram{}}

// submits returns the label of the control that submits options.
func submits(w bridge.Widget) string {
	switch w {
	case bridge.WidgetActionSelection:
		return "Continue"
	case bridge.WidgetSelect:
		return "OK"
	}
	return "Submit"
}

// slack is an app with inputs on the card and modals.
type slack struct{}

// typed implements app: people type texts into a modal, whose inputs check
// them.
func (slack) typed(h *Hands, who string, at sandbox.Place, label, text string) sandbox.Reaction {
	h.T.Helper()
	opened, at := h.Open(who, at, label)
	if opened.Modal == "" {
		return opened
	}
	return h.does(who, at, func() (sandbox.Reaction, error) {
		reaction, err := h.Sandbox.Person(who).Fill(h.Ctx, at.Service, opened.Modal, []string{text})
		if err != nil { // the input itself rejects the text
			reaction.Errors = map[string]string{"": err.Error()}
		}
		if len(reaction.Errors) > 0 {
			reaction.Modal = opened.Modal
		}
		return reaction, nil
	})
}

// retyped implements app: the modal is still open.
func (slack) retyped(h *Hands, who string, at sandbox.Place, _, text string, refused sandbox.Reaction) sandbox.Reaction {
	h.T.Helper()
	return h.Refill(who, at.Service, refused.Modal, []string{text})
}

// choose implements app: the input is on the card.
func (slack) choose(h *Hands, who string, at sandbox.Place, w bridge.Widget, labels []string) sandbox.Reaction {
	h.T.Helper()
	return h.Pick(who, at, labels, submits(w))
}

// chooseFrom implements app: a long list is in a modal.
func (slack) chooseFrom(h *Hands, who string, at sandbox.Place, _ int, label string) sandbox.Reaction {
	h.T.Helper()
	return h.Fill(who, at, "Choose", []string{label})
}

// answer implements app: all fields are in one modal.
func (slack) answer(h *Hands, who string, at sandbox.Place, fields []Field) {
	h.T.Helper()
	if reaction := h.Fill(who, at, "Answer", values(fields)...); len(reaction.Errors) > 0 {
		h.T.Errorf("the form is refused: %v", reaction.Errors)
	}
}

// discord is an app with selects on the card and modals of five fields.
type discord struct{}

// inModal is the maximum number of fields of a modal.
const inModal = 5

// typed implements app: people type texts into a modal.
func (discord) typed(h *Hands, who string, at sandbox.Place, label, text string) sandbox.Reaction {
	h.T.Helper()
	return h.Fill(who, at, label, []string{text})
}

// retyped implements app: an ephemeral reply opens the modal again.
func (d discord) retyped(h *Hands, who string, at sandbox.Place, label, text string, _ sandbox.Reaction) sandbox.Reaction {
	h.T.Helper()
	if again, ok := h.private(who, at, "Continue"); ok {
		at, label = again, "Continue"
	}
	return d.typed(h, who, at, label, text)
}

// private returns the newest ephemeral message from a person, if it has a
// control.
func (h *Hands) private(who string, card sandbox.Place, label string) (sandbox.Place, bool) {
	places := h.Sandbox.Person(who).PrivatePlaces(card.Service)
	if len(places) == 0 || !h.Offers(places[len(places)-1], label) {
		return sandbox.Place{}, false
	}
	at := places[len(places)-1]
	h.Watch.belongs(at, card)
	return at, true
}

// choose implements app: a select is on the card, and other inputs are in a
// modal.
func (discord) choose(h *Hands, who string, at sandbox.Place, w bridge.Widget, labels []string) sandbox.Reaction {
	h.T.Helper()
	if w == bridge.WidgetSelect {
		return h.Pick(who, at, labels, submits(w))
	}
	return h.Fill(who, at, "Choose", labels)
}

// chooseFrom implements app: a select has 25 options.
func (discord) chooseFrom(h *Hands, who string, at sandbox.Place, options int, label string) sandbox.Reaction {
	h.T.Helper()
	const inSelect = 25
	opener := "Choose"
	if first := inModal * inSelect; options > first {
		opener, options = fmt.Sprint("Choose ", first+1), options-first
	}
	fields := make([][]string, (options+inSelect-1)/inSelect-1)
	return h.Fill(who, at, opener, append(fields, []string{label})...)
}

// answer implements app: an ephemeral message leads from one modal to the next.
func (discord) answer(h *Hands, who string, at sandbox.Place, fields []Field) {
	h.T.Helper()
	pages := slices.Collect(slices.Chunk(fields, inModal))
	label := "Answer"
	for n, page := range pages {
		if n > 0 {
			label = fmt.Sprintf("Continue (%d of %d)", n+1, len(pages))
			card := at
			h.Eventually("the form goes on with "+label, func() (ok bool) {
				at, ok = h.private(who, card, label)
				return ok
			})
		}
		h.Fill(who, at, label, values(page)...)
	}
	if len(pages) > 1 {
		h.Press(who, at, "Submit")
	}
}

// telegram is an app with buttons and replies to prompts.
type telegram struct{}

// typed implements app: people reply to a prompt with the text.
func (t telegram) typed(h *Hands, who string, at sandbox.Place, label, text string) sandbox.Reaction {
	h.T.Helper()
	h.Open(who, at, label)
	return t.retyped(h, who, at, label, text, sandbox.Reaction{})
}

// retyped implements app: people reply to the same prompt again.
func (telegram) retyped(h *Hands, who string, at sandbox.Place, _, text string, _ sandbox.Reaction) sandbox.Reaction {
	h.T.Helper()
	return h.does(who, sandbox.Place{}, func() (reaction sandbox.Reaction, err error) {
		h.Eventually("the prompt is there", func() bool {
			reaction, err = h.Sandbox.Person(who).Reply(h.Ctx, at.Channel, text)
			return err == nil
		})
		return reaction, err
	})
}

// choose implements app: each option is a button.
func (telegram) choose(h *Hands, who string, at sandbox.Place, w bridge.Widget, labels []string) sandbox.Reaction {
	h.T.Helper()
	for _, l := range labels {
		h.Press(who, at, l)
	}
	if w == bridge.WidgetCheckbox {
		return h.Press(who, at, render.LabelSubmit)
	}
	return h.Press(who, at, submits(w))
}

// chooseFrom implements app: a reply with the name of an option finds its page.
func (t telegram) chooseFrom(h *Hands, who string, at sandbox.Place, _ int, label string) sandbox.Reaction {
	h.T.Helper()
	h.Reply(who, at, label)
	h.Has(at, label)
	return t.choose(h, who, at, bridge.WidgetSelect, []string{label})
}

// answer implements app: the card asks for one field at a time.
func (t telegram) answer(h *Hands, who string, at sandbox.Place, fields []Field) {
	h.T.Helper()
	for n, f := range fields {
		h.Says(at, fmt.Sprintf("%d/%d", n+1, len(fields)))
		switch {
		case len(f.Values) == 0:
			h.Press(who, at, "Skip")
		case f.Widget == bridge.WidgetConfirm:
			h.Press(who, at, f.Values[0])
		case f.Widget == bridge.WidgetRadio || f.Widget == bridge.WidgetCheckbox:
			for _, l := range f.Values {
				h.Press(who, at, l)
			}
			h.Press(who, at, "Next")
		default:
			t.typed(h, who, at, "Answer", f.Values[0])
		}
	}
	h.Says(at, "Check and submit")
	h.Press(who, at, "Submit")
}
