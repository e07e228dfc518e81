package telegram

import (
	"context"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// noteStart explains to a person why nod cannot show them a private request. A
// bot can write to a person only after they have clicked Start.
const noteStart = "This request is private. Open a chat with this bot, click Start, and click the button again. Nothing was recorded."

// reveals reports whether a form shows a private request instead of asking for
// input.
func reveals(f bridge.Form) bool {
	o := f.Control.Option
	return f.Control.Action == bridge.ActionInput && (o == bridge.OptionReview || o == bridge.OptionRead)
}

// reveal sends a private request with its controls to the person's own chat.
func (p *prompts) reveal(ctx context.Context, v bridge.View, user string) (bridge.MessageRef, error) {
	v.Revealed, v.Mentions = true, nil
	m, err := telegrammsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	params := tgbotapi.Params{"chat_id": user}
	doc, err := p.poster.files.send(ctx, params, v, m.File, bridge.NewParts(nil, nil))
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if doc != "" {
		params["reply_parameters"] = replyTo(doc)
	}
	return p.poster.sendCard(ctx, params, m)
}

// revealAgain shows a private request after the person has typed a part of the
// answer: the prompt has replaced the message that showed it.
func (p *prompts) revealAgain(ctx context.Context, v bridge.View, a awaited) {
	defer p.store.posts(a.User)()
	asked, err := p.reveal(ctx, v, a.User)
	if err == nil {
		a.Token = ""
		err = p.store.remember(ctx, asked, a, v.Record.Interaction.Deadline)
	}
	if err != nil {
		p.log.Warn("private request not shown again", "error", err)
	}
}

// redrawRevealed draws the message that shows a private request again. Its file
// is already above it.
func (p *poster) redrawRevealed(ctx context.Context, at bridge.MessageRef, v bridge.View) error {
	v.Revealed, v.Mentions = true, nil
	m, err := telegrammsg.Build(v)
	if err != nil {
		return err
	}
	return platforms.Told(ctx, afterwards, func(bool) error { return p.edit(ctx, at, v, m) })
}

// place returns the note that names a prompt for a card. promptAt returns the
// prompt of such a note. Prompts for private requests are in another chat.
func place(card, prompt bridge.MessageRef) string {
	if prompt.Channel == card.Channel {
		return prompt.Message
	}
	return prompt.Channel + "/" + prompt.Message
}

func promptAt(card bridge.MessageRef, note string) bridge.MessageRef {
	if chat, message, elsewhere := strings.Cut(note, "/"); elsewhere {
		return bridge.MessageRef{Channel: chat, Message: message}
	}
	return bridge.MessageRef{Channel: card.Channel, Message: note}
}
