package telegram

import (
	"context"
	"encoding/json"
	"strconv"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// update is the part of an update that nod reads.
type update struct {
	ID       int64     `json:"update_id"`
	Callback *callback `json:"callback_query"`
	Message  *message  `json:"message"`
}

type user struct {
	ID        int64  `json:"id"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

type callback struct {
	ID      string `json:"id"`
	From    user   `json:"from"`
	Message *sent  `json:"message"`
	Data    string `json:"data"`
}

type message struct {
	sent
	From       *user `json:"from"`
	SenderChat *struct {
		ID int64 `json:"id"`
	} `json:"sender_chat"`
	Text    string `json:"text"`
	ReplyTo *sent  `json:"reply_to_message"`
	MovedTo int64  `json:"migrate_to_chat_id"`
}

func (p *Platform) actor(u user) bridge.Actor {
	return bridge.Actor{Platform: p.name, User: strconv.FormatInt(u.ID, 10), Name: platforms.DisplayName(u.FirstName+" "+u.LastName, u.Username)}
}

// handle works on one update. An error means that it must be delivered again.
func (p *Platform) handle(ctx context.Context, sink bridge.Sink, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 4*platforms.ClickTimeout)
	defer cancel()
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		p.log.Warn("update can not be read", "platform", p.name, "error", err)
		return nil
	}
	switch {
	case u.Callback != nil && u.Callback.Message != nil:
		p.pressed(ctx, sink, *u.Callback)
	case u.Message != nil && u.Message.From != nil:
		return p.received(ctx, sink, *u.Message)
	}
	return nil
}

// received works on a message from a person.
func (p *Platform) received(ctx context.Context, sink bridge.Sink, m message) error {
	if m.MovedTo != 0 {
		return p.learn(ctx, m.ref().Channel, m.MovedTo)
	}
	if _, _, ok := command(m.Text); ok {
		return p.commanded(ctx, sink, m)
	}
	if m.ReplyTo != nil {
		return p.replied(ctx, sink, m)
	}
	return nil
}

func (p *Platform) pressed(ctx context.Context, sink bridge.Sink, cb callback) {
	c := bridge.Click{Token: cb.Data, Actor: p.actor(cb.From), Ref: cb.Message.ref()}
	if bridge.PeekAction(c.Token) == bridge.ActionInput {
		p.prompt(ctx, sink, c, cb)
		return
	}
	defer p.cards.Lock(c.Ref.Channel + "/" + c.Ref.Message)()
	v, err := sink.Click(ctx, c)
	if err != nil {
		p.log.Error("click not recorded", "platform", p.name, "error", err)
		p.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	p.answer(ctx, cb, v.Note, v.Kind != bridge.VerdictSettled && v.Kind != bridge.VerdictDraft)
	if v.View == nil || v.Kind == bridge.VerdictSettled {
		return // the card itself says so in a moment
	}
	// A draft is shown on the card; after a late press, the copy that was
	// pressed may be one that the record does not know.
	if err := p.Update(ctx, c.Ref, *v.View, v.View.Delivered()); err != nil {
		p.log.Warn("card not updated", "platform", p.name, "error", err)
	}
}

// answer ends the press: until then its button keeps loading.
func (p *Platform) answer(ctx context.Context, cb callback, note string, alert bool) {
	params := tgbotapi.Params{"callback_query_id": cb.ID}
	if note != "" {
		params["text"] = telegrammsg.Toast(note)
		params.AddBool("show_alert", alert)
	}
	if err := p.call(ctx, "answerCallbackQuery", params, nil); err != nil {
		p.log.Debug("press not answered", "platform", p.name, "error", err)
	}
}

// say answers a typed message where it was written: Telegram has no private
// answer to a message in a group.
func (p *Platform) say(ctx context.Context, m message, note string) {
	if _, err := p.send(ctx, answering(m.ref()), telegrammsg.Reply(note)); err != nil {
		p.log.Warn("note not sent", "platform", p.name, "error", err)
	}
}

func (p *Platform) remove(ctx context.Context, ref bridge.MessageRef) {
	if err := p.call(ctx, "deleteMessage", tgbotapi.Params{"chat_id": ref.Channel, "message_id": ref.Message}, nil); err != nil {
		p.log.Debug("prompt not removed", "platform", p.name, "error", err)
	}
}
