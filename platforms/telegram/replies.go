package telegram

import (
	"context"
	"log/slog"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// replies informs people of the results of clicks and messages.
type replies struct {
	client *client
	log    *slog.Logger
}

// answer ends a click. Until then, its button shows a loading state. The note
// may be empty. An alert stays until the person closes it. It holds only the
// start of a long note. The person gets the complete note in a message.
func (r *replies) answer(ctx context.Context, cb callback, note string, alert bool) {
	r.tell(ctx, cb, bridge.Verdict{Note: note}, alert)
}

// tell is answer with the note of a verdict. Unlike a message, an alert cannot
// show times in the reader's time zone, so it shows them relative to now.
func (r *replies) tell(ctx context.Context, cb callback, v bridge.Verdict, alert bool) {
	note := render.Relative(v.Note, time.Now())
	if alert && !telegrammsg.FitsToast(note) && r.whisper(ctx, cb, v.Note) {
		note = ""
	}
	params := tgbotapi.Params{"callback_query_id": cb.ID}
	if note != "" {
		params["text"] = telegrammsg.Toast(note)
		params.AddBool("show_alert", alert)
	}
	err := platforms.Told(ctx, platforms.ToldWithin, func(bool) error { return r.client.call(ctx, "answerCallbackQuery", params, nil) })
	if platforms.Is(err, platforms.AboutLate) && note != "" && alert { // nod got the click, or could record it, only now
		r.whisper(ctx, cb, v.Note)
	}
	if err != nil {
		r.log.Debug("click not answered", "error", err)
	}
}

// send sends a person a message. A duplicate is better than no message.
func (r *replies) send(ctx context.Context, to tgbotapi.Params, m telegrammsg.Message) error {
	return platforms.Told(ctx, platforms.ToldWithin, func(bool) error {
		_, err := r.client.send(ctx, to, m)
		return err
	})
}

// whisper sends a note to the person who clicked, and reports whether the note
// is in the chat of the click. In a group, only that person sees it, if the
// server supports that. Otherwise, it goes to the person's own chat with the
// bot.
func (r *replies) whisper(ctx context.Context, cb callback, note string) bool {
	if cb.Message.Chat.ID != cb.From.ID {
		err := r.client.whisper(ctx, cb, telegrammsg.Whisper(note))
		if err == nil {
			return true
		}
		r.log.Debug("note not sent as an ephemeral message", "error", err)
	}
	err := r.send(ctx, tgbotapi.Params{"chat_id": cb.From.id()}, telegrammsg.Reply(note))
	if err != nil {
		r.log.Debug("note not sent to the person's own chat", "error", err)
	}
	return err == nil && cb.Message.Chat.ID == cb.From.ID
}

// Notes about a link, which only the person's own chat with the bot may show.
const (
	noteLinked = "Nothing is recorded yet: this needs your signature. The link is in your chat with this bot."
	noteNoChat = "Nothing was recorded: this needs your signature. Open a chat with this bot, click Start, and approve again."
)

// offer sends a note with a link to a person's own chat with the bot. It
// returns the text for the chat of the click.
func (r *replies) offer(ctx context.Context, user, note, link string) string {
	to := tgbotapi.Params{"chat_id": user}
	err := r.send(ctx, to, telegrammsg.Offer(note, link))
	if platforms.Is(err, platforms.AboutContent) { // no button accepts an address such as localhost
		err = r.send(ctx, to, telegrammsg.Reply(note+"\n"+link))
	}
	if err != nil {
		r.log.Warn("link not sent", "user", user, "error", err)
		return noteNoChat
	}
	return noteLinked
}

// say answers a typed message in its chat, because Telegram has no private
// answer to a message in a group.
func (r *replies) say(ctx context.Context, m message, note string) {
	if err := r.send(ctx, answering(m.ref()), telegrammsg.Reply(note)); err != nil {
		r.log.Warn("note not sent", "error", err)
	}
}

// confide answers a typed message in the person's own chat with the bot. A bot
// can write there only after the person has clicked Start. Until then, the
// other note goes to the chat of the message.
func (r *replies) confide(ctx context.Context, m message, note, otherwise string) {
	err := r.send(ctx, tgbotapi.Params{"chat_id": m.From.id()}, telegrammsg.Reply(note))
	switch {
	case err == nil:
	case unreachable(err):
		r.say(ctx, m, otherwise)
	default:
		r.log.Warn("message not answered", "error", err)
	}
}
