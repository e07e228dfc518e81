package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
)

// subcommands of the application command, with the descriptions that Discord
// shows.
var subcommands = []*discordgo.ApplicationCommandOption{
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "pending", Description: "List pending requests in this channel"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "mine", Description: "List requests that wait for you, in any channel"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "show", Description: "Show one request in full", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "id", Description: "ID of the request, as pending and mine list it", Required: true},
	}},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "mute", Description: "Make this channel read-only for nod"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "unmute", Description: "Let this channel respond again"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "who", Description: "Show your account and the ID of this channel"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "help", Description: "List the commands of nod"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "grants", Description: "List grants and what they cover"},
	{Type: discordgo.ApplicationCommandOptionSubCommand, Name: "revoke", Description: "End a grant", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "grant", Description: "ID of the grant, as grants lists it", Required: true},
	}},
}

// register registers the application command, once for each process. It updates
// an existing command of that name and leaves others unchanged. If it fails,
// everything except the command works.
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
