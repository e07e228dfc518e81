package discordmsg

import (
	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Menu writes a menu as a private message: a section for each choice, whose
// button is next to the text that says what the choice does. A text that is too
// long for a message is attached. Its error is CodeUnsupported.
func Menu(f bridge.Form) (Message, error) {
	menu := render.NewMenu(f)
	head := "### " + Escape(menu.Title)
	if lead := clip(menu.Lead, maxText/4); lead != "" {
		head += "\n" + lead
	}
	room := maxText - cost(head) - cost(textAttached)
	total := 0
	for _, c := range menu.Choices {
		total += cost(choiceText(c))
	}
	m := Message{}
	parts := []discordgo.MessageComponent{text(head)}
	if total > room {
		var full []render.Block
		for _, c := range menu.Choices {
			full = append(append(full, render.Para(c.Label)), c.Text...)
		}
		m.File = &File{Name: "choices-" + f.View.Record.Interaction.ID.Short() + ".txt", Data: []byte(render.PlainText(full) + "\n")}
		if len(m.File.Data) > maxFile {
			return m, bridge.Errorf(bridge.CodeUnsupported, "discord: the text has %d bytes, more than %d", len(m.File.Data), maxFile)
		}
		parts = append(parts, text(textAttached), fileOf(m.File))
	}
	for _, c := range menu.Choices {
		said := choiceText(c)
		if total > room {
			said = "**" + Escape(c.Label) + "**"
		}
		label := c.Label
		if c.Bare != "" {
			label += "…" // it opens a form
		}
		parts = append(parts, discordgo.Section{
			Components: []discordgo.MessageComponent{text(said)}, Accessory: button(c.Token, label, discordgo.SecondaryButton),
		})
	}
	if len(menu.Undo) > 0 {
		parts = append(parts, text(Markdown(menu.Undo)))
	}
	if len(menu.Later) > 0 {
		parts = append(append(parts, text(Markdown(menu.Later))), extras(f.View)...)
	}
	m.Components = container(colourPending, parts)
	return m, nil
}

// choiceText returns what a choice does, below its name.
func choiceText(c render.Choice) string {
	if c.Name == "" {
		return Markdown(c.Text)
	}
	return "**" + Escape(c.Name) + "**\n" + Markdown(c.Text)
}
