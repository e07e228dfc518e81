package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
)

// people looks up members of servers and their roles.
type people struct{ api *api }

// belongs reports whether a user has a role, which group names as GUILD/ROLE.
// Reading one member does not need the privileged intent that listing them
// needs.
func (p people) belongs(ctx context.Context, group, user string) (bool, error) {
	guild, role, ok := strings.Cut(group, "/")
	if !ok {
		return false, bridge.Errorf(bridge.CodeInvalid, "discord: invalid group %q (expected GUILD/ROLE)", group)
	}
	var m discordgo.Member
	err := p.api.do(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, user), nil, &m)
	if bridge.ErrorCode(err) == bridge.CodeNotFound {
		return false, nil // not in the guild at all
	}
	return slices.Contains(m.Roles, role), err
}
