package telegram

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/telegrammsg"
)

const noteWordless = "nod reads only text. Nothing was recorded. Reply to the same message with text."

// promptTimeout leaves time to tell the person that no prompt was posted.
const promptTimeout = 3 * platforms.ClickTimeout

// prompts asks people for text. Telegram has no forms: nod posts a message, and
// the person replies to it.
type prompts struct {
	client  *client
	chats   *chats
	store   *promptStore
	poster  *poster
	replies *replies
	log     *slog.Logger
}

// open asks for the text or the decision that a click on a card requires. The
// prompt is a separate message, because a reply keyboard on the card would make
// the card uneditable. Menu is the clicked menu, or the zero value.
func (p *prompts) open(ctx context.Context, sink bridge.Sink, c bridge.Click, cb callback, card bridge.MessageRef, menu awaited) {
	form, v, err := sink.Form(ctx, c)
	if err != nil {
		p.log.Error("prompt not opened", "error", err)
		p.replies.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	if v.Kind != "" {
		p.replies.tell(ctx, cb, v, true)
		return
	}
	i, until := promptedFor(form)
	a := awaited{User: c.Actor.User, Card: card, Interaction: i.ID, Question: form.Control.Question, Option: form.Control.Option}
	defer p.store.posts(a.User)()
	sendCtx, cancel := context.WithTimeout(ctx, promptTimeout)
	var asked bridge.MessageRef
	note := ""
	where := card
	if i.Private { // prompts of a private request are next to the message that shows it
		where = cb.Message.ref()
	}
	switch {
	case reveals(form):
		asked, err = p.reveal(sendCtx, form.View, cb.From.id())
		if unreachable(err) {
			err = bridge.Errorf(bridge.CodeUnsupported, noteStart)
		}
		if cb.Message.Chat.ID < 0 {
			note = "The request is in your chat with this bot."
		}
	case render.Opens(form) && !(render.AsksReason(form) && menu.states()):
		asked, err = p.offer(sendCtx, form, cb, where)
	default:
		a.Token, note = replyToken(form), "Reply to the message below."
		asked, err = p.send(sendCtx, form, cb, where)
	}
	cancel()
	if err != nil {
		p.log.Warn("prompt not sent", "error", err)
		p.replies.answer(ctx, cb, notPrompted(err), true)
		return
	}
	if err := p.store.remember(ctx, asked, a, until); err != nil {
		p.log.Error("prompt not remembered", "error", err)
		p.store.remove(ctx, asked, a.User)
		p.replies.answer(ctx, cb, bridge.NoteNotRecorded, true)
		return
	}
	p.replies.answer(ctx, cb, note, false)
}

// promptedFor returns the interaction of a form, and the time when the form
// becomes useless.
func promptedFor(f bridge.Form) (bridge.Interaction, time.Time) {
	i := f.View.Record.Interaction
	if render.IsSession(f.View) {
		return i, time.Now().Add(bridge.SteeringTTL)
	}
	return i, i.Deadline
}

// send posts the prompt for a form.
func (p *prompts) send(ctx context.Context, f bridge.Form, cb callback, card bridge.MessageRef) (bridge.MessageRef, error) {
	m := telegrammsg.NewPrompt(f, cb.From.ID, platforms.DisplayName(cb.From.FirstName, cb.From.Username))
	markup, err := json.Marshal(tgbotapi.ForceReply{ForceReply: true, Selective: true, InputFieldPlaceholder: m.Placeholder})
	if err != nil {
		return bridge.MessageRef{}, bridge.Wrap(bridge.CodeInternal, err, "markup")
	}
	params := answering(card)
	params["reply_markup"] = string(markup)
	asked, err := p.client.send(ctx, params, m.Message)
	return asked.ref(), err
}

// offer posts the menu of a form. In a group, only the person who clicked sees
// the menu, if the server supports that. Otherwise, everyone sees it, as a
// reply to the card, because everyone who may answer may use it.
func (p *prompts) offer(ctx context.Context, f bridge.Form, cb callback, card bridge.MessageRef) (bridge.MessageRef, error) {
	m, params := telegrammsg.Menu(f), answering(card)
	if _, err := p.poster.files.send(ctx, params, f.View, m.File, bridge.NewParts(nil, nil)); err != nil {
		return bridge.MessageRef{}, err
	}
	if cb.Message.Chat.ID < 0 {
		private, err := json.Marshal(struct {
			User  int64  `json:"receiver_user_id"`
			Click string `json:"callback_query_id"`
		}{cb.From.ID, cb.ID})
		if err != nil {
			return bridge.MessageRef{}, bridge.Wrap(bridge.CodeInternal, err, "menu")
		}
		params["ephemeral_message_parameters"] = string(private)
	}
	posted, err := p.client.send(ctx, params, m)
	if platforms.Is(err, platforms.AboutFeature, platforms.AboutContent, platforms.AboutPerson) && params["ephemeral_message_parameters"] != "" {
		delete(params, "ephemeral_message_parameters")
		posted, err = p.client.send(ctx, params, m)
	}
	return posted.ref(), err
}

// review posts the menu in which a person confirms a change from a reply. It
// replaces the prompt.
func (p *prompts) review(ctx context.Context, m message, a awaited, f bridge.Form) {
	menu, params := telegrammsg.Menu(f), answering(m.ref())
	defer p.store.posts(a.User)()
	_, err := p.poster.files.send(ctx, params, f.View, menu.File, bridge.NewParts(nil, nil))
	var posted sent
	if err == nil {
		posted, err = p.client.send(ctx, params, menu)
	}
	if err == nil {
		a.Token, a.Option = "", f.Control.Option
		err = p.store.remember(ctx, posted.ref(), a, f.View.Record.Interaction.Deadline)
	}
	if err != nil {
		p.log.Warn("change not shown", "error", err)
		p.replies.say(ctx, m, bridge.NoteNotRecorded)
	}
}

// menuOf returns the menu of a click, and the interaction and the person that
// it belongs to. It returns the zero value for a click on a card.
func (p *prompts) menuOf(ctx context.Context, cb callback) (awaited, error) {
	private := cb.Message.Chat.ID > 0 // a private chat may show a private request, with all controls
	if a := bridge.PeekAction(cb.Data); a != bridge.ActionInput && !bridge.PeekStated(cb.Data) && !private {
		return awaited{}, nil
	}
	a, err := p.store.awaits(ctx, cb.Message.ref(), cb.From.id())
	if a.Token != "" { // a card that accepts replies
		a = awaited{}
	}
	return a, err
}

// notPrompted returns the text for a person whose click posted no prompt.
func notPrompted(err error) string {
	if bridge.ErrorCode(err) == bridge.CodeUnsupported && platforms.AboutOf(err) == "" {
		return bridge.PublicError(err).Message
	}
	return platforms.NotAsked("Telegram", err)
}

// replyToken returns the token of the control that a reply replaces: the
// complete answer if there is one question, or one step of the answer.
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

// replied handles a text that answers a prompt or a card. It passes on a reply
// to any other message, and refuses a reply to the prompt of another person. It
// returns the remaining work. After an error, the reply must be handled again.
func (p *prompts) replied(ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message) (func(context.Context), error) {
	m.ReplyTo.Chat = m.Chat
	prompt := m.ReplyTo.ref()
	a, err := p.store.awaits(ctx, prompt, actor.User)
	if err != nil {
		return nil, err
	}
	if a.Token == "" {
		return p.passOn(ctx, sink, actor, m)
	}
	say := func(note string) func(context.Context) {
		return func(ctx context.Context) { p.replies.say(ctx, m, note) }
	}
	why, barred := m.barred()
	foreign := a.User != "" && (barred || actor.User != a.User)
	switch {
	case barred:
		return say(why + " Nothing was recorded."), nil
	case foreign:
		return say("This is not your question. Nothing was recorded. Click the button on the card to answer yourself."), nil
	case strings.TrimSpace(m.words()) == "": // an optional question would stay empty
		return func(ctx context.Context) { p.replies.confide(ctx, m, noteWordless, noteWordless) }, nil
	case a.User == "":
		return p.onCard(ctx, sink, actor, m, a)
	}
	c, own := a.click(actor, m.words()), m.ref()
	c.Ref, c.Written, c.At = p.chats.recorded(ctx, a.Card), &own, m.at()
	v, err := p.poster.order.click(ctx, sink, c)
	if err != nil {
		return nil, err // Telegram keeps a typed text for a day
	}
	return func(ctx context.Context) { p.entered(ctx, sink, m, prompt, a, v) }, nil
}

// entered informs a person of the result of a text, and removes its prompt.
func (p *prompts) entered(
	ctx context.Context, sink bridge.Sink, m message, prompt bridge.MessageRef, a awaited, v bridge.Verdict,
) {
	switch v.Kind {
	case bridge.VerdictSign:
		p.replies.say(ctx, m, p.replies.offer(ctx, m.From.id(), v.Note, v.Link))
	case bridge.VerdictReview:
		p.review(ctx, m, a, *v.Review)
		return
	case bridge.VerdictInvalid:
		p.replies.say(ctx, m, v.Note+" Reply to the same message again.")
		return
	case bridge.VerdictDraft:
		if v.View == nil {
			break
		}
		if err := p.poster.changed(ctx, sink, a.Card, *v.View); err != nil {
			p.log.Warn("card not updated", "error", err)
		}
		if v.View.Hides() {
			p.revealAgain(ctx, *v.View, a)
		}
	case bridge.VerdictSettled: // an edit job will show the outcome on the card
	default:
		if v.Note != "" {
			p.replies.say(ctx, m, v.Note)
		}
	}
	p.store.done(ctx, prompt, a)
}
