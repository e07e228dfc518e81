package config

import (
	"fmt"
	"slices"
	"strings"
)

// Slack is a workspace. It is used if a bot token is set.
type Slack struct {
	BotToken      Secret `yaml:"bot_token"`
	AppToken      Secret `yaml:"app_token"`      // Socket Mode
	SigningSecret Secret `yaml:"signing_secret"` // HTTP mode
	APIURL        string `yaml:"api_url"`
	Pacing        *bool  `yaml:"pacing"`
}

// Discord is an application. It is used if a bot token is set.
type Discord struct {
	BotToken  Secret `yaml:"bot_token"`
	PublicKey string `yaml:"public_key"` // HTTP mode
	APIURL    string `yaml:"api_url"`
	Pacing    *bool  `yaml:"pacing"`
}

// Telegram is a bot. It is used if a bot token is set.
type Telegram struct {
	BotToken      Secret `yaml:"bot_token"`
	WebhookURL    string `yaml:"webhook_url"` // webhook mode
	WebhookSecret Secret `yaml:"webhook_secret"`
	APIURL        string `yaml:"api_url"`
	Pacing        *bool  `yaml:"pacing"`
}

// Names of the platforms in the config.
const (
	PlatformSlack    = "slack"
	PlatformDiscord  = "discord"
	PlatformTelegram = "telegram"
)

// Platforms are the names of the platforms that have a token.
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

// Account is the person's id on a platform; empty: none.
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

// Target is a parsed entry of Route.To.
type Target struct{ Platform, Channel, Thread string }

// ParseTarget reads platform:channel/thread.
func ParseTarget(s string) (Target, error) {
	platform, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return Target{}, fmt.Errorf("%q is not like slack:C0123, discord:123 or telegram:-100123", s)
	}
	if !slices.Contains([]string{PlatformSlack, PlatformDiscord, PlatformTelegram}, platform) {
		return Target{}, fmt.Errorf("%q: there is no platform %q", s, platform)
	}
	channel, thread, _ := strings.Cut(rest, "/")
	return Target{platform, channel, thread}, nil
}
