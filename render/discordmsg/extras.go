package discordmsg

import (
	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// delegateID is the custom ID of the select for delegation. The values of its
// options are tokens.
const delegateID = "delegate"

// extras returns the rows of controls that do not answer the request.
func extras(v bridge.View) []discordgo.MessageComponent {
	var row []discordgo.MessageComponent
	for _, x := range render.Snooze(v) {
		row = append(row, button(x.Token, x.Label, discordgo.SecondaryButton))
	}
	names, people := v.Record.Interaction.HandOver, render.Delegates(v)
	if len(names) > 1 || len(people) < len(names) {
		return append(rows(row), discordgo.ActionsRow{Components: []discordgo.MessageComponent{delegate(v, people)}})
	}
	for _, x := range people {
		row = append(row, button(x.Token, x.Label, discordgo.SecondaryButton))
	}
	return rows(row)
}

// delegate returns the select for delegation. It offers the people, or all
// members if the names include groups or there are too many people. Discord
// cannot limit a select to certain members, so the engine refuses the others.
func delegate(v bridge.View, people []render.Extra) discordgo.MessageComponent {
	names := v.Record.Interaction.HandOver
	menu := discordgo.SelectMenu{MenuType: discordgo.StringSelectMenu, CustomID: delegateID, Placeholder: render.LabelDelegate + "…"}
	if len(people) < len(names) || len(people) > maxSelect {
		menu.MenuType, menu.CustomID = discordgo.UserSelectMenu, v.Token(bridge.ActionHandOver, 0, bridge.OptionAnyone)
		return menu
	}
	for n, x := range people {
		label := render.Cut(render.Line(names[n]), maxOption, render.Runes)
		menu.Options = append(menu.Options, discordgo.SelectMenuOption{Label: label, Value: x.Token})
	}
	return menu
}

// Delegated reads a click on a select with values. It returns the token of the
// control and, for a select of members, the chosen user. For any other control,
// it returns the custom ID.
func Delegated(customID string, values []string) (token, picked string) {
	switch {
	case len(values) != 1:
	case customID == delegateID:
		return values[0], ""
	case bridge.PeekAction(customID) == bridge.ActionHandOver:
		return customID, values[0]
	}
	return customID, ""
}
