package discord

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// people looks up members of servers and their roles. It is safe for concurrent
// use.
type people struct {
	api *api
	log *slog.Logger

	mu    sync.Mutex
	roles map[string]roles // by server
}

// roles holds the roles of a server at a time.
type roles struct {
	all []*discordgo.Role
	at  time.Time
}

// belongs reports whether a user has a role, which group names as GUILD/ROLE.
// Reading one member does not need the privileged intent that listing them
// needs.
func (p *people) belongs(ctx context.Context, group, user string) (bool, error) {
	guild, role, ok := strings.Cut(group, "/")
	if !ok {
		return false, bridge.Errorf(bridge.CodeInvalid, "discord: invalid group %q (expected GUILD/ROLE)", group)
	}
	var m discordgo.Member
	err := p.api.do(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, user), nil, &m)
	if platforms.Is(err, platforms.AboutPerson) {
		return false, nil // the user is not in the server
	}
	return slices.Contains(m.Roles, role), err
}

// rolesKept is the time for which the roles of a server are remembered.
const rolesKept = time.Minute

// pings reports whether a mention of a role, which group names as GUILD/ROLE,
// notifies its members.
func (p *people) pings(ctx context.Context, group string) bool {
	ok, err := p.mentionable(ctx, group)
	if err != nil {
		p.log.Warn("role not found; its members are mentioned by name", "group", group, "error", err)
	}
	return err == nil && ok
}

// mentionable reports whether anyone can mention a role.
func (p *people) mentionable(ctx context.Context, group string) (bool, error) {
	guild, role, _ := strings.Cut(group, "/")
	p.mu.Lock()
	kept, ok := p.roles[guild]
	p.mu.Unlock()
	if !ok || time.Since(kept.at) > rolesKept {
		kept = roles{at: time.Now()}
		if err := p.api.do(ctx, http.MethodGet, discordgo.EndpointGuildRoles(guild), nil, &kept.all); err != nil {
			return false, err
		}
		p.mu.Lock()
		p.roles[guild] = kept
		p.mu.Unlock()
	}
	n := slices.IndexFunc(kept.all, func(r *discordgo.Role) bool { return r.ID == role })
	if n < 0 {
		return false, bridge.Errorf(bridge.CodeNotFound, "discord: unknown role %s", group)
	}
	return kept.all[n].Mentionable, nil
}
