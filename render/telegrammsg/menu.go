package telegrammsg

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// withReason ends the label of the button that asks for an optional reason.
const withReason = " with a reason…"

// Menu writes a menu as a message. Each choice has a description and a button,
// or two buttons if it takes an optional reason. It returns CodeUnsupported if
// the menu does not fit.
func Menu(f bridge.Form) (Message, error) {
	menu := render.NewMenu(f)
	w := &writer{}
	w.add(menu.Title, "bold")
	w.add("\n")
	w.blocks(menu.Lead, "")
	var keys [][]Button
	style := ""
	for _, c := range menu.Choices {
		w.add("\n")
		if c.Name != "" {
			w.add(c.Name, "bold")
			w.add("\n")
		}
		w.blocks(c.Text, "")
		if c.Stops {
			style = "danger"
		}
		if c.Bare != "" {
			keys = append(keys, []Button{{Text: c.Label, Data: c.Bare, Style: style}})
			c.Label = render.Cut(c.Label, maxButton-render.Runes(withReason), render.Runes) + withReason
		}
		keys = append(keys, []Button{{Text: c.Label, Data: c.Token, Style: style}})
	}
	if len(menu.Later) > 0 {
		w.add("\n")
		w.blocks(menu.Later, "")
		for _, x := range render.Extras(f.View) {
			keys = append(keys, []Button{{Text: x.Label, Data: x.Token}})
		}
	}
	m := w.message()
	m.Keyboard = keys
	if n := render.Runes(m.Text); n > maxText {
		return m, bridge.Errorf(bridge.CodeUnsupported, "This list has %d characters, more than the %d of a Telegram message. "+
			"Nothing was recorded. Decide the requests one by one.", n, maxText)
	}
	return m, nil
}
