package telegram

import (
	"context"
	"errors"
	"log/slog"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// poster posts and edits cards, and checks that Telegram shows them in full.
type poster struct {
	client  *client
	chats   *chats
	files   *files
	prompts *promptStore
	log     *slog.Logger
	order   order
}

// general is the ID of the topic General in links to it. The Bot API finds no topic
// with this ID: github.com/tdlib/telegram-bot-api/issues/798.
const general = "1"

// post sends a card, after the file with its full text.
func (p *poster) post(ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	m, err := telegrammsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	params := tgbotapi.Params{"chat_id": p.chats.current(ctx, d.Channel)}
	// a notice needs no answer, so it is sent without a notification
	if v.Record.Interaction.Kind == bridge.KindNotice {
		params["disable_notification"] = "true"
	}
	if d.Thread != "" && d.Thread != general {
		params["message_thread_id"] = d.Thread
	}
	doc, err := p.files.send(ctx, params, v, m.File, parts)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if doc != "" {
		params["reply_parameters"] = replyTo(doc)
	}
	i := v.Record.Interaction
	send, turn := p.sendCard, platforms.NextTurn(i, len(parts.Sent()))
	if i.Preview != bridge.PreviewFull {
		turn.Calls = 2
		send = func(ctx context.Context, params tgbotapi.Params, m telegrammsg.Message) (bridge.MessageRef, error) {
			return p.sendVeiled(ctx, params, v, m)
		}
	}
	var card bridge.MessageRef
	err = p.client.paced(ctx, d.Channel, turn, func() (err error) {
		card, err = send(ctx, params, m)
		return err
	})
	if err == nil {
		p.prompts.invite(ctx, card, v)
	}
	return card, err
}

// sendVeiled posts a message with the text of the notification, and then edits
// it into the card. A message that does not become the card is removed.
func (p *poster) sendVeiled(
	ctx context.Context, params tgbotapi.Params, v bridge.View, m telegrammsg.Message,
) (bridge.MessageRef, error) {
	ref, err := p.sendCard(ctx, params, telegrammsg.Preview(v))
	if err != nil {
		return ref, err
	}
	if err := p.change(ctx, ref, v, m); err != nil {
		p.client.remove(context.WithoutCancel(ctx), ref)
		return bridge.MessageRef{}, err
	}
	return ref, nil
}

// sendCard posts a card. It removes a card that does not show all of its text.
func (p *poster) sendCard(ctx context.Context, params tgbotapi.Params, m telegrammsg.Message) (bridge.MessageRef, error) {
	card, err := p.client.send(ctx, params, m)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if card.short {
		p.client.takeBack(ctx, card.ref(), m)
		return bridge.MessageRef{}, incomplete("its text is incomplete")
	}
	return card.ref(), nil
}

// changed draws a card again after a person changed the draft on it. If that draft has
// changed again since, the later change draws the card.
func (p *poster) changed(ctx context.Context, sink bridge.Sink, card bridge.MessageRef, v bridge.View) error {
	if p.order.stale(v) {
		return nil
	}
	return platforms.Redraw(ctx, sink, card, v, p.update)
}

// update draws a card again, and removes prompts that it no longer needs.
func (p *poster) update(ctx context.Context, card bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	ref := p.chats.shown(ctx, card)
	err := p.redraw(ctx, ref, v, parts)
	if _, moved := errors.AsType[movedError](err); moved && !v.Record.State.Final() {
		ref, err = p.repost(ctx, card, v)
		if err == nil {
			err = p.redraw(ctx, ref, v, parts)
		}
	}
	if err == nil {
		p.prompts.invite(ctx, ref, v) // for as long as the request is open
	}
	var open bridge.ID
	if !v.Record.State.Final() || render.TakesMessages(v) {
		open = v.Record.Interaction.ID
	}
	if err := p.prompts.retire(ctx, ref, open); err != nil {
		p.log.Warn("prompts not removed", "error", err)
	}
	return err
}

// repost posts the card of a basic group in the supergroup that the group
// became, and returns the message. The message has no controls yet, because a
// click counts for the card only after the message is recorded as its copy.
func (p *poster) repost(ctx context.Context, card bridge.MessageRef, v bridge.View) (bridge.MessageRef, error) {
	bare, err := telegrammsg.Build(v.Unfinished())
	if err != nil {
		return card, err
	}
	chat := p.chats.current(ctx, card.Channel)
	if chat == card.Channel {
		return card, bridge.Errorf(bridge.CodeUnavailable, "telegram: the supergroup of %s is not known", chat)
	}
	var message bridge.MessageRef
	err = p.client.paced(ctx, chat, platforms.NextTurn(v.Record.Interaction, 0), func() (err error) {
		message, err = p.sendCard(ctx, tgbotapi.Params{"chat_id": chat}, bare)
		return err
	})
	if err != nil {
		return card, err
	}
	p.prompts.invite(ctx, message, v)
	first, err := p.chats.copied(ctx, card, message, v.Record.Interaction.Deadline)
	if err == nil && first.Message != message.Message { // another daemon posted it first
		p.client.remove(ctx, message)
	}
	return first, err
}

// redraw edits a card. An edit without a keyboard removes the keyboard, because
// a card whose file is missing has no controls.
func (p *poster) redraw(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	m, err := telegrammsg.Build(v)
	if err != nil {
		return err
	}
	if m.File == nil || filed(parts, ref.Channel) != "" {
		return p.edit(ctx, ref, v, m)
	}
	first, err := telegrammsg.Build(v.Unfinished())
	if err != nil {
		return err
	}
	if err := p.edit(ctx, ref, v, first); err != nil || parts.Closed() {
		return err
	}
	if _, err := p.files.send(ctx, answering(ref), v, m.File, parts); err != nil {
		return err
	}
	return p.edit(ctx, ref, v, m)
}

// edit changes a card at its turn.
func (p *poster) edit(ctx context.Context, ref bridge.MessageRef, v bridge.View, m telegrammsg.Message) error {
	turn := platforms.Turn{Key: "edit " + ref.Message, Rank: platforms.RankEdit}
	return p.client.paced(ctx, ref.Channel, turn, func() error {
		return p.order.draw(v, func() error { return p.change(ctx, ref, v, m) })
	})
}

// change changes a card. If the result does not show the complete card, it
// removes the controls.
func (p *poster) change(ctx context.Context, ref bridge.MessageRef, v bridge.View, m telegrammsg.Message) error {
	changed, err := p.client.edit(ctx, ref, m)
	if err != nil {
		return stays(err)
	}
	if !changed.short {
		return nil
	}
	bare, err := telegrammsg.Build(v.Unfinished())
	if err == nil {
		_, err = p.client.edit(ctx, ref, bare)
	}
	if err != nil {
		return stays(err)
	}
	return incomplete("its text is incomplete")
}

// stays makes the error of an edit final if the chat is a basic group that
// became a supergroup, because old messages stay in the basic group.
func stays(err error) error {
	if _, moved := errors.AsType[movedError](err); moved {
		return platforms.Row{About: platforms.AboutFrozen}.Err(err, "telegram: the card is in a basic group that became a supergroup")
	}
	return err
}

// remind replies to a card with a mention of the users of a reminder.
func (p *poster) remind(ctx context.Context, card bridge.MessageRef, r bridge.Reminder) error {
	params := tgbotapi.Params{"chat_id": p.chats.current(ctx, card.Channel)}
	shown := p.chats.shown(ctx, card)
	replies := shown.Channel == params["chat_id"]
	if replies {
		params = answering(shown)
	}
	turn := platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}
	return p.client.paced(ctx, card.Channel, turn, func() error {
		got, err := p.client.send(ctx, params, telegrammsg.Reminder(r))
		if err == nil && replies && got.ID != 0 && got.ReplyTo == nil { // Telegram ignores a missing message
			err = platforms.Row{About: platforms.AboutDeleted}.Err(nil, "telegram: the card was deleted")
		}
		return err
	})
}

// tell sends a person a message in their private chat.
func (p *poster) tell(ctx context.Context, user, text string) error {
	return p.client.paced(ctx, user, platforms.Turn{Key: user + text, Rank: platforms.RankAsk}, func() error {
		_, err := p.client.send(ctx, tgbotapi.Params{"chat_id": user}, telegrammsg.Reply(text))
		return err
	})
}

func incomplete(hidden string) error {
	return bridge.Errorf(bridge.CodeUnsupported, "telegram: the message was accepted, but %s", hidden)
}
