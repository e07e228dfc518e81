package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// Slack connects a Slack workspace. It is used if bot_token is set. Set
// app_token for Socket Mode or signing_secret for HTTP mode, not both.
type Slack struct {
	// BotToken is the bot token of the Slack app (xoxb-…).
	//
	// Example: {env: SLACK_BOT_TOKEN}
	BotToken Secret `yaml:"bot_token"`
	// AppToken is the app-level token for Socket Mode (xapp-…).
	//
	// Example: {env: SLACK_APP_TOKEN}
	AppToken Secret `yaml:"app_token"`
	// SigningSecret verifies callbacks in HTTP mode.
	//
	// Example: {env: SLACK_SIGNING_SECRET}
	SigningSecret Secret `yaml:"signing_secret"`
}

// Discord connects a Discord application. It is used if bot_token is set.
type Discord struct {
	// BotToken is the token of the bot.
	//
	// Example: {env: DISCORD_BOT_TOKEN}
	BotToken Secret `yaml:"bot_token"`
	// PublicKey is the public key of the application, in hex. It turns on HTTP
	// mode, which replaces the gateway.
	//
	// Example: 4fa0b8c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9
	PublicKey string `yaml:"public_key"`
}

// Telegram connects a Telegram bot. It is used if bot_token is set.
type Telegram struct {
	// BotToken is the token of the bot, from @BotFather.
	//
	// Example: {env: TELEGRAM_BOT_TOKEN}
	BotToken Secret `yaml:"bot_token"`
	// WebhookURL is the URL at which Telegram reaches nod. It turns on webhook
	// mode, which replaces long polling. nod registers it at startup, with a
	// secret that it derives from the token.
	//
	// Example: https://nod.example.com/telegram/webhook
	WebhookURL string `yaml:"webhook_url"`
	// APIURL is the address of a Bot API server of your own, which replaces
	// https://api.telegram.org.
	//
	// Example: http://127.0.0.1:8081
	APIURL string `yaml:"api_url"`
}

// Names of the platforms in the configuration.
const (
	PlatformSlack    = "slack"
	PlatformDiscord  = "discord"
	PlatformTelegram = "telegram"
)

// Platforms returns the names of the platforms that have a token.
func (c Config) Platforms() []string {
	var out []string
	for _, p := range []struct {
		name  string
		token Secret
	}{{PlatformSlack, c.Slack.BotToken}, {PlatformDiscord, c.Discord.BotToken}, {PlatformTelegram, c.Telegram.BotToken}} {
		if p.token.Set() {
			out = append(out, p.name)
		}
	}
	return out
}

// Account returns the person's ID on a platform, or an empty string.
func (p Person) Account(platform string) string {
	switch platform {
	case PlatformSlack:
		return p.Slack
	case PlatformDiscord:
		return p.Discord
	case PlatformTelegram:
		return p.Telegram
	}
	return ""
}

// Native returns the group of a platform that the group includes, or an empty
// string.
func (g Group) Native(platform string) string {
	return Person{Slack: g.Slack, Discord: g.Discord, Telegram: g.Telegram}.Account(platform)
}

// form is the form of an ID on a platform. Names change, and others can take them, so
// the config has IDs only.
type form struct {
	is   *lazyregexp.Regexp // nil means any text
	like string
}

var (
	slackAccount    = form{lazyregexp.New(`^[UW][0-9A-Z]+$`), "U0123456789"}
	slackGroup      = form{lazyregexp.New(`^S[0-9A-Z]+$`), "S0123456789"}
	slackChannel    = form{lazyregexp.New(`^[CGDUW][0-9A-Z]+$`), "C0123456789"}
	slackThread     = form{lazyregexp.New(`^[0-9]+\.[0-9]+$`), "1700000000.000100"}
	discordID       = form{lazyregexp.New(`^[0-9]+$`), "300000000000000001"}
	discordRole     = form{lazyregexp.New(`^[0-9]+/[0-9]+$`), "100000000000000001/400000000000000001"}
	discordChannel  = form{lazyregexp.New(`^@?[0-9]+$`), "100000000000000001"}
	telegramAccount = form{lazyregexp.New(`^[0-9]+$`), "123456789"}
	telegramChat    = form{lazyregexp.New(`^-?[0-9]+$`), "-1001234567890"}
	telegramTopic   = form{lazyregexp.New(`^[0-9]+$`), "7"}
)

// check returns what is wrong with an ID, or "".
func (f form) check(id string) string {
	if f.is.MatchString(id) {
		return ""
	}
	return fmt.Sprintf("invalid ID %q (such as %s); set the ID, which /nod who shows, and not a name", id, f.like)
}

// Target is a parsed entry of Route.To.
type Target struct{ Platform, Channel, Thread string }

// ParseTarget parses PLATFORM:CHANNEL or PLATFORM:CHANNEL/THREAD.
func ParseTarget(s string) (Target, error) {
	platform, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return Target{}, fmt.Errorf("invalid destination %q (such as slack:C0123, discord:123 or telegram:-100123)", s)
	}
	if !slices.Contains([]string{PlatformSlack, PlatformDiscord, PlatformTelegram}, platform) {
		return Target{}, fmt.Errorf("unknown platform %q in %q; use slack, discord or telegram", platform, s)
	}
	channel, thread, _ := strings.Cut(rest, "/")
	at, in := map[string]form{PlatformSlack: slackChannel, PlatformDiscord: discordChannel}[platform],
		map[string]form{PlatformSlack: slackThread, PlatformDiscord: discordID, PlatformTelegram: telegramTopic}[platform]
	problem := ""
	if platform != PlatformTelegram {
		problem = at.check(channel)
	}
	if problem == "" && thread != "" {
		problem = in.check(thread)
	}
	if problem != "" {
		return Target{}, fmt.Errorf("%s in %q", problem, s)
	}
	if _, err := strconv.ParseInt(channel, 10, 64); err != nil && platform == PlatformTelegram && !strings.HasPrefix(channel, "@") {
		return Target{}, fmt.Errorf("invalid chat %q in %q; use the numeric ID, or @ and the name of a public channel", channel, s)
	}
	return Target{platform, channel, thread}, nil
}
