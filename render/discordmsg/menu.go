package discordmsg

import (
	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Menu writes a menu as a private message. Each choice has a text that
// describes it, and a button. A line separates choices that deny from the
// others. A text that is too long for a message is attached. It returns
// CodeUnsupported if the menu does not fit.
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
		m.File = &File{Name: "choices-" + f.View.Record.Interaction.ID.Short() + ".txt", Data: []byte(menu.FullText())}
		if len(m.File.Data) > maxFile {
			return m, bridge.Errorf(bridge.CodeUnsupported, "discord: the text has %d bytes, more than %d", len(m.File.Data), maxFile)
		}
		parts = append(parts, text(textAttached), fileOf(m.File))
	}
	for n, c := range menu.Choices {
		if n > 0 && c.Stops && !menu.Choices[n-1].Stops {
			divider := true
			parts = append(parts, discordgo.Separator{Divider: &divider})
		}
		said, style := choiceText(c), discordgo.SecondaryButton
		if c.Stops {
			style = discordgo.DangerButton
		}
		if total > room {
			said = "**" + Escape(c.Label) + "**"
		}
		label := c.Label
		if c.Bare != "" {
			label += "…" // the button opens a form
		}
		parts = append(append(parts, text(said)), rows([]discordgo.MessageComponent{button(c.Token, label, style)})...)
	}
	if len(menu.Later) > 0 {
		parts = append(append(parts, text(Markdown(menu.Later))), extras(f.View)...)
	}
	m.Components = container(colourPending, parts)
	return m, nil
}

// choiceText returns the description of a choice, below its name.
func choiceText(c render.Choice) string {
	if c.Name == "" {
		return Markdown(c.Text)
	}
	return "**" + Escape(c.Name) + "**\n" + Markdown(c.Text)
}
