package discord

import (
	"context"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const fixAccount = "turn on Developer Mode in Settings > Advanced, right-click the person, and choose Copy User ID"

// accounts checks that people are in the server of the first channel. Without a
// channel, it checks that the accounts exist.
func (dr doctor) accounts(ctx context.Context, r *platforms.Report, needs bridge.Needs) {
	guild := ""
	for _, d := range needs.Destinations {
		var c discordgo.Channel
		if guild != "" || strings.HasPrefix(d.Channel, "@") {
			continue
		}
		if dr.api.do(ctx, http.MethodGet, discordgo.EndpointChannel(d.Channel), nil, &c) == nil {
			guild = c.GuildID
		}
	}
	for _, id := range needs.Accounts {
		dr.account(ctx, r, guild, id)
	}
}

func (dr doctor) account(ctx context.Context, r *platforms.Report, guild, id string) {
	check, absent := "account."+id, "the person is not in the server"
	m := discordgo.Member{User: &discordgo.User{}}
	var err error
	if guild != "" {
		err = dr.api.do(ctx, http.MethodGet, discordgo.EndpointGuildMember(guild, id), nil, &m)
	} else {
		absent = "no account has this ID"
		err = dr.api.do(ctx, http.MethodGet, discordgo.EndpointUser(id), nil, m.User)
	}
	switch {
	case platforms.Is(err, platforms.AboutPerson, platforms.AboutContent):
		r.Add(check, bridge.FindingFailed, absent, fixAccount)
	case err != nil:
		r.Fail(check, err, "")
	case m.User.Bot:
		r.Add(check, bridge.FindingFailed, "the account is a bot, which cannot answer", fixAccount)
	default:
		r.Add(check, bridge.FindingOK, "@"+m.User.Username, "")
	}
}
