package telegram

import (
	"context"
	"strings"
	"unicode"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// command splits a text that calls nod, /nod or /nod@bot, and returns the bot
// that it is addressed to and the rest.
func command(text string) (bot, rest string, ok bool) {
	word, rest := text, ""
	if n := strings.IndexFunc(text, unicode.IsSpace); n >= 0 {
		word, rest = text[:n], strings.TrimSpace(text[n:])
	}
	name, bot, _ := strings.Cut(word, "@")
	return bot, rest, name == "/"+bridge.CommandName
}

// addressed reports whether a command for a bot is for this one. A bot that is
// an administrator also receives the commands for other bots.
func (p *Platform) addressed(ctx context.Context, bot string) (bool, error) {
	if bot == "" {
		return true, nil
	}
	own, err := p.self(ctx)
	return strings.EqualFold(bot, own), err
}

// self returns the username of the bot.
func (p *Platform) self(ctx context.Context) (string, error) {
	p.mu.Lock()
	known := p.username
	p.mu.Unlock()
	if known != "" {
		return known, nil
	}
	var me user
	if err := p.call(ctx, "getMe", tgbotapi.Params{}, &me); err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.username = me.Username
	return me.Username, nil
}

// commanded carries out a command. An error means that it must be delivered
// again.
func (p *Platform) commanded(ctx context.Context, sink bridge.Sink, m message) error {
	bot, words, _ := command(m.Text)
	if ours, err := p.addressed(ctx, bot); err != nil || !ours {
		return err
	}
	if m.SenderChat != nil {
		p.say(ctx, m, "Anonymous members can not command nod: it has to know who you are.")
		return nil
	}
	c := bridge.Command{Actor: p.actor(*m.From), Channels: p.known(ctx, m.ref().Channel), Text: words}
	note, err := sink.Command(ctx, c)
	if err != nil {
		return err
	}
	p.sayTo(ctx, m, c, note)
	return nil
}

// sayTo tells the person alone, in their own chat with the bot, what is not
// for everybody; a bot can write there once they have pressed Start.
func (p *Platform) sayTo(ctx context.Context, m message, c bridge.Command, note string) {
	if c.Public() || m.Chat.ID == m.From.ID {
		p.say(ctx, m, note)
		return
	}
	_, err := p.send(ctx, tgbotapi.Params{"chat_id": c.Actor.User}, telegrammsg.Reply(note))
	switch code := bridge.ErrorCode(err); {
	case err == nil:
	case code == bridge.CodeForbidden || code == bridge.CodeNotFound || code == bridge.CodeInvalid:
		p.say(ctx, m, "That is for you alone: open a chat with me, press Start, and ask again.")
	default:
		p.log.Warn("command not answered", "platform", p.name, "error", err)
	}
}

// register shows the command in people's clients. Without it everything works
// anyway.
func (p *Platform) register(ctx context.Context) {
	err := p.call(ctx, "setMyCommands", tgbotapi.Params{"commands": `[{"command":"` + bridge.CommandName + `","description":"pending, mine, show, grants, revoke, mute, unmute, who, help"}]`}, nil)
	if err != nil && ctx.Err() == nil {
		p.log.Warn("command not registered", "platform", p.name, "command", bridge.CommandName, "error", err)
	}
}
