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
	note, err := sink.Command(ctx, bridge.Command{Actor: p.actor(*m.From), Channels: []string{m.ref().Channel}, Text: word})
	if err != nil {
		return err
	}
	p.say(ctx, m, note)
	return nil
}

// register shows the command in people's clients. Without it everything works
// all the same.
func (p *Platform) register(ctx context.Context) {
	err := p.call(ctx, "setMyCommands", tgbotapi.Params{"commands": `[{"command":"` + bridge.CommandName + `","description":"mute, unmute, status, grants, or revoke and an id"}]`}, nil)
	if err != nil && ctx.Err() == nil {
		p.log.Warn("command not registered", "platform", p.name, "command", bridge.CommandName, "error", err)
	}
}
