package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
)

// subcommands of the application command, and what Discord shows beside them.
var subcommands = []*discordgo.ApplicationCommandOption{
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "pending", Description: "List what waits in this channel"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "mine", Description: "List what waits for you, anywhere"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "show", Description: "Show one request, whole", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "id", Description: "Its id, as pending and mine list it", Required: true},
	}},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "mute", Description: "Make this channel read-only for nod"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "unmute", Description: "Let this channel answer again"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "who", Description: "Say who you are to nod, and what this place is called"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "help", Description: "Say what you can ask nod"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "grants", Description: "List grants and what they cover"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "revoke", Description: "End a grant", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "grant", Description: "Its id, as grants lists it", Required: true},
	}},
}

// register makes the command known, once for this process; creating one that
// exists updates it and leaves others alone. Without it everything else works.
func (p *Platform) register(ctx context.Context) {
	p.mu.Lock()
	done := p.registered
	p.mu.Unlock()
	if done {
		return
	}
	var app struct {
		ID string `json:"id"`
	}
	err := p.do(ctx, http.MethodGet, discordgo.EndpointApplication("@me"), nil, &app)
	if err == nil {
		err = p.do(ctx, http.MethodPost, discordgo.EndpointApplicationGlobalCommands(app.ID),
			&discordgo.ApplicationCommand{Name: bridge.CommandName, Description: "List pending requests, your account, and the settings of this channel", Options: subcommands}, nil)
	}
	if err != nil {
		p.log.Warn("command not registered", "platform", p.name, "command", bridge.CommandName, "error", err)
		return
	}
	p.mu.Lock()
	p.registered = true
	p.mu.Unlock()
}

func (p *Platform) commanded(ctx context.Context, sink bridge.Sink, in interaction, who bridge.Actor) reply {
	word := ""
	if len(in.Data.Options) > 0 {
		word = in.Data.Options[0].Name
		for _, o := range in.Data.Options[0].Options {
			word += " " + o.Value
		}
	}
	channels := []string{in.ChannelID}
	if in.Member == nil { // a direct message is configured by the user's id
		channels = append(channels, "@"+who.User)
	}
	text, err := sink.Command(ctx, bridge.Command{Actor: who, Channels: channels, Text: word})
	if err != nil {
		p.log.Error("command not carried out", "platform", p.name, "error", err)
		text = bridge.NoteNotDone
	}
	return note(text)
}
