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
	plain, blocks := slackmsg.Note(text)
	opts := append(literal(plain), slack.MsgOptionBlocks(blocks...))
	if earlier != nil {
		turn := platforms.Turn{Key: earlier.Channel + "/" + earlier.Message, Rank: platforms.RankEdit}
		return *earlier, p.edits.Do(ctx, "", turn, func() error {
			_, err := p.change(ctx, *earlier, opts)
			return err
		})
	}
	out := bridge.MessageRef{Thread: cmp.Or(to.Thread, to.Message)}
	turn := platforms.Turn{Key: to.Message + text, Rank: platforms.RankAsk}
	err := p.posts.Do(ctx, to.Channel, turn, func() (err error) {
		opts := append(opts, slack.MsgOptionTS(out.Thread))
		out.Channel, out.Message, _, err = p.api.PostMessageWithResponseContext(ctx, to.Channel, opts...)
		return p.classify(to.Channel, err)
	})
	return out, err
}
