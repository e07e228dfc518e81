package telegram

import (
	"context"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// NoteSteering implements bridge.SteeringNoter. The note replies to the message.
func (p *Platform) NoteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	return p.poster.noteSteering(ctx, to, earlier, text)
}

func (po *poster) noteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	if earlier != nil {
		turn := platforms.Turn{Key: "edit " + earlier.Message, Rank: platforms.RankEdit}
		return *earlier, po.client.paced(ctx, earlier.Channel, turn, func() error {
			_, err := po.client.edit(ctx, *earlier, telegrammsg.Reply(text))
			return err
		})
	}
	var note sent
	turn := platforms.Turn{Key: to.Message + text, Rank: platforms.RankAsk}
	err := po.client.paced(ctx, to.Channel, turn, func() (err error) {
		note, err = po.client.send(ctx, answering(to), telegrammsg.Reply(text))
		return err
	})
	return note.ref(), err
}

// passOn handles a reply to a card that is not an answer. It passes the reply to
// the sink, because the sink knows whether the reply is for an agent. It returns the remaining
// work. After an error, the reply must be handled again.
func (p *prompts) passOn(ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message) (func(context.Context), error) {
	listener, ok := sink.(bridge.Listener)
	if !ok {
		return nil, nil
	}
	to, own := p.chats.recorded(ctx, m.ReplyTo.ref()), m.ref()
	v, err := listener.Reply(ctx, bridge.Said{
		Actor: actor, Card: bridge.MessageRef{Channel: to.Channel, Message: to.Message}, Message: own.Message, In: own.Thread,
		Text: m.words(), At: m.at(), Standing: m.standing(),
		After: func(bridge.MessageRef) bool { return true }, // the reply names the card
	})
	if err == nil && v.Note == "" && v.Kind == "" && m.Chat.ID == m.From.ID && !m.edited { // each message there is meant for nod
		v.Note = bridge.NoteToBot
	}
	if err != nil || v.Note == "" || v.Kind == bridge.VerdictSettled {
		return nil, err
	}
	return func(ctx context.Context) { p.replies.say(ctx, m, v.Note) }, nil
}
