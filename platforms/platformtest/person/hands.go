package person

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// Hands performs the actions of the people in a test: reading, clicking and
// typing in the app of each service. For a subtest, use a copy with another T.
type Hands struct {
	T       testing.TB
	Ctx     context.Context
	Sandbox *sandbox.Sandbox
	Base    string // address of the sandbox
	// Events are the sources of events: changes of the chats, and sources that the test adds.
	Events []await.Events
	// Faulty means that the test makes nod fail, so people repeat their
	// actions.
	Faulty bool
	// Watch records the actions of people and the messages that they have read.
	Watch *Watch

	failing   bool // nod does not record actions, and people do not repeat them
	elsewhere bool // actions do not change the card
}

// New returns hands without any recorded actions.
func New(t testing.TB, ctx context.Context, s *sandbox.Sandbox, base string, events ...await.Events) Hands {
	return Hands{T: t, Ctx: ctx, Sandbox: s, Base: base, Events: append(events, s.Changed), Watch: newWatch()}
}

// Eventually waits until ok returns true. It calls ok after each event.
func (h *Hands) Eventually(what string, ok func() bool) {
	h.T.Helper()
	await.Until(h.T, what, ok, h.Events...)
}

// Clear waits like Eventually until a check finds no problem.
func (h *Hands) Clear(check func() (problem string)) {
	h.T.Helper()
	await.Clear(h.T, check, h.Events...)
}

// does performs an action on a card, which nod must record. In a test that
// makes nod fail, the person repeats the action until nod records it.
func (h *Hands) does(who string, at sandbox.Place, do func() (sandbox.Reaction, error)) sandbox.Reaction {
	h.T.Helper()
	done := h.Watch.begins(h.Sandbox, who, at)
	if h.Faulty {
		once := do
		do = func() (sandbox.Reaction, error) { return Insist(await.Limit, once) }
	}
	reaction, err := do()
	if h.failing {
		return Answered(h.T, reaction, err)
	}
	if !h.elsewhere {
		done(reaction)
	}
	return Did(h.T, reaction, err)
}

// Elsewhere returns hands for actions that do not change their card, such as a
// message to a session.
func (h *Hands) Elsewhere() *Hands {
	other := *h
	other.elsewhere = true
	return &other
}

// Failing calls do while the test makes nod fail. People then act once, and may
// read that nod did not record the action.
func (h *Hands) Failing(do func()) {
	h.failing = true
	defer func() { h.failing = false }()
	do()
}

// Unrecorded clicks a control while the test makes nod fail, and checks that the
// person reads that nod did not record the click.
func (h *Hands) Unrecorded(who string, at sandbox.Place, label string) (reaction sandbox.Reaction) {
	h.T.Helper()
	h.Watch.expect(who, at.Service)
	h.Failing(func() { reaction = h.Press(who, at, label) })
	h.Told(who, at.Service, reaction, bridge.NoteNotRecorded)
	return reaction
}

// Press clicks a control as soon as the message has it.
func (h *Hands) Press(who string, at sandbox.Place, label string) sandbox.Reaction {
	h.T.Helper()
	h.Has(at, label)
	return h.does(who, at, func() (sandbox.Reaction, error) { return h.Sandbox.Person(who).Press(h.Ctx, at, label) })
}

// Pick chooses options of an input on the card itself, and submits them.
func (h *Hands) Pick(who string, at sandbox.Place, labels []string, submit string) sandbox.Reaction {
	h.T.Helper()
	return h.does(who, at, func() (sandbox.Reaction, error) { return h.Sandbox.Person(who).Pick(h.Ctx, at, labels, submit) })
}

// Fill clicks a control of a card or of its menu, and submits the form that it
// opens.
func (h *Hands) Fill(who string, at sandbox.Place, label string, fields ...[]string) sandbox.Reaction {
	h.T.Helper()
	at = h.reach(who, at, label)
	h.Has(at, label)
	p := h.Sandbox.Person(who)
	return h.does(who, at, func() (sandbox.Reaction, error) {
		return Form(
			func() (sandbox.Reaction, error) { return p.Press(h.Ctx, at, label) },
			func(modal string) (sandbox.Reaction, error) { return p.Fill(h.Ctx, at.Service, modal, fields...) })
	})
}

// Refill submits a form that is already open.
func (h *Hands) Refill(who, service, modal string, fields ...[]string) sandbox.Reaction {
	h.T.Helper()
	return h.does(who, h.Watch.opener(service, modal), func() (sandbox.Reaction, error) {
		return h.Sandbox.Person(who).Fill(h.Ctx, service, modal, fields...)
	})
}

// Command sends nod a command in a channel.
func (h *Hands) Command(who, service, channel, words string) sandbox.Reaction {
	h.T.Helper()
	return h.does(who, sandbox.Place{}, func() (sandbox.Reaction, error) {
		return h.Sandbox.Person(who).Command(h.Ctx, service, channel, words)
	})
}

// Reply replies to a message with a text.
func (h *Hands) Reply(who string, at sandbox.Place, text string) sandbox.Reaction {
	h.T.Helper()
	return h.does(who, sandbox.Place{}, func() (sandbox.Reaction, error) {
		return h.Sandbox.Act(h.Ctx, sandbox.Action{
			Service: at.Service, As: who, Do: "reply", Channel: at.Channel, Message: at.Message, Text: text,
		})
	})
}

// Typed answers with free text in the form that the service offers: in a modal,
// or in a reply to a prompt. If an input rejects the text, the reaction
// contains its error.
func (h *Hands) Typed(who string, at sandbox.Place, label, text string) sandbox.Reaction {
	h.T.Helper()
	return apps[at.Service].typed(h, who, at, label, text)
}

// Retyped corrects a text that was refused, and returns the result.
func (h *Hands) Retyped(who string, at sandbox.Place, label, text string, refused sandbox.Reaction) sandbox.Reaction {
	h.T.Helper()
	return apps[at.Service].retyped(h, who, at, label, text, refused)
}

// Choose answers a question with options in the form that the service offers.
func (h *Hands) Choose(who string, at sandbox.Place, w bridge.Widget, labels ...string) sandbox.Reaction {
	h.T.Helper()
	if w == bridge.WidgetButtons || w == bridge.WidgetConfirm {
		return h.Press(who, at, labels[0])
	}
	return apps[at.Service].choose(h, who, at, w, labels)
}

// ChooseFrom answers with the last option. Options is their number.
func (h *Hands) ChooseFrom(who string, at sandbox.Place, options int, label string) sandbox.Reaction {
	h.T.Helper()
	return apps[at.Service].chooseFrom(h, who, at, options, label)
}

// Field is one field of a form and the input of a person: a text, or the labels
// of options. An empty field is left unchanged.
type Field struct {
	Widget bridge.Widget
	Values []string
}

// Answer answers all the fields of a request.
func (h *Hands) Answer(who string, at sandbox.Place, fields []Field) {
	h.T.Helper()
	apps[at.Service].answer(h, who, at, fields)
}

// values returns the inputs of fields.
func values(fields []Field) [][]string {
	var out [][]string
	for _, f := range fields {
		out = append(out, f.Values)
	}
	return out
}

// approving lists the possible labels of the control that approves once.
var approving = []string{
	render.LabelRun, render.LabelScript, render.LabelCall, render.LabelAllow, render.LabelApprove,
	"Apply edit", "Write file", "Delete file", "Fetch page", "Send request",
}

// ApprovingLabel waits until a card has the control that approves once, and
// returns its label.
func (h *Hands) ApprovingLabel(at sandbox.Place) string {
	h.T.Helper()
	label := ""
	h.Eventually("the card on "+at.Service+" can be approved", func() bool {
		for _, c := range h.Controls(at) {
			if slices.Contains(approving, strings.TrimSuffix(c.Label, "…")) || strings.HasPrefix(c.Label, Reads) {
				label = c.Label
			}
		}
		return label != ""
	})
	return label
}

// Approve clicks the control that approves once, whatever its label, and submits
// the dialog that it opens.
func (h *Hands) Approve(who string, at sandbox.Place) sandbox.Reaction {
	h.T.Helper()
	label := h.ApprovingLabel(at)
	if !strings.HasPrefix(label, Reads) {
		return h.Press(who, at, label)
	}
	return h.Fill(who, at, label)
}

// Open clicks a control of a card, or of the menu that the card opens. It returns
// the place of the control.
func (h *Hands) Open(who string, at sandbox.Place, label string) (sandbox.Reaction, sandbox.Place) {
	h.T.Helper()
	at = h.reach(who, at, label)
	return h.Press(who, at, label), at
}

// reach returns the place of a control: a card, or the menu of the card, which
// reach opens.
func (h *Hands) reach(who string, at sandbox.Place, label string) sandbox.Place {
	h.T.Helper()
	first := h.Leads(at, label)
	if first == label {
		return at
	}
	h.Press(who, at, first)
	return h.Menu(who, at, label)
}

// Leads returns the label of the control on a card that leads to another
// control: the label of that control itself, or the label of the menu.
func (h *Hands) Leads(at sandbox.Place, label string) string {
	h.T.Helper()
	h.Eventually(fmt.Sprintf("the card on %s leads to %q", at.Service, label), func() bool {
		return h.Offers(at, label) || h.Offers(at, render.LabelMore)
	})
	if h.Offers(at, label) {
		return label
	}
	return render.LabelMore
}

// Menu waits until a person sees a menu of a card with a control.
func (h *Hands) Menu(who string, card sandbox.Place, label string) sandbox.Place {
	h.T.Helper()
	var found sandbox.Place
	h.Eventually(fmt.Sprintf("%s sees a menu with %q on %s", who, label, card.Service), func() (ok bool) {
		found, ok = h.Sandbox.Person(who).Menu(card, label)
		return ok
	})
	h.Watch.belongs(found, card)
	return found
}

// Decide decides with a control that first states the effect of the decision in
// a dialog or in a menu.
func (h *Hands) Decide(who string, at sandbox.Place, label string) sandbox.Reaction {
	h.T.Helper()
	_, decide := h.Considers(who, at, label)
	return decide()
}

// Considers opens the text that a person reads before a decision. It returns
// the text, and a function that decides.
func (h *Hands) Considers(who string, at sandbox.Place, label string) (text string, decide func() sandbox.Reaction) {
	h.T.Helper()
	opened := h.Press(who, at, h.Leads(at, label))
	if opened.Modal != "" {
		return h.Modal(opened.Modal), func() sandbox.Reaction { return h.Refill(who, at.Service, opened.Modal) }
	}
	label = strings.TrimSuffix(label, "…")
	menu := h.Menu(who, at, label)
	return h.Text(menu), func() sandbox.Reaction {
		asked := h.Press(who, menu, label)
		if asked.Modal != "" { // the modal asks for a reason
			return h.Refill(who, at.Service, asked.Modal)
		}
		return asked
	}
}

// Edit edits the input of an approval, and confirms the change after reading
// it.
func (h *Hands) Edit(who string, at sandbox.Place, input string) {
	h.T.Helper()
	h.Typed(who, at, "Edit", input)
	_, confirm := h.Change(who, at)
	confirm()
}

// Change returns the text that a person reads about an unconfirmed change, and
// a function that confirms the change.
func (h *Hands) Change(who string, card sandbox.Place) (text string, confirm func()) {
	h.T.Helper()
	for _, v := range h.Sandbox.Modals() {
		if strings.Contains(fmt.Sprint(v.View), render.LabelApproveNow) {
			return sandbox.Texts(v.View), func() { h.Refill(who, card.Service, v.ID) }
		}
	}
	menu := h.Menu(who, card, render.LabelApproveNow)
	return h.Text(menu), func() { h.Press(who, menu, render.LabelApproveNow) }
}
