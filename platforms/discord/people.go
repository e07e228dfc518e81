package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

var (
	_ bridge.Grouper   = (*Platform)(nil)
	_ bridge.Reminding = (*Platform)(nil)
)

// Remind implements bridge.Reminding: a reply to the card. Only those whom it
// is for are mentioned, whatever its text says.
func (p *Platform) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	text, users := "", []string{}
	for _, u := range r.Users {
		text += "<@" + u + "> "
		users = append(users, u)
	}
	if err := p.pacer.Wait(ctx, card.Channel, platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}); err != nil {
		return err
	}
	return p.do(ctx, http.MethodPost, discordgo.EndpointChannelMessages(card.Channel), map[string]any{
		"content": text + discordmsg.Escape(r.Text), "allowed_mentions": map[string]any{"parse": []string{}, "users": users, "replied_user": false},
		"message_reference": map[string]any{"message_id": card.Message, "fail_if_not_exists": false},
	}, nil)
}

// Belongs implements bridge.Grouper: a group is GUILD/ROLE. One member can be
// read without the privileged intent that listing them needs.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	guild, role, ok := strings.Cut(group, "/")
	if !ok {
		return false, bridge.Errorf(bridge.CodeInvalid, "discord: the group %q is not GUILD/ROLE", group)
	}
	var m discordgo.Member
	err := p.do(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, user), nil, &m)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return false, nil // not in the guild at all
	}
	return slices.Contains(m.Roles, role), err
}
