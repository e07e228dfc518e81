package rendertest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// tokenMark starts the tokens of the samples. The rest describes the effect of
// a click.
const tokenMark = "token-"

var (
	actions = map[bridge.Action]string{
		bridge.ActionChoose: "choose", bridge.ActionToggle: "toggle", bridge.ActionPick: "pick", bridge.ActionSubmit: "submit",
		bridge.ActionInput: "open", bridge.ActionStep: "step", bridge.ActionPage: "page", bridge.ActionDecline: "decline",
		bridge.ActionSnooze: "snooze", bridge.ActionHandOver: "delegate", bridge.ActionMore: "more", bridge.ActionSession: "session",
	}
	inputs = map[int]string{
		bridge.OptionForm: "form", bridge.OptionOther: "other", bridge.OptionReason: "reason", bridge.OptionShown: "shown", bridge.OptionEdit: "edit",
		bridge.OptionConfirm: "confirm", bridge.OptionDecide: "decide", bridge.OptionRead: "read", bridge.OptionReview: "review", bridge.OptionMessage: "message",
	}
)

// sends describes the effect of a control: its action, and its decision,
// question and option.
func sends(i bridge.Interaction, c bridge.Control) string {
	at := func(names []string, n int) string {
		if n < len(names) {
			return names[n]
		}
		return fmt.Sprint(n)
	}
	var questions, options []string
	for n, f := range i.Fields() {
		questions = append(questions, f.ID)
		for _, o := range f.Options {
			if n == c.Question {
				options = append(options, o.Value)
			}
		}
	}
	if i.Kind == bridge.KindApproval {
		questions = nil
		for _, d := range i.Decisions() {
			questions, options = append(questions, string(d)), append(options, string(d))
		}
	}
	words := []string{cmp.Or(actions[c.Action], fmt.Sprint("action ", c.Action))}
	switch c.Action {
	case bridge.ActionChoose, bridge.ActionToggle, bridge.ActionPick:
		if i.Kind != bridge.KindApproval {
			words = append(words, at(questions, c.Question))
		}
		words = append(words, at(options, c.Option))
	case bridge.ActionInput, bridge.ActionSubmit:
		words = append(words, input(c.Option), at(questions, c.Question))
	case bridge.ActionHandOver:
		words = append(words, strings.Replace(at(i.HandOver, c.Option), fmt.Sprint(bridge.OptionAnyone), "anyone", 1))
	default:
		return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprint(words[0], " ", c.Question, " ", c.Option), " 0"), " 0")
	}
	return strings.Join(words, " ")
}

// input names an option of the controls that open and submit forms.
func input(option int) string {
	switch {
	case option >= bridge.OptionEdited:
		return "edited"
	case option >= bridge.OptionPage:
		return fmt.Sprint("page ", option-bridge.OptionPage)
	}
	return cmp.Or(inputs[option], fmt.Sprint(option))
}

// opensCard reports whether a label is the label of a link to a card of nod.
// Only such links hide their address.
func opensCard(label string) bool { return label == render.LabelOpen || label == render.LabelOpenNewer }

// linked writes a link. Its label may be its address.
func linked(label, url string) string {
	if label == url {
		return "<" + url + ">"
	}
	return "[" + label + "](<" + url + ">)"
}
