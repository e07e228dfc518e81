package telegram

import (
	"context"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
)

// isCommand reports whether a text calls nod: /nod, or /nod@bot.
func isCommand(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	name, _, _ := strings.Cut(word, "@")
	return name == "/"+bridge.CommandName
}

// commanded carries out a command. An error means that it must be delivered
// again.
func (p *Platform) commanded(ctx context.Context, sink bridge.Sink, m message) error {
	if m.SenderChat != nil {
		p.say(ctx, m, "Anonymous members can not command nod: it has to know who you are.")
		return nil
	}
	_, word, _ := strings.Cut(m.Text, " ")
	c := bridge.Command{Actor: p.actor(*m.From), Channels: []string{m.ref().Channel}, Text: word}
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
	err := p.call(ctx, "sendMessage", tgbotapi.Params{"chat_id": c.Actor.User, "text": note}, nil)
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
