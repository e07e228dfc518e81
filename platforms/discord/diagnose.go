package discord

import (
	"context"
	"crypto/ed25519"
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
	{discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads", false, "to post in these threads"},
	{discordgo.PermissionReadMessageHistory, "Read Message History", false, "to post reminders as replies"},
	{discordgo.PermissionEmbedLinks, "Embed Links", false, "to let Discord preview links; requests are shown without it"},
}

// Instructions for the settings in Discord's developer portal.
const (
	atApplication = "discord.com/developers/applications > your application > "

	fixDiscordToken    = "click Reset Token at " + atApplication + "Bot, and set DISCORD_BOT_TOKEN to the new token"
	fixDiscordKey      = "copy the public key at " + atApplication + "General Information into discord.public_key"
	fixDiscordEndpoint = "clear Interactions Endpoint URL at " + atApplication +
		"General Information, or use HTTP mode (discord.public_key)"
	fixNoEndpoint = "set Interactions Endpoint URL to https://YOUR-HOST/discord/interactions, while nod serve runs"
)

// sessionsLow is the number of gateway sessions, of 1000 a day, below which
// doctor warns.
const sessionsLow = 50

// inviteURL returns the URL that adds the bot of an application to a server.
func inviteURL(application string) string {
	var all int64
	for _, p := range permissions {
		all |= p.bit
	}
	return "https://discord.com/oauth2/authorize?client_id=" + application +
		"&scope=bot+applications.commands&permissions=" + strconv.FormatInt(all, 10)
}

// doctor checks the setup of the application.
type doctor struct {
	api    *api
	people *people
	name   string
	key    ed25519.PublicKey // for HTTP mode; nil in gateway mode
}

// invite returns the URL that adds the bot to a server.
func (dr doctor) invite(ctx context.Context) (string, error) {
	app, err := dr.api.application(ctx)
	if err != nil {
		return "", err
	}
	return inviteURL(app.ID), nil
}

// diagnose checks the token, the delivery of clicks, the channels and the
// clock.
func (dr doctor) diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	r := &platforms.Report{Platform: dr.name}
	var me discordgo.User
	if err := dr.api.do(ctx, http.MethodGet, discordgo.EndpointUser("@me"), nil, &me); err != nil {
		r.Fail("token", err, fixDiscordToken)
		return r.Findings
	}
	r.Add("token", bridge.FindingOK, "@"+me.Username, "")
	app, err := dr.api.application(ctx)
	if err != nil {
		r.Fail("application", err, fixDiscordToken)
		return r.Findings
	}
	if dr.key != nil {
		dr.endpoint(r, app)
	} else {
		dr.gateway(ctx, r, app)
	}
	for _, d := range needs.Destinations {
		dr.channel(ctx, r, d, me.ID, app.ID)
	}
	dr.accounts(ctx, r, needs)
	for _, group := range needs.Groups {
		dr.role(ctx, r, group)
	}
	r.Findings = append(r.Findings, platforms.Clock(ctx, dr.api.client, discordgo.EndpointGateway, dr.name+".clock"))
	return r.Findings
}

// endpoint checks whether clicks arrive at the endpoint of HTTP mode.
func (dr doctor) endpoint(r *platforms.Report, app application) {
	switch {
	case !strings.EqualFold(app.Key, hex.EncodeToString(dr.key)):
		r.Add("public_key", bridge.FindingFailed, "the application "+app.Name+" has a different public key", fixDiscordKey)
	case app.Endpoint == nil || *app.Endpoint == "":
		r.Add("endpoint", bridge.FindingFailed, "the application has no interactions endpoint, so no click arrives", fixNoEndpoint)
	default:
		r.Add("endpoint", bridge.FindingOK, *app.Endpoint, "")
	}
}

// gateway checks whether clicks arrive at the gateway.
func (dr doctor) gateway(ctx context.Context, r *platforms.Report, app application) {
	if app.Endpoint != nil && *app.Endpoint != "" {
		r.Add("endpoint", bridge.FindingFailed, "clicks go to "+*app.Endpoint+" and not to the gateway", fixDiscordEndpoint)
		return
	}
	g, err := dr.api.gatewayAddress(ctx)
	if err != nil {
		r.Fail("gateway", err, "")
		return
	}
	left := g.Limit.Remaining
	detail := fmt.Sprintf("%d of %d sessions are left today; no privileged intent is needed", left, g.Limit.Total)
	if left < sessionsLow {
		resets := g.Limit.resets().Round(time.Minute).String()
		r.Add("gateway", bridge.FindingWarning, detail, "find out what keeps restarting; the count resets in "+resets)
		return
	}
	r.Add("gateway", bridge.FindingOK, detail, "")
}

// role checks whether a mention of a role notifies its members.
func (dr doctor) role(ctx context.Context, r *platforms.Report, group string) {
	switch ok, err := dr.people.mentionable(ctx, group); {
	case err != nil:
		r.Fail("role."+group, err, "set groups.NAME.discord to SERVER/ROLE, and invite the bot to that server")
	case !ok:
		r.Add("role."+group, bridge.FindingWarning, "no one can mention the role, so nod mentions its known members by name",
			"turn on Allow anyone to @mention this role at Server Settings > Roles > the role")
	default:
		r.Add("role."+group, bridge.FindingOK, "a mention notifies the members of the role, whom Discord does not list", "")
	}
}

// channel checks the permissions of the bot in a channel.
func (dr doctor) channel(ctx context.Context, r *platforms.Report, d bridge.Destination, me, app string) {
	check := "channel." + d.Channel
	if strings.HasPrefix(d.Channel, "@") {
		r.Add(check, bridge.FindingSkipped, "direct messages cannot be checked without sending one", "")
		return
	}
	var c discordgo.Channel
	if err := dr.api.do(ctx, http.MethodGet, discordgo.EndpointChannel(d.Channel), nil, &c); err != nil {
		r.Fail(check, err, "invite the bot: "+inviteURL(app)+", and allow View Channel for its role")
		return
	}
	have, err := dr.api.rest.UserChannelPermissions(me, d.Channel, discordgo.WithContext(ctx))
	if err != nil {
		r.Add(check, bridge.FindingSkipped, "the bot sees #"+c.Name+"; its permissions there are unknown", "")
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
	r.Add(check, state, "in #"+c.Name+" the bot lacks "+strings.Join(lacks, ", "),
		"allow "+strings.Join(names, ", ")+" for the bot's role at the channel > Edit Channel > Permissions")
}
