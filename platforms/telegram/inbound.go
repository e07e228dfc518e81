package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
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
		params["text"] = telegrammsg.Note(note)
		params.AddBool("show_alert", alert)
	}
	if err := p.call(ctx, "answerCallbackQuery", params, nil); err != nil {
		p.log.Debug("press not answered", "platform", p.name, "error", err)
	}
}

// awaited is what a reply to a prompt belongs to.
type awaited struct {
	Token    string            `json:"t"`
	User     string            `json:"u"`
	Card     bridge.MessageRef `json:"c"`
	Question int               `json:"q"`
	Option   int               `json:"o"`
}

// click is the click that a reply with a text stands for.
func (a awaited) click(who bridge.Actor, text string) bridge.Click {
	c := bridge.Click{Token: a.Token, Actor: who, Ref: a.Card}
	switch a.Option {
	case bridge.OptionReason, bridge.OptionEdit, bridge.OptionConfirm:
		c.Typed = text
	case bridge.OptionOther:
		c.Inputs = map[int]bridge.Input{a.Question: {Other: text, KeepOptions: true}}
	default:
		c.Inputs = map[int]bridge.Input{a.Question: {Text: text}}
	}
	return c
}

func promptKey(p *Platform, ref bridge.MessageRef) string {
	return "reply:" + p.name + ":" + ref.Channel + ":" + ref.Message
}

// prompt asks for text by a message of its own, which the person replies to.
// A reply keyboard on the card itself would make the card uneditable.
func (p *Platform) prompt(ctx context.Context, sink bridge.Sink, c bridge.Click, cb callback) {
	form, v, err := sink.Form(ctx, c)
	if err != nil {
		p.log.Error("prompt not opened", "platform", p.name, "error", err)
		p.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	if v.Kind != "" {
		p.answer(ctx, cb, v.Note, true)
		return
	}
	p.answer(ctx, cb, "Reply to the message below.", false)
	params, err := promptBody(form, cb)
	if err != nil {
		p.log.Error("prompt not opened", "platform", p.name, "error", err)
		return
	}
	var asked sent
	if err := p.call(ctx, "sendMessage", params, &asked); err != nil {
		p.log.Warn("prompt not sent", "platform", p.name, "error", err)
		return
	}
	a := awaited{Token: replyToken(form), User: c.Actor.User, Card: c.Ref, Question: form.Control.Question, Option: form.Control.Option}
	raw, err := json.Marshal(a)
	if err != nil {
		p.log.Error("prompt not opened", "platform", p.name, "error", err)
		return
	}
	ttl := time.Until(form.View.Record.Interaction.Deadline) + time.Hour // a late reply is told so
	if _, err := p.notes.PutNote(ctx, promptKey(p, asked.ref()), string(raw), ttl); err != nil {
		p.log.Error("prompt not remembered", "platform", p.name, "error", err)
		p.remove(ctx, asked.ref())
	}
}

// replyToken is the control that a reply stands for: the whole answer where
// there is one question, else one step of it.
func replyToken(f bridge.Form) string {
	q, o := f.Control.Question, f.Control.Option
	i := f.View.Record.Interaction
	fields := i.Fields()
	step := len(fields) > 1 && !i.LonePlan() || o == bridge.OptionOther && fields[q].Multiple()
	if step && i.Kind != bridge.KindApproval {
		return f.View.Token(bridge.ActionPick, q, o)
	}
	return f.View.Token(bridge.ActionSubmit, q, o)
}

func promptBody(f bridge.Form, cb callback) (tgbotapi.Params, error) {
	i := f.View.Record.Interaction
	name := platforms.DisplayName(cb.From.FirstName, cb.From.Username)
	if name == "" {
		name = "You"
	}
	ask, placeholder := "reply to this message with your answer", render.TitleAnswer
	switch f.Control.Option {
	case bridge.OptionReason, bridge.OptionEdit, bridge.OptionConfirm:
		t := render.Typed(f)
		ask, placeholder = t.Ask, render.Cut(cmp.Or(t.Placeholder, t.Label), 64, render.Runes)
	case bridge.OptionForm:
		q := i.Fields()[f.Control.Question]
		if q.Text != "" {
			ask += ": " + render.Cut(render.Line(q.Text), 500, render.Runes)
		}
		if example := q.Example(); example != "" {
			ask += " (" + example + ")"
			placeholder = render.Cut(example, 64, render.Runes)
		}
		if q.Placeholder != "" {
			placeholder = render.Cut(render.Line(q.Placeholder), 64, render.Runes)
		}
	}
	// The mention makes the keyboard open for this person only.
	entities, err := json.Marshal([]tgbotapi.MessageEntity{{Type: "text_mention", Offset: 0, Length: render.UTF16(name), User: &tgbotapi.User{ID: cb.From.ID, FirstName: name}}})
	if err != nil {
		return nil, err
	}
	markup, err := json.Marshal(tgbotapi.ForceReply{ForceReply: true, Selective: true, InputFieldPlaceholder: placeholder})
	if err != nil {
		return nil, err
	}
	params := answering(cb.Message.ref())
	params["text"], params["entities"], params["reply_markup"] = name+", "+ask+".", string(entities), string(markup)
	return params, nil
}

// replied takes a text that answers a prompt. A message that answers nothing,
// or somebody else's prompt, counts for nothing.
func (p *Platform) replied(ctx context.Context, sink bridge.Sink, m message) error {
	m.ReplyTo.Chat = m.Chat
	prompt := m.ReplyTo.ref()
	raw, err := p.notes.Note(ctx, promptKey(p, prompt))
	if err != nil || raw == "" {
		return err
	}
	var a awaited
	if err := json.Unmarshal([]byte(raw), &a); err != nil {
		p.log.Error("stored prompt can not be read", "platform", p.name, "error", err)
		return nil
	}
	actor := p.actor(*m.From)
	if m.SenderChat != nil || actor.User != a.User {
		p.say(ctx, m, "This is not your question. Press the button on the card to answer yourself.")
		return nil
	}
	c := a.click(actor, m.Text)
	defer p.cards.Lock(c.Ref.Channel + "/" + c.Ref.Message)()
	v, err := sink.Click(ctx, c)
	if err != nil {
		return err // typed text waits a day at Telegram; it is repeated
	}
	if v.Kind == bridge.VerdictInvalid {
		p.say(ctx, m, v.Note+" Reply to the same message again.")
		return nil
	}
	if v.Kind != bridge.VerdictSettled && v.Kind != bridge.VerdictDraft {
		p.say(ctx, m, v.Note)
	}
	if v.Kind == bridge.VerdictDraft && v.View != nil {
		if err := p.Update(ctx, a.Card, *v.View, v.View.Delivered()); err != nil {
			p.log.Warn("card not updated", "platform", p.name, "error", err)
		}
	}
	if err := p.notes.DropNote(ctx, promptKey(p, prompt)); err != nil {
		p.log.Warn("prompt not forgotten", "platform", p.name, "error", err)
	}
	p.remove(ctx, prompt)
	return nil
}

// say answers a typed message where it was written: Telegram has no private
// answer to a message in a group.
func (p *Platform) say(ctx context.Context, m message, note string) {
	params := answering(m.ref())
	params["text"] = note
	if err := p.call(ctx, "sendMessage", params, nil); err != nil {
		p.log.Warn("note not sent", "platform", p.name, "error", err)
	}
}

func (p *Platform) remove(ctx context.Context, ref bridge.MessageRef) {
	if err := p.call(ctx, "deleteMessage", tgbotapi.Params{"chat_id": ref.Channel, "message_id": ref.Message}, nil); err != nil {
		p.log.Debug("prompt not removed", "platform", p.name, "error", err)
	}
}
