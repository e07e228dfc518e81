package telegram

import (
	"context"
	"log/slog"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// replies tells people what came of a click or a message.
type replies struct {
	client *client
	log    *slog.Logger
}

// answer ends a click: until then its button keeps loading. The note may be
// empty. An alert stays until the person closes it.
func (r *replies) answer(ctx context.Context, cb callback, note string, alert bool) {
	params := tgbotapi.Params{"callback_query_id": cb.ID}
	if note != "" {
		params["text"] = telegrammsg.Toast(note)
		params.AddBool("show_alert", alert)
	}
	if err := r.client.call(ctx, "answerCallbackQuery", params, nil); err != nil {
		r.log.Debug("click not answered", "error", err)
	}
}

// say answers a typed message where it was written: Telegram has no private
// answer to a message in a group.
func (r *replies) say(ctx context.Context, m message, note string) {
	if _, err := r.client.send(ctx, answering(m.ref()), telegrammsg.Reply(note)); err != nil {
		r.log.Warn("note not sent", "error", err)
	}
}

// confide answers a typed message in the person's own chat with the bot. A bot
// can write there only after the person has clicked Start.
func (r *replies) confide(ctx context.Context, m message, note string) {
	_, err := r.client.send(ctx, tgbotapi.Params{"chat_id": m.From.id()}, telegrammsg.Reply(note))
	switch code := bridge.ErrorCode(err); {
	case err == nil:
	case code == bridge.CodeForbidden || code == bridge.CodeNotFound || code == bridge.CodeInvalid:
		r.say(ctx, m, "The reply is only for you. Open a chat with this bot, click Start, and send the command again.")
	default:
		r.log.Warn("command not answered", "error", err)
	}
}
