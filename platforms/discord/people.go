package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/discordmsg"
)

var (
	_ bridge.Grouper   = (*Platform)(nil)
	_ bridge.Reminding = (*Platform)(nil)
)

const (
	maxContent  = 2000 // code points of a message's text
	maxReminded = 50   // people that one reminder mentions
)

// Remind implements bridge.Reminding. It posts a reply to the card that mentions
// only r.Users, whatever its text contains. Without Read Message History, it
// posts a separate message.
func (p *Platform) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	text, users := "", r.Users[:min(len(r.Users), maxReminded)]
	for _, u := range users {
		text += "<@" + u + "> "
	}
	text += render.Cut(discordmsg.Escape(render.Clean(r.Text)), maxContent-len(text), render.Runes)
	if err := p.pacer.Wait(ctx, card.Channel, platforms.Turn{Key: card.Message + r.Text, Rank: platforms.RankAsk}); err != nil {
		return err
	}
	body := map[string]any{
		"content": text,
		"allowed_mentions": map[string]any{
			"parse": []string{}, "users": append([]string{}, users...), "replied_user": false,
		},
		"message_reference": map[string]any{"message_id": card.Message, "fail_if_not_exists": false},
	}
	endpoint := discordgo.EndpointChannelMessages(card.Channel)
	err := p.do(ctx, http.MethodPost, endpoint, body, nil)
	if isCode(err, codeInvalidForm) || isCode(err, codeNoHistory) {
		delete(body, "message_reference")
		err = p.do(ctx, http.MethodPost, endpoint, body, nil)
	}
	return err
}

// Belongs implements bridge.Grouper. A group is GUILD/ROLE. Reading one member
// does not need the privileged intent that listing them needs.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	guild, role, ok := strings.Cut(group, "/")
	if !ok {
		return false, bridge.Errorf(bridge.CodeInvalid, "discord: invalid group %q (expected GUILD/ROLE)", group)
	}
	var m discordgo.Member
	err := p.do(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, user), nil, &m)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return false, nil // not in the guild at all
	}
	return slices.Contains(m.Roles, role), err
}
