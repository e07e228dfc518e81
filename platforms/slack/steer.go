package slack

import (
	"cmp"
	"context"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// NoteSteering implements bridge.SteeringNoter. The note is in the thread of the
// message.
func (p poster) NoteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	if err := p.pacer.Wait(ctx, to.Channel, platforms.Turn{Key: to.Message + text, Rank: platforms.RankEdit}); err != nil {
		return bridge.MessageRef{}, err
	}
	plain, blocks := slackmsg.Note(text)
	opts := append(literal(plain), slack.MsgOptionBlocks(blocks...))
	if earlier != nil {
		_, err := p.change(ctx, *earlier, opts)
		return *earlier, err
	}
	thread := cmp.Or(to.Thread, to.Message)
	channel, ts, _, err := p.api.PostMessageWithResponseContext(ctx, to.Channel, append(opts, slack.MsgOptionTS(thread))...)
	return bridge.MessageRef{Channel: channel, Message: ts, Thread: thread}, p.classify(to.Channel, err)
}
