package telegram

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"unicode"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
)

// commandHelp describes the command in the clients of people.
const commandHelp = "pending, mine, show, grants, revoke, mute, unmute, who, help"

// command is a text that calls nod, by /nod or /nod@bot.
type command struct {
	bot   string // the bot that it is addressed to, if it names one
	words string
}

func parseCommand(text string) (command, bool) {
	word, rest := text, ""
	if n := strings.IndexFunc(text, unicode.IsSpace); n >= 0 {
		word, rest = text[:n], strings.TrimSpace(text[n:])
	}
	name, bot, _ := strings.Cut(word, "@")
	return command{bot, rest}, name == "/"+bridge.CommandName
}

// commands carries out /nod.
type commands struct {
	client  *client
	chats   *chats
	replies *replies
	log     *slog.Logger

	mu       sync.Mutex
	username string // of the bot; empty until Telegram has said it
}

// run carries out a command. An error means that it must be delivered again.
func (cs *commands) run(ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message, said command) error {
	if ours, err := cs.addressed(ctx, said.bot); err != nil || !ours {
		return err
	}
	if m.SenderChat != nil {
		cs.replies.say(ctx, m, "nod takes no commands from anonymous members. Nothing was changed. Write as yourself to use it.")
		return nil
	}
	c := bridge.Command{Actor: actor, Channels: cs.chats.known(ctx, m.ref().Channel), Text: said.words}
	note, err := sink.Command(ctx, c)
	if err != nil {
		return err
	}
	if c.Public() || m.Chat.ID == m.From.ID {
		cs.replies.say(ctx, m, note)
	} else {
		cs.replies.confide(ctx, m, note)
	}
	return nil
}

// addressed reports whether a command for a bot is for this one. A bot that is
// an administrator also receives the commands for other bots.
func (cs *commands) addressed(ctx context.Context, bot string) (bool, error) {
	if bot == "" {
		return true, nil
	}
	own, err := cs.self(ctx)
	return strings.EqualFold(bot, own), err
}

// self returns the username of the bot.
func (cs *commands) self(ctx context.Context) (string, error) {
	cs.mu.Lock()
	known := cs.username
	cs.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var me user
	if err := cs.client.call(ctx, "getMe", tgbotapi.Params{}, &me); err != nil {
		return "", err
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.username = me.Username
	return me.Username, nil
}

// register shows the command in people's clients. It also works where they do
// not show it.
func (cs *commands) register(ctx context.Context) {
	list := `[{"command":"` + bridge.CommandName + `","description":"` + commandHelp + `"}]`
	err := cs.client.call(ctx, "setMyCommands", tgbotapi.Params{"commands": list}, nil)
	if err != nil && ctx.Err() == nil {
		cs.log.Warn("command not registered", "command", bridge.CommandName, "error", err)
	}
}
