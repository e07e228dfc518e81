package telegram

import (
	"context"
	"time"

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
	if err := po.client.pace(ctx, to.Channel, platforms.Turn{Key: to.Message + text, Rank: platforms.RankEdit}); err != nil {
		return bridge.MessageRef{}, err
	}
	if earlier != nil {
		_, err := po.client.edit(ctx, *earlier, telegrammsg.Reply(text))
		return *earlier, err
	}
	sent, err := po.client.send(ctx, answering(to), telegrammsg.Reply(text))
	return sent.ref(), err
}

// passOn passes a reply to a card that is not an answer to the sink, which knows
// whether it is for an agent. An error means that the reply must be delivered
// again.
func (p *prompts) passOn(ctx context.Context, sink bridge.Sink, actor bridge.Actor, m message) error {
	listener, ok := sink.(bridge.Listener)
	if !ok || m.SenderChat != nil {
		return nil
	}
	to, own := p.chats.recorded(ctx, m.ReplyTo.ref()), m.ref()
	v, err := listener.Reply(ctx, bridge.Said{
		Actor: actor, Card: bridge.MessageRef{Channel: to.Channel, Message: to.Message}, Message: own.Message, In: own.Thread,
		Text: m.words(), At: time.Unix(m.Date, 0),
		After: func(bridge.MessageRef) bool { return true }, // it names the card
	})
	if err != nil {
		return err
	}
	if v.Note != "" && v.Kind != bridge.VerdictSettled {
		p.replies.say(ctx, m, v.Note)
	}
	return nil
}
