package telegram

import (
	"context"
	"encoding/json"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

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
	asked, err := p.sendPrompt(ctx, form, cb)
	if err != nil {
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
	if _, err := p.notes.PutNote(ctx, promptKey(p, asked), string(raw), ttl); err != nil {
		p.log.Error("prompt not remembered", "platform", p.name, "error", err)
		p.remove(ctx, asked)
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

// sendPrompt posts the prompt for a form.
func (p *Platform) sendPrompt(ctx context.Context, f bridge.Form, cb callback) (bridge.MessageRef, error) {
	m := telegrammsg.NewPrompt(f, cb.From.ID, platforms.DisplayName(cb.From.FirstName, cb.From.Username))
	markup, err := json.Marshal(tgbotapi.ForceReply{ForceReply: true, Selective: true, InputFieldPlaceholder: m.Placeholder})
	if err != nil {
		return bridge.MessageRef{}, bridge.Wrap(bridge.CodeInternal, err, "markup")
	}
	params := answering(cb.Message.ref())
	params["reply_markup"] = string(markup)
	asked, err := p.send(ctx, params, m.Message)
	return asked.ref(), err
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
