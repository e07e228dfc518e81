package slackmsg

import (
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// describedOnCard returns a function that reports whether a card with enough
// room must list the options of a question in its text. This includes options
// whose descriptions are visible only in an open menu.
func describedOnCard(i bridge.Interaction) func(bridge.Question) bool {
	needed := listedOnCard(i)
	return func(q bridge.Question) bool { return needed(q) || inMenu(q) && render.HasDescriptions(q) }
}

// listedOnCard returns a function that reports whether a card must list the
// options of a question in its text. It lists options that only a modal offers,
// so that everyone can read them, except yes and no.
func listedOnCard(i bridge.Interaction) func(bridge.Question) bool {
	f, lone := i.Lone()
	inModal := !lone || needsForm(f.Question)
	return func(q bridge.Question) bool { return inModal && q.Widget != bridge.WidgetConfirm || listed(q) }
}

// listed reports whether the text must list the options.
func listed(q bridge.Question) bool {
	if !render.LabelsFit(q, maxOption, cost) {
		return true
	}
	if q.OneTap() {
		return render.HasDescriptions(q)
	}
	return render.HasPreviews(q) || slices.ContainsFunc(q.Options, func(o bridge.Option) bool { return cost(render.Line(o.Description)) > maxOption })
}
