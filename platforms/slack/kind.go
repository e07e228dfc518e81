package slack

import (
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/config/secret"
	"github.com/nodbridge/nod/platforms"
)

// Settings holds the settings of a Slack workspace. nod uses it if bot_token is
// set. Set app_token for Socket Mode or signing_secret for HTTP mode, not both.
type Settings struct {
	// BotToken is the bot token of the Slack app (xoxb-…).
	//
	// Example: {env: SLACK_BOT_TOKEN}
	BotToken secret.Text `yaml:"bot_token" env:"SLACK_BOT_TOKEN"`
	// AppToken is the app-level token for Socket Mode (xapp-…).
	//
	// Example: {env: SLACK_APP_TOKEN}
	AppToken secret.Text `yaml:"app_token" env:"SLACK_APP_TOKEN"`
	// SigningSecret verifies callbacks in HTTP mode.
	//
	// Example: {env: SLACK_SIGNING_SECRET}
	SigningSecret secret.Text `yaml:"signing_secret" env:"SLACK_SIGNING_SECRET"`
}

// Kind describes Slack to the rest of nod.
var Kind = platforms.Kind{
	Name: "slack", Title: "Slack", Doc: "connects a Slack workspace.",
	Settings: func() any { return &Settings{} },
	Account:  platforms.ID{Form: lazyregexp.New(`^[UW][0-9A-Z]+$`), Like: "U0123456789", Doc: "the member ID of the person's Slack account."},
	Group:    platforms.ID{Form: lazyregexp.New(`^S[0-9A-Z]+$`), Like: "S0123456789", Doc: "the ID of a Slack user group. It needs the scope usergroups:read."},
	Channel:  platforms.ID{Form: lazyregexp.New(`^[CGDUW][0-9A-Z]+$`), Like: "C0123456789"},
	Thread:   platforms.ID{Form: lazyregexp.New(`^[0-9]+\.[0-9]+$`), Like: "1700000000.000100"},
	// In an Enterprise Grid, an account has two IDs, which differ in the first
	// letter.
	Canonical: func(account string) string { return account[min(1, len(account)):] },
	Emails:    true,
	Check:     checkSettings,
	Callback:  "/slack/interactions", Sandbox: "/slack/api/",
	Setup: platforms.Setup{
		Steps: steps, Place: "channel", Label: "channel",
		Tokens: []platforms.Token{
			{Key: "bot_token", Label: "Bot User OAuth Token, xoxb-…"},
			{Key: "app_token", Label: "App-Level Token, xapp-…", Unless: "signing_secret"},
		},
		Find: `  4. In the channel for the cards, type /invite @nod. To find its ID, click the channel name; the
     ID is at the end of the tab About. For your ID, open your profile, click the three dots, and
     choose "Copy member ID".`,
	},
	New: func(settings any, o platforms.Options) (platforms.Adapter, error) {
		s := settings.(*Settings)
		p, err := New(Options{
			Name: o.Name, BotToken: s.BotToken.Value(), AppToken: s.AppToken.Value(), SigningSecret: s.SigningSecret.Value(), APIURL: o.APIURL,
			NoPacing: o.NoPacing, Turns: o.Turns, Console: o.Console, ConsoleURL: o.ConsoleURL, Daemons: o.Daemons, Log: o.Log,
		})
		if err != nil {
			return nil, err
		}
		return p, nil
	},
}

// checkSettings checks that exactly one of Socket Mode and HTTP mode is
// configured, and that no token is in the wrong setting. Slack itself reports
// only that a token is invalid.
func checkSettings(settings any, bad func(key, format string, args ...any)) {
	const modes = "app_token for Socket Mode, or signing_secret for HTTP mode"
	s := settings.(*Settings)
	if strings.HasPrefix(s.BotToken.Value(), "xapp-") {
		bad("bot_token", "this is an app-level token; set the bot token, which starts with xoxb-")
	}
	if strings.HasPrefix(s.AppToken.Value(), "xox") {
		bad("app_token", "this is not an app-level token; set the one that starts with xapp-")
	}
	switch socket, http := s.AppToken.Set(), s.SigningSecret.Set(); {
	case !s.BotToken.Set():
	case socket && http:
		bad("", "app_token and signing_secret are both set; keep either "+modes)
	case !socket && !http:
		bad("", "app_token or signing_secret is required; set "+modes)
	}
}

// steps returns instructions for creating the app.
func steps() string {
	manifest, _ := Manifest("", false, false) // without a host, there is no error
	return `
Slack
  1. Open this page, choose your workspace, and click Create:
     ` + ManifestLink(manifest) + `
  2. On the page "Install App", click "Install to Workspace" and copy the Bot User OAuth Token.
  3. On the page "Basic Information", under "App-Level Tokens", click "Generate Token and Scopes",
     add the scope connections:write, click Generate, and copy the token.`
}
