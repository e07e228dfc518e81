package discord

import (
	"context"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// Limits of suggestions.
const (
	maxSuggestions = 25
	maxSuggested   = 100 // maximum length of a suggestion's name, and of its value, in code points
)

// suggest returns suggestions for the option that a person types. If this
// fails, it returns none, because the reply cannot contain an error message.
func (cm *commands) suggest(ctx context.Context, sink bridge.Sink, in interaction, who bridge.Actor) reply {
	var found []bridge.Suggestion
	if s, ok := sink.(bridge.Suggester); ok {
		c := bridge.Command{Actor: who, Channels: in.channels(who), Text: in.command()}
		var err error
		if found, err = s.Suggest(ctx, c, maxSuggestions); err != nil {
			cm.log.Error("no suggestions", "error", err)
		}
	}
	choices := []*discordgo.ApplicationCommandOptionChoice{}
	for _, s := range found[:min(len(found), maxSuggestions)] {
		choices = append(choices, &discordgo.ApplicationCommandOptionChoice{Name: suggestedName(s), Value: s.Value})
	}
	return reply{
		Type: discordgo.InteractionApplicationCommandAutocompleteResult,
		Data: map[string]any{"choices": choices}, // the SDK's type leaves out an empty list
	}
}

// suggestedName returns the text of a suggestion. If it is too long, its label
// is cut.
func suggestedName(s bridge.Suggestion) string {
	note := render.Cut(" · "+render.Line(s.Note), maxSuggested/2, render.Runes)
	if strings.TrimSpace(s.Note) == "" {
		note = ""
	}
	return render.Cut(render.Line(s.Label), maxSuggested-render.Runes(note), render.Runes) + note
}
