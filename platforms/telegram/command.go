package telegram

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"unicode"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
)

// The commands that Telegram shows in its clients. It adds /start to each bot.
var commandList = []tgbotapi.BotCommand{
	{Command: bridge.CommandName, Description: "pending, mine, show, cancel, sessions, stop, resume, tell, grants, revoke, who, link, help"},
	{Command: commandHelp, Description: "what nod does in this chat, and which person it recognizes you as"},
	{Command: commandStart, Description: "start a chat with nod, or link an account with a code"},
}

const (
	commandHelp  = "help"
	commandStart = "start"
)

// welcome is the beginning of the reply to /start and /help.
const welcome = "nod shows what AI agents ask people, as cards with buttons. To answer, click a button on the card, or reply to a " +
	"card that says so."

// command is a text that addresses nod, with /nod or /nod@bot, or with one of
// the commands of every bot.
type command struct {
	name  string
	bot   string // the bot in the command, if any
	words string
}

func parseCommand(text string) (command, bool) {
	word, rest := text, ""
	if n := strings.IndexFunc(text, unicode.IsSpace); n >= 0 {
		word, rest = text[:n], strings.TrimSpace(text[n:])
	}
	name, bot, _ := strings.Cut(word, "@")
	name, slash := strings.CutPrefix(name, "/")
	known := name == bridge.CommandName || name == commandHelp || name == commandStart
	return command{name, bot, rest}, slash && known
}

// commands runs the commands that people type.
type commands struct {
	client  *client
	chats   *chats
	replies *replies
	log     *slog.Logger

	mu       sync.Mutex
	username string // username of the bot; empty until Telegram has returned it
}

// run runs a command. It returns a function that sends the result to the
// person. After an error, the command must be handled again.
func (cs *commands) run(
	ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message, said command,
) (func(context.Context), error) {
	if ours, err := cs.addressed(ctx, said.bot); err != nil || !ours {
		return nil, err
	}
	if why, barred := m.barred(); barred {
		return func(ctx context.Context) { cs.replies.say(ctx, m, why+" Nothing was changed.") }, nil
	}
	c := bridge.Command{Actor: actor, Channels: cs.chats.known(ctx, m.ref().Channel), Text: said.words, At: m.at()}
	note, err := cs.answer(ctx, sink, c, said)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		if m.Chat.ID == m.From.ID {
			cs.replies.say(ctx, m, note)
			return
		}
		cs.replies.confide(ctx, m, note, "The reply is only for you. Open a chat with this bot"+cs.link(ctx)+
			", click Start, and send the command again.")
	}, nil
}

// link returns the address of the person's private chat with the bot, in
// parentheses, or nothing if the address is not known.
func (cs *commands) link(ctx context.Context) string {
	name, err := cs.self(ctx)
	if err != nil || name == "" {
		return ""
	}
	return " (https://t.me/" + name + ")"
}

// answer returns the reply to a command. The parameter of /start, which a link
// to the bot can contain, is a linking code.
func (cs *commands) answer(ctx context.Context, sink bridge.Sink, c bridge.Command, said command) (string, error) {
	if said.name == bridge.CommandName {
		return sink.Command(ctx, c)
	}
	if code := strings.Fields(said.words); said.name == commandStart && len(code) > 0 {
		c.Text = "link " + code[0]
		return sink.Command(ctx, c)
	}
	c.Text = "who"
	who, err := sink.Command(ctx, c)
	if err != nil {
		return "", err
	}
	c.Text = "help"
	help, err := sink.Command(ctx, c)
	return welcome + "\n\n" + who + "\n\nSend /" + bridge.CommandName + " with one of these words.\n" + help, err
}

// addressed reports whether a command is for this bot. A bot that is an
// administrator also receives commands for other bots.
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

// register shows the commands in people's clients. They also work where clients
// do not show them.
func (cs *commands) register(ctx context.Context) {
	list, err := json.Marshal(commandList)
	if err == nil {
		err = cs.client.call(ctx, "setMyCommands", tgbotapi.Params{"commands": string(list)}, nil)
	}
	if err != nil && ctx.Err() == nil {
		cs.log.Warn("commands not registered", "error", err)
	}
}
