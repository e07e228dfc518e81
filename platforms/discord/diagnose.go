package discord

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

var _ bridge.Diagnoser = (*Platform)(nil)

// permissions lists the permissions that the bot uses in a channel. If a needed
// one is missing, people cannot respond to requests there.
var permissions = []struct {
	bit    int64
	name   string
	needed bool
	what   string
}{
	{discordgo.PermissionViewChannel, "View Channel", true, "to see the channel"},
	{discordgo.PermissionSendMessages, "Send Messages", true, "to post requests"},
	{discordgo.PermissionAttachFiles, "Attach Files", true, "to deliver requests that are too long for a message"},
	{discordgo.PermissionCreatePublicThreads, "Create Public Threads", false, "to keep the requests of a session together"},
	{discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads", false, "to post into these threads"},
	{discordgo.PermissionReadMessageHistory, "Read Message History", false, "to post reminders as replies"},
	{discordgo.PermissionEmbedLinks, "Embed Links", false, "to let Discord preview links; requests are shown without it"},
}

const (
	fixDiscordToken    = "press Reset Token at discord.com/developers/applications > your application > Bot, and set DISCORD_BOT_TOKEN to it"
	fixDiscordEndpoint = "clear Interactions Endpoint URL at discord.com/developers/applications > your application > General Information, or use the HTTP mode (discord.public_key)"
	sessionsLow        = 50 // of 1000 a day
)

// inviteURL returns the URL that adds the bot of an application to a server.
func inviteURL(application string) string {
	var all int64
	for _, p := range permissions {
		all |= p.bit
	}
	return "https://discord.com/oauth2/authorize?client_id=" + application + "&scope=bot+applications.commands&permissions=" + strconv.FormatInt(all, 10)
}

type application struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Key      string  `json:"verify_key"`
	Endpoint *string `json:"interactions_endpoint_url"`
}

// Invite returns the URL that adds the bot to a server.
func (p *Platform) Invite(ctx context.Context) (string, error) {
	var app application
	if err := p.do(ctx, http.MethodGet, discordgo.EndpointApplications+"/@me", nil, &app); err != nil {
		return "", err
	}
	return inviteURL(app.ID), nil
}

// Diagnose implements bridge.Diagnoser. It checks no intents, because
// interactions need none.
func (p *Platform) Diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	r := &platforms.Report{Platform: p.name}
	var me discordgo.User
	if err := p.do(ctx, http.MethodGet, discordgo.EndpointUser("@me"), nil, &me); err != nil {
		r.Fail("token", err, fixDiscordToken)
		return r.Findings
	}
	r.Add("token", bridge.FindingOK, "@"+me.Username, "")
	var app application
	if err := p.do(ctx, http.MethodGet, discordgo.EndpointApplications+"/@me", nil, &app); err != nil {
		r.Fail("application", err, fixDiscordToken)
		return r.Findings
	}
	p.diagnoseDoor(ctx, r, app)
	for _, d := range needs.Destinations {
		p.diagnoseChannel(ctx, r, d, me.ID, app.ID)
	}
	r.Findings = append(r.Findings, platforms.Clock(ctx, p.client, discordgo.EndpointGateway, p.name+".clock"))
	return r.Findings
}

// diagnoseDoor checks how clicks arrive.
func (p *Platform) diagnoseDoor(ctx context.Context, r *platforms.Report, app application) {
	set := app.Endpoint != nil && *app.Endpoint != ""
	switch {
	case p.key != nil && !strings.EqualFold(app.Key, hex.EncodeToString(p.key)):
		r.Add("public_key", bridge.FindingFailed, "the application "+app.Name+" has another public key", "copy Public Key of discord.com/developers/applications > your application > General Information into discord.public_key")
	case p.key != nil && !set:
		r.Add("endpoint", bridge.FindingFailed, "the application has no interactions endpoint, so no press arrives", "set Interactions Endpoint URL to https://YOUR-HOST/discord/interactions, while nod serve runs")
	case p.key != nil:
		r.Add("endpoint", bridge.FindingOK, *app.Endpoint, "")
	case set:
		r.Add("endpoint", bridge.FindingFailed, "presses go to "+*app.Endpoint+" and not to the gateway", fixDiscordEndpoint)
	default:
		p.diagnoseGateway(ctx, r)
	}
}

func (p *Platform) diagnoseGateway(ctx context.Context, r *platforms.Report) {
	g, err := p.address(ctx)
	if err != nil {
		r.Fail("gateway", err, "")
		return
	}
	left := g.Limit.Remaining
	detail := fmt.Sprintf("%d of %d sessions are left today; no intent is needed", left, g.Limit.Total)
	if left < sessionsLow {
		r.Add("gateway", bridge.FindingWarning, detail, "find out what starts over and over; the count begins anew in "+g.Limit.resets().Round(time.Minute).String())
		return
	}
	r.Add("gateway", bridge.FindingOK, detail, "")
}

func (p *Platform) diagnoseChannel(ctx context.Context, r *platforms.Report, d bridge.Destination, me, app string) {
	check := "channel." + d.Channel
	if strings.HasPrefix(d.Channel, "@") {
		r.Add(check, bridge.FindingSkipped, "a direct message shows only when it is sent", "")
		return
	}
	var c discordgo.Channel
	if err := p.do(ctx, http.MethodGet, discordgo.EndpointChannel(d.Channel), nil, &c); err != nil {
		r.Fail(check, err, "invite the bot: "+inviteURL(app)+", and allow View Channel for its role")
		return
	}
	have, err := p.rest.UserChannelPermissions(me, d.Channel, discordgo.WithContext(ctx))
	if err != nil {
		r.Add(check, bridge.FindingSkipped, "the bot sees #"+c.Name+"; what it may do there is not known", "")
		return
	}
	state, names, lacks := bridge.FindingOK, []string{}, []string{}
	for _, want := range permissions {
		if have&want.bit != 0 || have&discordgo.PermissionAdministrator != 0 {
			continue
		}
		names, lacks = append(names, want.name), append(lacks, want.name+" ("+want.what+")")
		if want.needed {
			state = bridge.FindingFailed
		} else if state == bridge.FindingOK {
			state = bridge.FindingWarning
		}
	}
	if state == bridge.FindingOK {
		r.Add(check, state, "the bot may post in #"+c.Name, "")
		return
	}
	r.Add(check, state, "in #"+c.Name+" the bot lacks "+strings.Join(lacks, ", "), "allow "+strings.Join(names, ", ")+" for the bot's role at the channel > Edit Channel > Permissions")
}
