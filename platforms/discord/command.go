package discord

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
)

// command is the application command. Discord shows the descriptions.
var command = &discordgo.ApplicationCommand{
	Name:        bridge.CommandName,
	Description: "List pending requests, sessions, grants and your account",
	Options: []*discordgo.ApplicationCommandOption{
		subcommand("pending", "List pending requests in this channel"),
		subcommand("mine", "List requests that wait for you, in any channel"),
		subcommand("show", "Show one request in full", known("id", "request; type part of it, or its ID")),
		subcommand("cancel", "Cancel one request", known("id", "request; type part of it, or its ID")),
		subcommand("sessions", "List sessions of agents"),
		subcommand("stop", "Deny everything that a session asks until someone resumes it", word("session", `Name of the session, or "all"`)),
		subcommand("resume", "Let a stopped session ask again", word("session", "Name of the session")),
		subcommand("tell", "Send a message to the agent of a session", word("session", "Name of the session"), word("text", "Message")),
		subcommand("link", "Link another account to you", word("code", "code that nod showed to the account"), confirmed),
		subcommand("who", "Show your account and the ID of this channel"),
		subcommand("help", "List the commands of nod"),
		subcommand("grants", "List grants and what they cover"),
		subcommand("revoke", "End a grant", known("grant", "grant; type part of it, or its ID")),
	},
}

// confirmed is the option that confirms a link after nod has shown the owner of
// the account.
var confirmed = &discordgo.ApplicationCommandOption{
	Type: discordgo.ApplicationCommandOptionString, Name: "confirm", Description: "yes, if it is your own account",
	Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "yes", Value: "yes"}},
}

func subcommand(name, description string, options ...*discordgo.ApplicationCommandOption) *discordgo.ApplicationCommandOption {
	return &discordgo.ApplicationCommandOption{
		Type: discordgo.ApplicationCommandOptionSubCommand, Name: name, Description: description, Options: options,
	}
}

// word returns a required text option.
func word(name, description string) *discordgo.ApplicationCommandOption {
	return &discordgo.ApplicationCommandOption{
		Type: discordgo.ApplicationCommandOptionString, Name: name, Description: description, Required: true,
	}
}

// known returns a required text option for which nod suggests values.
func known(name, description string) *discordgo.ApplicationCommandOption {
	o := word(name, description)
	o.Autocomplete = true
	return o
}

// commands registers and runs the application command.
type commands struct {
	api *api
	log *slog.Logger

	mu         sync.Mutex
	registered bool
}

// register registers the command, once for each process. It updates an existing
// command of that name and does not change other commands. If it fails,
// everything except the command works.
func (cm *commands) register(ctx context.Context) {
	cm.mu.Lock()
	done := cm.registered
	cm.mu.Unlock()
	if done {
		return
	}
	app, err := cm.api.application(ctx)
	if err == nil {
		err = cm.api.do(ctx, http.MethodPost, discordgo.EndpointApplicationGlobalCommands(app.ID), command, nil)
	}
	if err != nil {
		cm.log.Warn("command not registered", "command", bridge.CommandName, "error", err)
		return
	}
	cm.mu.Lock()
	cm.registered = true
	cm.mu.Unlock()
}

// run runs a command and returns the reply.
func (cm *commands) run(ctx context.Context, sink bridge.Sink, in interaction, who bridge.Actor) reply {
	text := in.command()
	answer, ok := cm.ask(ctx, sink, in, who, text)
	if ok && slices.Contains(listings, text) {
		return private(listPage(text, answer, 0))
	}
	return note(answer)
}

// turn runs the command of a list again, and shows a page of its reply in place
// of the current page.
func (cm *commands) turn(
	ctx context.Context, sink bridge.Sink, in interaction, who bridge.Actor, text string, page int,
) reply {
	answer, ok := cm.ask(ctx, sink, in, who, text)
	if !ok {
		return note(answer)
	}
	return redraw(listPage(text, answer, page))
}

// ask passes a command to the sink. If that fails, it returns false and a text
// for the person.
func (cm *commands) ask(
	ctx context.Context, sink bridge.Sink, in interaction, who bridge.Actor, text string,
) (string, bool) {
	answer, err := sink.Command(ctx, bridge.Command{
		Actor: who, Channels: in.channels(who), Text: text, Whole: slices.Contains(listings, text),
	})
	if err != nil {
		cm.log.Error("command not carried out", "error", err)
		return bridge.NoteNotDone, false
	}
	return answer, true
}
