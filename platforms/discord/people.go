package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
)

var _ bridge.Grouper = (*Platform)(nil)

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
