package telegrammsg

import (
	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// withReason ends the label of the button that asks for an optional reason.
const withReason = " with a reason…"

// Menu writes a menu as a message. Each choice has a description and a button,
// or two buttons if it takes an optional reason. If the descriptions do not
// fit, a file has them.
func Menu(f bridge.Form) Message {
	menu := render.NewMenu(f)
	m := menuText(menu, nil)
	if render.Runes(m.Text) > maxText {
		file := &File{Name: "choices-" + f.View.Record.Interaction.ID.Short() + ".txt", Data: []byte(menu.FullText())}
		m = menuText(menu, file)
	}
	style := ""
	for _, c := range menu.Choices {
		if c.Stops {
			style = "danger"
		}
		if c.Bare != "" {
			m.Keyboard = append(m.Keyboard, []Button{{Text: c.Label, Data: c.Bare, Style: style}})
			c.Label = render.Cut(c.Label, maxButton-render.Runes(withReason), render.Runes) + withReason
		}
		m.Keyboard = append(m.Keyboard, []Button{{Text: c.Label, Data: c.Token, Style: style}})
	}
	if len(menu.Later) > 0 {
		for _, x := range render.Extras(f.View) {
			m.Keyboard = append(m.Keyboard, []Button{{Text: x.Label, Data: x.Token}})
		}
	}
	return m
}

// menuText writes the text of a menu. If a file has the descriptions of the
// choices, the text names the file instead.
func menuText(menu render.Menu, file *File) Message {
	w := &writer{}
	w.add(menu.Title, "bold")
	w.add("\n")
	lead, _ := clip(menu.Lead, maxText/4)
	w.blocks(lead, "")
	if file != nil {
		w.add("\n" + render.TextShortened + " The file ")
		w.add(file.Name, "code")
		w.add(" has the full text.\n")
	}
	for _, c := range menu.Choices {
		if file == nil || c.Name != "" {
			w.add("\n")
		}
		if c.Name != "" {
			w.add(c.Name, "bold")
			w.add("\n")
		}
		if file == nil {
			w.blocks(c.Text, "")
		}
	}
	if len(menu.Later) > 0 {
		w.add("\n")
		w.blocks(menu.Later, "")
	}
	m := w.message()
	m.File = file
	return m
}
