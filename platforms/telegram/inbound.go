// Path of a click: this file → click.go of bridge/engine.

package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// update is the part of an update that nod reads.
type update struct {
	ID       int64     `json:"update_id"`
	Callback *callback `json:"callback_query"`
	Message  *message  `json:"message"`
	Edited   *message  `json:"edited_message"`
}

// lane returns the key of the updates that keep their order: the messages of a person,
// and the clicks of a person. A click does not wait for a message, which nod tries to
// record until it succeeds.
func (u update) lane() string {
	switch {
	case u.Callback != nil:
		return "click " + u.Callback.From.id()
	case u.Message != nil && u.Message.From != nil:
		return u.Message.From.id()
	}
	return ""
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
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
	Caption string          `json:"caption"`
	Date    int64           `json:"date"`
	ReplyTo *sent           `json:"reply_to_message"`
	MovedTo int64           `json:"migrate_to_chat_id"`
	Forward json.RawMessage `json:"forward_origin"`
	Copied  bool            `json:"is_automatic_forward"` // from the channel of the group

	// Content that people send without text.
	Photo     json.RawMessage `json:"photo"`
	Sticker   json.RawMessage `json:"sticker"`
	Voice     json.RawMessage `json:"voice"`
	Video     json.RawMessage `json:"video"`
	VideoNote json.RawMessage `json:"video_note"`
	Audio     json.RawMessage `json:"audio"`
	Contact   json.RawMessage `json:"contact"`
	Location  json.RawMessage `json:"location"`
	Poll      json.RawMessage `json:"poll"`
	Dice      json.RawMessage `json:"dice"`
	Story     json.RawMessage `json:"story"`
	Game      json.RawMessage `json:"game"`
	Checklist json.RawMessage `json:"checklist"`
	PaidMedia json.RawMessage `json:"paid_media"`

	edited bool
}

// says reports whether a person sent the message. Telegram itself sends other
// messages, such as the one about a pinned message.
func (m message) says() bool {
	size := 0
	for _, part := range []json.RawMessage{
		m.Photo, m.Sticker, m.Voice, m.Video, m.VideoNote, m.Audio, m.Contact, m.Location,
		m.Poll, m.Dice, m.Story, m.Game, m.Checklist, m.PaidMedia,
	} {
		size += len(part)
	}
	return m.words() != "" || m.Document != nil || size > 0
}

// at returns the time when a message was written.
func (m message) at() time.Time {
	if m.Date == 0 {
		return time.Time{}
	}
	return time.Unix(m.Date, 0)
}

// standing returns the capacity in which a message was written. An anonymous
// administrator writes as the group, by the account of a bot.
func (m message) standing() bridge.Standing {
	switch {
	case m.SenderChat != nil:
		return bridge.StandingAnonymous
	case m.From.IsBot:
		return bridge.StandingBot
	case m.edited:
		return bridge.StandingEdited
	case len(m.Forward) > 0:
		return bridge.StandingForwarded
	}
	return ""
}

// barred returns the text for the author of a message that does not count
// because of the author's capacity. It returns false for a message that counts.
func (m message) barred() (why string, barred bool) {
	right := bridge.Rights[m.standing()]
	return right.Why, !right.Acts
}

// words returns the text that a person wrote, including a caption of a picture
// or a file.
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

// read decodes an update. If the update cannot be read, it returns the zero
// value, which needs no handling.
func (in *inbound) read(raw []byte) update {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		in.log.Warn("update cannot be read", "error", err)
		return update{}
	}
	return u
}

// handle records one update, and returns the remaining work that needs
// Telegram. After an error, the update must be handled again.
func (in *inbound) handle(ctx context.Context, sink bridge.Sink, u update) (then func(context.Context), err error) {
	ctx, cancel := context.WithTimeout(ctx, 4*platforms.ClickTimeout)
	defer cancel()
	switch {
	case u.Callback != nil && u.Callback.Message != nil:
		then = in.clicked(ctx, sink, *u.Callback)
	case u.Message != nil && u.Message.From != nil:
		then, err = in.received(ctx, sink, *u.Message)
	case u.Edited != nil && u.Edited.From != nil:
		u.Edited.edited = true
		then, err = in.received(ctx, sink, *u.Edited)
	}
	if then == nil {
		return nil, err
	}
	talk := then
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, afterwards)
		defer cancel()
		talk(ctx)
	}, err
}

// afterwards is the time limit for all work after a recorded update.
const afterwards = 15 * time.Second

// clicked handles a click on a control of a card or its menu. If the control
// needs more than a click, it asks for the rest first.
func (in *inbound) clicked(ctx context.Context, sink bridge.Sink, cb callback) func(context.Context) {
	card := cb.Message.ref()
	menu, err := in.prompts.menuOf(ctx, cb)
	if err != nil {
		in.log.Error("menu not read", "error", err)
		return func(ctx context.Context) { in.replies.answer(ctx, cb, bridge.NoteNotRecorded, true) }
	}
	if menu.Card != (bridge.MessageRef{}) {
		card = menu.Card
	}
	c := bridge.Click{Token: cb.Data, Actor: in.actor(cb.From), Ref: in.chats.recorded(ctx, card)}
	if a := bridge.PeekAction(c.Token); a == bridge.ActionInput || a == bridge.ActionMore {
		return func(ctx context.Context) { in.prompts.open(ctx, sink, c, cb, card, menu) }
	}
	v, err := in.poster.order.click(ctx, sink, c)
	if err != nil {
		in.log.Error("click not recorded", "error", err)
		return func(ctx context.Context) { in.replies.answer(ctx, cb, bridge.NotRecorded(err), true) }
	}
	return func(ctx context.Context) { in.answered(ctx, sink, cb, card, menu, v) }
}

// answered informs a person of the result of a click, and shows it on the card.
func (in *inbound) answered(
	ctx context.Context, sink bridge.Sink, cb callback, card bridge.MessageRef, menu awaited, v bridge.Verdict,
) {
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
	// The card shows a draft. The record may not contain the clicked copy if
	// the click was late.
	if err := in.poster.changed(ctx, sink, card, *v.View); err != nil {
		in.log.Warn("card not updated", "error", err)
	}
}

// received records a message from a person. In a person's own chat with the
// bot, each message is meant for nod.
func (in *inbound) received(ctx context.Context, sink bridge.Sink, m message) (func(context.Context), error) {
	if m.MovedTo != 0 {
		return nil, in.chats.learn(ctx, m.ref().Channel, m.MovedTo)
	}
	if m.Copied || m.standing() == bridge.StandingBot {
		return nil, nil
	}
	if c, ok := parseCommand(m.words()); ok {
		return in.commands.run(ctx, sink, in.actor(*m.From), m, c)
	}
	if m.ReplyTo != nil {
		return in.prompts.replied(ctx, sink, in.actor(*m.From), m)
	}
	if m.Chat.ID == m.From.ID && !m.edited && m.says() {
		return func(ctx context.Context) { in.replies.say(ctx, m, bridge.NoteToBot) }, nil
	}
	return nil, nil
}

// actor returns the account that Telegram names as the sender of an update.
func (in *inbound) actor(u user) bridge.Actor {
	name := platforms.DisplayName(u.FirstName+" "+u.LastName, u.Username)
	return bridge.Actor{Platform: in.platform, User: u.id(), Name: name}
}
