package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

// NoteSteering implements bridge.SteeringNoter. The note replies to the message
// and mentions no one.
func (p *Platform) NoteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	return p.poster.noteSteering(ctx, to, earlier, text)
}

func (po *poster) noteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	turn := platforms.Turn{Key: to.Message + text, Rank: platforms.RankAsk}
	text = render.Cut(discordmsg.Escape(render.Clean(text)), maxContent, render.Runes)
	if earlier != nil {
		endpoint := discordgo.EndpointChannelMessage(earlier.Channel, earlier.Message)
		turn = platforms.Turn{Key: earlier.Message, Rank: platforms.RankEdit}
		return *earlier, po.metered(ctx, po.edits, earlier.Channel, turn, func(ctx context.Context) error {
			return po.api.do(ctx, http.MethodPatch, endpoint, map[string]any{"content": text, "allowed_mentions": silent}, nil)
		})
	}
	var sent struct {
		ID string `json:"id"`
	}
	err := po.metered(ctx, po.posts, to.Channel, turn, func(ctx context.Context) error {
		return po.api.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(to.Channel), map[string]any{
			"content": text, "allowed_mentions": silent,
			"message_reference": map[string]any{"message_id": to.Message, "fail_if_not_exists": false},
		}, &sent)
	})
	return bridge.MessageRef{Channel: to.Channel, Message: sent.ID}, err
}
