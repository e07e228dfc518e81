package telegram

import (
	"context"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// files sends the text that is too long for a card as a file. Telegram has no
// idempotent upload, but an edit can be repeated: nod first sends a short
// placeholder, records it, and then replaces its content. If the answer to an
// upload is lost, people still see the text once.
type files struct{ client *client }

// placeholderMark starts the recorded channel of a message that may still be a
// placeholder. Daemons that know only complete files do not find it in the chat
// of the card, and send the file themselves. A complete file is recorded again
// under its chat.
const placeholderMark = "placeholder:"

// Text that people read if no file replaces a placeholder.
const (
	placeholderName = "sending.txt"
	placeholderText = "nod was sending a long text. The card names the file that contains it.\n"
)

// filed returns the ID of the message that carries the file in a chat, or "".
// After a basic group became a supergroup, a file may be recorded for each.
func filed(parts *bridge.Parts, chat string) string {
	for _, doc := range parts.Sent() {
		// Only a supergroup can be named, and it cannot become another chat.
		if doc.Channel == chat || strings.HasPrefix(chat, "@") {
			return doc.Message
		}
	}
	return ""
}

// placeholder returns the last recorded placeholder in a chat, or "".
func placeholder(parts *bridge.Parts, chat string) string {
	last := ""
	for _, doc := range parts.Sent() {
		if doc.Channel == placeholderMark+chat {
			last = doc.Message
		}
	}
	return last
}

// send sends the file of a view, unless it is recorded, and returns the ID of
// the message that carries it. The ID is empty if there is no file.
func (f *files) send(ctx context.Context, where tgbotapi.Params, v bridge.View, file *telegrammsg.File,
	parts *bridge.Parts) (string, error) {
	if file == nil {
		return "", nil
	}
	chat, i := where["chat_id"], v.Record.Interaction
	if doc := filed(parts, chat); doc != "" {
		return doc, nil
	}
	if strings.HasPrefix(chat, "@") { // for such a chat, any record of a part counts
		doc, err := f.upload(ctx, where, i, tgbotapi.FileBytes{Name: file.Name, Bytes: file.Data})
		if err != nil {
			return "", err
		}
		return doc.ref().Message, parts.Add(ctx, doc.ref())
	}
	if message := placeholder(parts, chat); message != "" {
		doc, err := f.fill(ctx, bridge.MessageRef{Channel: chat, Message: message}, i, file, parts)
		if !platforms.Is(err, platforms.AboutDeleted, platforms.AboutFrozen) {
			return doc, err
		}
	}
	place, err := f.upload(ctx, where, i, tgbotapi.FileBytes{Name: placeholderName, Bytes: []byte(placeholderText)})
	if err != nil {
		return "", err
	}
	marked := place.ref()
	marked.Channel = placeholderMark + chat
	if err := parts.Add(ctx, marked); err != nil {
		return "", err
	}
	doc, err := f.fill(ctx, place.ref(), i, file, parts)
	if platforms.Is(err, platforms.AboutDeleted, platforms.AboutFrozen) { // the next attempt sends another file
		err = bridge.Wrap(bridge.CodeUnavailable, err, "telegram: the placeholder of a file is gone")
	}
	return doc, err
}

// upload sends a file at its turn.
func (f *files) upload(ctx context.Context, where tgbotapi.Params, i bridge.Interaction, file tgbotapi.FileBytes) (sent, error) {
	var doc sent
	params := tgbotapi.Params{}
	for _, k := range []string{"chat_id", "message_thread_id", "reply_parameters", "disable_notification"} {
		if where[k] != "" {
			params[k] = where[k]
		}
	}
	err := f.client.paced(ctx, where["chat_id"], platforms.NextTurn(i, 0), func() error {
		return f.client.upload(ctx, "sendDocument", params, "document", file, &doc)
	})
	if err != nil {
		return doc, err
	}
	return doc, f.check(ctx, doc, doc.ref(), file.Bytes)
}

// fill replaces the content of a placeholder with the file. If the placeholder
// already has it, the answer has no message.
func (f *files) fill(ctx context.Context, place bridge.MessageRef, i bridge.Interaction, file *telegrammsg.File,
	parts *bridge.Parts) (string, error) {
	var doc sent
	// The SDK's type has null for entities, which the API does not name.
	const media = `{"type":"document","media":"attach://document"}`
	params := tgbotapi.Params{"chat_id": place.Channel, "message_id": place.Message, "media": media}
	whole := tgbotapi.FileBytes{Name: file.Name, Bytes: file.Data}
	err := f.client.paced(ctx, place.Channel, platforms.NextTurn(i, 1), func() error {
		return f.client.upload(ctx, "editMessageMedia", params, "document", whole, &doc)
	})
	if err != nil {
		return "", err
	}
	if doc.ID != 0 {
		if err := f.check(ctx, doc, place, file.Data); err != nil {
			return "", err
		}
	}
	return place.Message, parts.Add(ctx, place)
}

// check removes a message that does not carry all of a file.
func (f *files) check(ctx context.Context, doc sent, ref bridge.MessageRef, data []byte) error {
	if doc.Document != nil && doc.Document.Size == int64(len(data)) {
		return nil
	}
	f.client.remove(ctx, ref)
	return incomplete("the file is incomplete")
}
