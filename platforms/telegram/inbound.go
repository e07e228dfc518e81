package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
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

func (u user) id() string { return strconv.FormatInt(u.ID, 10) }

// callback is a click on a control.
type callback struct {
	ID      string `json:"id"`
	From    user   `json:"from"`
	Message *sent  `json:"message"`
	Data    string `json:"data"`
}

// message is a message that a person wrote, or an event of a chat.
type message struct {
	sent
	From       *user `json:"from"`
	SenderChat *struct {
		ID int64 `json:"id"`
	} `json:"sender_chat"`
	Caption string `json:"caption"`
	Date    int64  `json:"date"`
	ReplyTo *sent  `json:"reply_to_message"`
	MovedTo int64  `json:"migrate_to_chat_id"`
}

// words returns what a person wrote, also below a picture or a file.
func (m message) words() string { return cmp.Or(m.Text, m.Caption) }

// inbound handles the updates: clicks, replies to prompts, commands, and groups
// that become supergroups.
type inbound struct {
	platform string
	chats    *chats
	commands *commands
	prompts  *prompts
	poster   *poster
	replies  *replies
	log      *slog.Logger
}

// read decodes an update. It returns the zero value, for which there is nothing to
// do, for one that cannot be read.
func (in *inbound) read(raw []byte) update {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		in.log.Warn("update cannot be read", "error", err)
		return update{}
	}
	return u
}

// handle works on one update. An error means that it must be delivered again.
func (in *inbound) handle(ctx context.Context, sink bridge.Sink, u update) error {
	ctx, cancel := context.WithTimeout(ctx, 4*platforms.ClickTimeout)
	defer cancel()
	switch {
	case u.Callback != nil && u.Callback.Message != nil:
		in.clicked(ctx, sink, *u.Callback)
	case u.Message != nil && u.Message.From != nil:
		return in.received(ctx, sink, *u.Message)
	}
	return nil
}

// clicked takes a click on a control of a card or its menu. One that needs more
// than a click asks for it first.
func (in *inbound) clicked(ctx context.Context, sink bridge.Sink, cb callback) {
	card := cb.Message.ref()
	menu, err := in.prompts.menuOf(ctx, cb)
	if err != nil {
		in.log.Error("menu not read", "error", err)
		in.replies.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	if menu.Card != (bridge.MessageRef{}) {
		card = menu.Card
	}
	c := bridge.Click{Token: cb.Data, Actor: in.actor(cb.From), Ref: in.chats.recorded(ctx, card)}
	if a := bridge.PeekAction(c.Token); a == bridge.ActionInput || a == bridge.ActionMore {
		in.prompts.open(ctx, sink, c, cb, card, menu)
		return
	}
	defer in.poster.lock(card)()
	v, err := sink.Click(ctx, c)
	if err != nil {
		in.log.Error("click not recorded", "error", err)
		in.replies.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	if v.Link != "" {
		v.Note = in.replies.offer(ctx, cb.From.id(), v.Note, v.Link)
	}
	in.replies.tell(ctx, cb, v, v.Kind != bridge.VerdictSettled && v.Kind != bridge.VerdictDraft)
	if menu.User != "" && (v.Kind == bridge.VerdictSettled || v.Kind == bridge.VerdictLate) {
		in.prompts.store.done(ctx, cb.Message.ref(), menu)
	}
	if v.View == nil || v.Kind == bridge.VerdictSettled {
		return // an edit job will show the outcome on the card
	}
	if menu.User != "" && v.View.Hides() && v.Kind != bridge.VerdictLate {
		if err := in.poster.redrawRevealed(ctx, cb.Message.ref(), *v.View); err != nil {
			in.log.Warn("private request not updated", "error", err)
		}
		return
	}
	// The card shows a draft. After a late click, the clicked copy may be one
	// that the record does not know.
	if err := platforms.Redraw(ctx, sink, card, *v.View, in.poster.update); err != nil {
		in.log.Warn("card not updated", "error", err)
	}
}

// received works on a message from a person.
func (in *inbound) received(ctx context.Context, sink bridge.Sink, m message) error {
	if m.MovedTo != 0 {
		return in.chats.learn(ctx, m.ref().Channel, m.MovedTo)
	}
	if c, ok := parseCommand(m.Text); ok {
		return in.commands.run(ctx, sink, in.actor(*m.From), m, c)
	}
	if m.ReplyTo != nil {
		return in.prompts.replied(ctx, sink, in.actor(*m.From), m)
	}
	return nil
}

// actor returns the account that Telegram names as the sender of an update.
func (in *inbound) actor(u user) bridge.Actor {
	name := platforms.DisplayName(u.FirstName+" "+u.LastName, u.Username)
	return bridge.Actor{Platform: in.platform, User: u.id(), Name: name}
}
