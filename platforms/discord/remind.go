package discord

import (
	"context"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

const (
	maxContent  = 2000 // maximum length of a message text, in code points
	maxReminded = 50   // maximum number of people that one reminder mentions
)

// tell sends a person a direct message that mentions no one.
func (po *poster) tell(ctx context.Context, user, text string) error {
	channel, err := po.places.channel(ctx, bridge.Destination{Channel: "@" + user})
	if err != nil {
		return err
	}
	body := map[string]any{
		"content": render.Cut(discordmsg.Escape(render.Clean(text)), maxContent, render.Runes), "allowed_mentions": silent,
	}
	turn := platforms.Turn{Key: user + text, Rank: platforms.RankAsk}
	return po.metered(ctx, po.posts, channel, turn, func(ctx context.Context) error {
		return po.api.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), body, nil)
	})
}

// remind posts a reply to a card that mentions only r.Users.
func (po *poster) remind(ctx context.Context, card bridge.MessageRef, r bridge.Reminder) error {
	who, roles, users := []string{}, []string{}, unique(r.Users)
	users = users[:min(len(users), maxReminded)]
	for _, u := range users {
		who = append(who, "<@"+u+">")
	}
	for _, g := range r.Groups {
		_, role, _ := strings.Cut(g, "/")
		who, roles = append(who, "<@&"+role+">"), append(roles, role)
	}
	text := render.Remind(who, "")
	text += render.Cut(discordmsg.Timed(render.Clean(r.Text)), maxContent-len(text), render.Runes)
	mentions := mentioning(users, roles)
	body := map[string]any{
		"content": text, "allowed_mentions": mentions,
		"message_reference": map[string]any{"message_id": card.Message, "fail_if_not_exists": false},
	}
	endpoint := discordgo.EndpointChannelMessages(card.Channel)
	turn := platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}
	err := po.metered(ctx, po.posts, card.Channel, turn, func(ctx context.Context) error {
		return po.api.do(ctx, http.MethodPost, endpoint, body, nil)
	})
	if platforms.Is(err, platforms.AboutContent, platforms.AboutPermission) { // Discord refuses the reference, or the bot may not read the history
		delete(body, "message_reference")
		err = po.api.do(ctx, http.MethodPost, endpoint, body, nil)
	}
	return err
}
