package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// promptTimeout leaves time to tell the person that no prompt was posted.
const promptTimeout = 3 * platforms.ClickTimeout

// awaited is what a reply to a prompt belongs to.
type awaited struct {
	Token       string            `json:"t"`
	User        string            `json:"u"`
	Card        bridge.MessageRef `json:"c"`
	Interaction bridge.ID         `json:"i"`
	Question    int               `json:"q"`
	Option      int               `json:"o"`
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
	sendCtx, cancel := context.WithTimeout(ctx, promptTimeout)
	asked, err := p.sendPrompt(sendCtx, form, cb)
	cancel()
	if err != nil {
		p.log.Warn("prompt not sent", "platform", p.name, "error", err)
		p.answer(ctx, cb, notPrompted(err), true)
		return
	}
	a := awaited{
		Token: replyToken(form), User: c.Actor.User, Card: c.Ref, Interaction: form.View.Record.Interaction.ID,
		Question: form.Control.Question, Option: form.Control.Option,
	}
	if err := p.remember(ctx, asked, a, form.View.Record.Interaction.Deadline); err != nil {
		p.log.Error("prompt not remembered", "platform", p.name, "error", err)
		p.remove(ctx, asked)
		p.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	p.answer(ctx, cb, "Reply to the message below.", false)
}

// notPrompted returns what to tell a person whose click posted no prompt.
func notPrompted(err error) string {
	if wait := retryAfter(err); wait > 0 {
		return fmt.Sprintf("Telegram accepts no more messages in this chat right now. Nothing was recorded. "+
			"Click again in %d seconds.", int(math.Ceil(wait.Seconds())))
	}
	return "nod could not ask you for the text. Nothing was recorded. Click again."
}

// remember stores what a reply to a prompt belongs to. It replaces the prompt
// that the person had for the same card.
func (p *Platform) remember(ctx context.Context, prompt bridge.MessageRef, a awaited, deadline time.Time) error {
	ttl := time.Until(deadline) + time.Hour // a late reply gets an answer
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if _, err := p.notes.PutNote(ctx, promptKey(p, prompt), string(raw), ttl); err != nil {
		return err
	}
	for n := 0; ; n++ { // the first free place of the card, or the person's own
		user, err := p.notes.PutNote(ctx, askedKey(p, a.Card, n), a.User, ttl)
		if err != nil {
			return err
		}
		if user == a.User {
			break
		}
	}
	own := openKey(p, a.Card, a.User)
	for {
		before, err := p.notes.PutNote(ctx, own, prompt.Message, ttl)
		if err != nil || before == prompt.Message {
			return err
		}
		p.remove(ctx, bridge.MessageRef{Channel: prompt.Channel, Message: before})
		if err := p.notes.DropNote(ctx, own); err != nil {
			return err
		}
	}
}

// askedKey is the key of the note that names the person whom a card prompted as
// the nth.
func askedKey(p *Platform, card bridge.MessageRef, n int) string {
	return "asked:" + p.name + ":" + card.Channel + ":" + card.Message + ":" + strconv.Itoa(n)
}

// openKey is the key of the note that names a person's open prompt for a card.
func openKey(p *Platform, card bridge.MessageRef, user string) string {
	return "open:" + p.name + ":" + card.Channel + ":" + card.Message + ":" + user
}

// retire removes the prompts for a card that no longer ask for anything: those
// for interactions that are not pending. Their notes stay, so that a reply that
// is under way is told that it is late.
func (p *Platform) retire(ctx context.Context, card bridge.MessageRef, pending []bridge.Record) error {
	for n := 0; p.notes != nil; n++ {
		user, err := p.notes.Note(ctx, askedKey(p, card, n))
		if err != nil || user == "" {
			return err
		}
		id, err := p.notes.Note(ctx, openKey(p, card, user))
		if err != nil {
			return err
		}
		prompt := bridge.MessageRef{Channel: card.Channel, Message: id}
		a, err := p.awaits(ctx, prompt)
		if err != nil {
			return err
		}
		if id == "" || slices.ContainsFunc(pending, func(r bridge.Record) bool { return r.Interaction.ID == a.Interaction }) {
			continue
		}
		p.remove(ctx, prompt)
		if err := p.notes.DropNote(ctx, openKey(p, card, user)); err != nil {
			return err
		}
	}
	return nil
}

// awaits returns what a reply to a message belongs to. It returns the zero
// value if the message is not a prompt.
func (p *Platform) awaits(ctx context.Context, prompt bridge.MessageRef) (awaited, error) {
	var a awaited
	raw, err := p.notes.Note(ctx, promptKey(p, prompt))
	if err != nil || raw == "" {
		return a, err
	}
	if err := json.Unmarshal([]byte(raw), &a); err != nil {
		p.log.Error("stored prompt cannot be read", "platform", p.name, "error", err)
		return awaited{}, nil
	}
	return a, nil
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
	a, err := p.awaits(ctx, prompt)
	if err != nil || a.Token == "" {
		return err
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
	for _, key := range []string{promptKey(p, prompt), openKey(p, a.Card, a.User)} {
		if err := p.notes.DropNote(ctx, key); err != nil {
			p.log.Warn("prompt not forgotten", "platform", p.name, "error", err)
		}
	}
	p.remove(ctx, prompt)
	return nil
}
