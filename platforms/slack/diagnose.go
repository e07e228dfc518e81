package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// Instructions for the settings of an app at api.slack.com/apps.
const (
	fixBotToken = "set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) at api.slack.com/apps > your app > OAuth & Permissions"
	fixAppToken = "generate a token with the scope connections:write at api.slack.com/apps > your app > " +
		"Basic Information > App-Level Tokens, and set SLACK_APP_TOKEN to it (xapp-…)"
	fixScopes = "add it at api.slack.com/apps > your app > OAuth & Permissions > Bot Token Scopes, " +
		"then click Reinstall to Workspace"
	fixSocketMode = "turn it on at api.slack.com/apps > your app > Socket Mode"
	fixChannel    = "copy the ID at the end of the channel's About tab, and send /invite @nod in the channel"
)

// doctor checks the setup of the app.
type doctor struct {
	*workspace
	clock      string // URL whose response contains Slack's time
	socketMode bool
}

// Diagnose implements bridge.Diagnoser.
func (d doctor) Diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	r := &platforms.Report{Platform: d.name}
	me, err := d.api.AuthTestContext(ctx)
	if err != nil {
		r.Fail("token", d.classify("", err), fixBotToken)
		return r.Findings
	}
	r.Add("token", bridge.FindingOK, "@"+me.User+" in "+me.Team, "")
	reportScopes(r, strings.Split(me.Header.Get("X-OAuth-Scopes"), ","), needs)
	d.socket(ctx, r)
	for _, to := range needs.Destinations {
		d.channel(ctx, r, to)
	}
	for _, id := range needs.Accounts {
		d.account(ctx, r, id)
	}
	for _, group := range needs.Groups {
		d.group(ctx, r, group)
	}
	r.Findings = append(r.Findings, platforms.Clock(ctx, d.http, d.clock, d.name+".clock"))
	return r.Findings
}

// reportScopes compares the scopes of the token with those that nod needs.
func reportScopes(r *platforms.Report, have []string, needs bridge.Needs) {
	for n := range have {
		have[n] = strings.TrimSpace(have[n])
	}
	if slices.Equal(have, []string{""}) {
		r.Add("scopes", bridge.FindingSkipped, "Slack does not report the scopes of the token", "")
		return
	}
	direct := slices.ContainsFunc(needs.Destinations, isDirect)
	missing := false
	for _, s := range []struct {
		scope, what string
		must, asked bool
	}{
		{"chat:write", "to post cards", true, true},
		{"im:write", "to send direct messages", true, direct},
		{"users:read.email", "to recognize accounts by their email address (identity.email)", true, needs.Emails},
		{"users:read", "to recognize accounts by their email address (identity.email)", true, needs.Emails},
		{"usergroups:read", "to look up the members of user groups (groups)", true, len(needs.Groups) > 0},
		{"commands", "for /nod", false, true},
	} {
		if !s.asked || slices.Contains(have, s.scope) {
			continue
		}
		status := bridge.FindingWarning
		if s.must {
			status = bridge.FindingFailed
		}
		r.Add("scopes", status, "missing scope "+s.scope+", required "+s.what, fixScopes)
		missing = true
	}
	if !missing {
		r.Add("scopes", bridge.FindingOK, strings.Join(have, " "), "")
	}
}

// isDirect reports whether a destination is a person or a direct message. The
// ID of a person starts with U, or with W in an Enterprise Grid. The ID of a
// direct message starts with D.
func isDirect(d bridge.Destination) bool {
	return d.Channel != "" && strings.Contains("UWD", d.Channel[:1])
}

// socket checks the app-level token, if the app uses Socket Mode. It does not
// connect, because Slack would send it clicks that the daemon needs.
func (d doctor) socket(ctx context.Context, r *platforms.Report) {
	if !d.socketMode {
		r.Add("signature", bridge.FindingSkipped, "the signing secret is checked with the first click", "")
		return
	}
	_, _, err := d.api.StartSocketModeContext(ctx)
	if err == nil {
		r.Add("socket", bridge.FindingOK, "Slack accepts the app-level token for Socket Mode; the daemon connects with it, and this check does not", "")
		return
	}
	err, fix := d.classify("", err), fixAppToken
	if platforms.Is(err, platforms.AboutPermission) {
		fix += "; " + fixSocketMode
	}
	r.Fail("socket", err, fix)
}

// group checks whether nod can read the members of a user group.
func (d doctor) group(ctx context.Context, r *platforms.Report, group string) {
	members, err := d.api.GetUserGroupMembersContext(ctx, group)
	switch err = d.classify("", err); {
	case err != nil:
		r.Fail("group."+group, err, "set groups.NAME.slack to the ID of a user group, and give the app the scope usergroups:read; until then, the group gives no one access")
	case len(members) == 0:
		r.Add("group."+group, bridge.FindingWarning, "no one is in the user group", "add members in Slack; until then, the group gives no one access")
	default:
		r.Add("group."+group, bridge.FindingOK, fmt.Sprintf("members of the user group: %d", len(members)), "")
	}
}

// channel checks that the bot can post to a destination.
func (d doctor) channel(ctx context.Context, r *platforms.Report, to bridge.Destination) {
	check := "channel." + to.Channel
	if isDirect(to) {
		r.Add(check, bridge.FindingSkipped, "direct messages cannot be checked without sending one", "")
		return
	}
	c, err := d.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: to.Channel})
	err = d.classify(to.Channel, err)
	switch {
	case platforms.Is(err, platforms.AboutPermission):
		r.Add(check, bridge.FindingSkipped,
			"this check requires the scope channels:read, or groups:read for private channels", fixScopes)
	case platforms.Is(err, platforms.AboutChannel):
		r.Add(check, bridge.FindingFailed, "the channel does not exist, or it is private and the bot is not in it", fixChannel)
	case err != nil:
		r.Fail(check, err, "")
	case !c.IsMember && !c.IsIM:
		r.Add(check, bridge.FindingFailed, "the bot is not in #"+c.Name, "send /invite @nod in #"+c.Name)
	case c.IsArchived:
		r.Add(check, bridge.FindingFailed, "#"+c.Name+" is archived", "choose another channel")
	default:
		r.Add(check, bridge.FindingOK, "the bot is in #"+c.Name, "")
	}
}
