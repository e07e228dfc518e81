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
// and mentions nobody.
func (p *Platform) NoteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	return p.poster.noteSteering(ctx, to, earlier, text)
}

func (po *poster) noteSteering(
	ctx context.Context, to bridge.MessageRef, earlier *bridge.MessageRef, text string,
) (bridge.MessageRef, error) {
	turn := platforms.Turn{Key: to.Message + text, Rank: platforms.RankEdit}
	if err := po.pacer.Wait(ctx, to.Channel, turn); err != nil {
		return bridge.MessageRef{}, err
	}
	text = render.Cut(discordmsg.Escape(render.Clean(text)), maxContent, render.Runes)
	if earlier != nil {
		endpoint := discordgo.EndpointChannelMessage(earlier.Channel, earlier.Message)
		return *earlier, po.api.do(ctx, http.MethodPatch, endpoint, map[string]any{"content": text, "allowed_mentions": silent}, nil)
	}
	var sent struct {
		ID string `json:"id"`
	}
	err := po.api.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(to.Channel), map[string]any{
		"content": text, "allowed_mentions": silent,
		"message_reference": map[string]any{"message_id": to.Message, "fail_if_not_exists": false},
	}, &sent)
	return bridge.MessageRef{Channel: to.Channel, Message: sent.ID}, err
}
