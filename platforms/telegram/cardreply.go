package telegram

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// invited returns the purpose of a reply to a card: the answer to its only
// question, or the search in its list. It returns the zero value for a card
// that accepts no replies. The token is bound to the round of the card, so a
// reply to it never answers a follow-up.
func invited(card bridge.MessageRef, v bridge.View) awaited {
	i := v.Record.Interaction
	if i.Private || v.Record.State.Final() || !telegrammsg.TakesReplies(i) {
		return awaited{}
	}
	a := awaited{Card: card, Interaction: i.ID, Option: bridge.OptionForm, Token: v.Token(bridge.ActionSubmit, 0, bridge.OptionForm)}
	if q, _ := i.Lone(); !q.FreeText() {
		a.Token = v.Token(bridge.ActionPage, 0, 0)
	}
	return a
}

// A reply soon after a message of the bot may arrive before nod has stored the
// purpose of the message, because another daemon may have posted it.
const (
	soon      = 10 * time.Second // by the clock of Telegram
	settleMax = 10 * time.Second
	settleLap = 100 * time.Millisecond
)

// settled waits until nod knows the purpose of a reply to a new message of the
// bot.
func (p *prompts) settled(ctx context.Context, u update) {
	m := u.Message
	if m == nil || m.From == nil || m.ReplyTo == nil || m.ReplyTo.By == nil || !m.ReplyTo.By.IsBot || p.store.notes == nil || !telegrammsg.Invites(m.ReplyTo.Text, m.ReplyTo.buttons()) ||
		time.Duration(m.Date-m.ReplyTo.Sent)*time.Second > soon {
		return
	}
	to := *m.ReplyTo
	to.Chat = m.Chat
	ctx, cancel := context.WithTimeout(ctx, settleMax)
	defer cancel()
	for {
		a, err := p.store.stored(ctx, to.ref())
		if err != nil || a.Card != (bridge.MessageRef{}) || !bridge.Pause(ctx, settleLap) {
			return
		}
	}
}

// whyPrivate is shown to everyone instead of a note that cannot be sent to one
// person.
const whyPrivate = "Nothing was recorded. The reason is only for you. Open a chat with this bot, click Start, and reply again."

// onCard handles a reply to a card, and returns the remaining work. After an
// error, the reply must be handled again.
func (p *prompts) onCard(
	ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message, a awaited,
) (func(context.Context), error) {
	if bridge.PeekAction(a.Token) == bridge.ActionPage {
		return p.find(ctx, sink, actor, m, a)
	}
	c := a.click(actor, m.words())
	c.Ref, c.At = p.chats.recorded(ctx, a.Card), m.at()
	v, err := p.poster.order.click(ctx, sink, c)
	if err != nil {
		return nil, err // Telegram keeps a typed text for a day
	}
	return func(ctx context.Context) {
		switch v.Kind {
		case bridge.VerdictInvalid:
			p.replies.say(ctx, m, v.Note+" Reply to the card again.")
		case bridge.VerdictSign:
			p.replies.say(ctx, m, p.replies.offer(ctx, m.From.id(), v.Note, v.Link))
		case bridge.VerdictSettled: // an edit job will show the outcome on the card
		default:
			p.replies.confide(ctx, m, v.Note, whyPrivate)
		}
	}, nil
}

// maxFound is the maximum number of options in the reply to an ambiguous
// search.
const maxFound = 10

// find shows the page with the option that a person typed. It also chooses the
// option, unless that would answer the request.
func (p *prompts) find(
	ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message, a awaited,
) (func(context.Context), error) {
	c := bridge.Click{Token: a.Token, Actor: actor, Ref: p.chats.recorded(ctx, a.Card), At: m.at()}
	v, said, err := p.choose(ctx, sink, c, m.words())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		if v.Kind != bridge.VerdictDraft && said == "" {
			p.replies.confide(ctx, m, v.Note, whyPrivate)
			return
		}
		if v.View != nil {
			if err := p.poster.changed(ctx, sink, a.Card, *v.View); err != nil {
				p.log.Warn("card not updated", "error", err)
			}
		}
		if said != "" {
			p.replies.say(ctx, m, said)
		}
	}, nil
}

// choose performs c, which names the question, and then the clicks that show an
// option and choose it. It returns the last verdict, and a reply if no option was
// chosen.
func (p *prompts) choose(
	ctx context.Context, sink bridge.Sink, c bridge.Click, typed string,
) (v bridge.Verdict, said string, err error) {
	v, err = p.poster.order.click(ctx, sink, c)
	if err != nil || v.Kind != bridge.VerdictDraft || v.View == nil {
		return v, "", err
	}
	q, _ := v.View.Record.Interaction.Lone()
	found := telegrammsg.Find(q.Question, typed)
	if len(found) == 0 {
		v.View = nil
		return v, fmt.Sprintf("No option starts with %q. Nothing was chosen.", render.Line(typed)), nil
	}
	next := []string{v.View.Token(bridge.ActionPage, 0, telegrammsg.PageOf(found[0]))}
	if len(found) == 1 && !q.OneTap() {
		value, _ := v.View.Draft.Value(q)
		next = append(next, choice(*v.View, q, value, found[0])...)
	}
	if len(found) > 1 {
		said = several(q.Question, found)
	}
	for _, c.Token = range next {
		if v, err = p.poster.order.click(ctx, sink, c); err != nil {
			return v, "", err
		}
	}
	return v, said, nil
}

// choice returns the token that chooses an option, or "" if the option is
// already chosen.
func choice(v bridge.View, q bridge.Field, value bridge.Answer, option int) []string {
	for _, chosen := range value.Values() {
		if chosen == q.Options[option].Value {
			return nil
		}
	}
	if q.Multiple() {
		return []string{v.Token(bridge.ActionToggle, 0, option)}
	}
	return []string{v.Token(bridge.ActionChoose, 0, option)}
}

// several lists the options that a search found.
func several(q bridge.Question, found []int) string {
	var names []string
	for _, n := range found[:min(len(found), maxFound)] {
		names = append(names, render.Line(q.Options[n].Text()))
	}
	s := fmt.Sprintf("%d options start with this text: %s", len(found), strings.Join(names, ", "))
	if len(found) > maxFound {
		s += ", …"
	}
	return s + ". The card shows the first. Nothing was chosen. Reply with more letters."
}

// invite records that a card accepts replies.
func (s *promptStore) invite(ctx context.Context, card bridge.MessageRef, v bridge.View) {
	a := invited(card, v)
	if a.Token == "" || s.notes == nil {
		return
	}
	if err := s.put(ctx, card, a, max(0, time.Until(v.Record.Interaction.Deadline))+copiedFor); err != nil {
		s.log.Warn("card takes no replies", "error", err)
	}
}
