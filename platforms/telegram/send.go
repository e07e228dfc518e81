package telegram

import (
	"context"
	"errors"
	"maps"
	"strings"
	"unicode"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

func replyTo(message string) string {
	return `{"message_id":` + message + `,"allow_sending_without_reply":true}`
}

// sendFile sends the file of a message at its turn, unless it is recorded, and
// returns which message carries it; empty if there is no file.
func (p *Platform) sendFile(ctx context.Context, chat string, where tgbotapi.Params, v bridge.View, m telegrammsg.Message, parts *bridge.Parts) (string, error) {
	if m.File == nil {
		return "", nil
	}
	if sent := parts.Sent(); len(sent) > 0 {
		return sent[0].Message, nil
	}
	if err := p.pace(ctx, chat, platforms.NextTurn(v.Record.Interaction, 0)); err != nil {
		return "", err
	}
	params := tgbotapi.Params{}
	for _, k := range []string{"chat_id", "message_thread_id", "reply_parameters"} {
		if where[k] != "" {
			params[k] = where[k]
		}
	}
	resp, err := p.bot(ctx).UploadFiles("sendDocument", params, []tgbotapi.RequestFile{{Name: "document", Data: tgbotapi.FileBytes{Name: m.File.Name, Bytes: m.File.Data}}})
	if err != nil {
		return "", p.classify(ctx, chat, err)
	}
	var doc sent
	if err := decode(resp, &doc); err != nil {
		return "", err
	}
	if doc.Document == nil || doc.Document.Size != int64(len(m.File.Data)) {
		p.remove(ctx, doc.ref())
		return "", incomplete("the file is not in it whole")
	}
	return doc.ref().Message, parts.Add(ctx, doc.ref())
}

// send sends a message with parameters that body does not set, such as its
// place.
func (p *Platform) send(ctx context.Context, params tgbotapi.Params, m telegrammsg.Message) (sent, error) {
	var out sent
	content, err := body(m)
	if err != nil {
		return out, err
	}
	maps.Copy(content, params)
	return out, p.call(ctx, "sendMessage", content, &out)
}

// sendCard posts a card. One that does not show what it should is removed.
func (p *Platform) sendCard(ctx context.Context, params tgbotapi.Params, m telegrammsg.Message) (bridge.MessageRef, error) {
	card, err := p.send(ctx, params, m)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if squeeze(card.Text) != squeeze(m.Text) {
		p.remove(ctx, card.ref())
		return bridge.MessageRef{}, incomplete("its text is not there whole")
	}
	return card.ref(), nil
}

// edit changes a card at its turn. If it then does not show what it should,
// its controls are taken away.
func (p *Platform) edit(ctx context.Context, ref bridge.MessageRef, v bridge.View, m telegrammsg.Message) error {
	if err := p.pace(ctx, ref.Channel, platforms.Turn{Key: "edit " + ref.Message, Rank: platforms.RankEdit}); err != nil {
		return err
	}
	changed, err := p.change(ctx, ref, m)
	if err != nil || changed == nil || squeeze(changed.Text) == squeeze(m.Text) {
		return err
	}
	bare, err := telegrammsg.Build(v.Unfinished())
	if err == nil {
		_, err = p.change(ctx, ref, bare)
	}
	if err != nil {
		return err
	}
	return incomplete("its text is not there whole")
}

// change edits a message and returns it as it is then; nil if nothing changed.
func (p *Platform) change(ctx context.Context, ref bridge.MessageRef, m telegrammsg.Message) (*sent, error) {
	params, err := body(m)
	if err != nil {
		return nil, err
	}
	params["chat_id"], params["message_id"] = ref.Channel, ref.Message
	resp, err := p.bot(ctx).MakeRequest("editMessageText", params)
	if err != nil {
		err = p.classify(ctx, ref.Channel, err)
		if _, moved := errors.AsType[movedError](err); moved { // old messages stay where they are
			err = bridge.Wrap(bridge.CodeInvalid, err, "telegram: the card is in a basic group that became a supergroup")
		}
		return nil, err
	}
	var changed sent
	return &changed, decode(resp, &changed)
}

// squeeze is a text without what Telegram may trim or drop from it.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn) {
			return -1
		}
		return r
	}, s)
}

func incomplete(hidden string) error {
	return bridge.Errorf(bridge.CodeUnsupported, "telegram: the message was accepted, but %s", hidden)
}
