package discord

import (
	"context"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/config/secret"
	"github.com/nodbridge/nod/platforms"
)

// Settings holds the settings of a Discord application. nod uses it if
// bot_token is set.
type Settings struct {
	// BotToken is the token of the bot.
	//
	// Example: {env: DISCORD_BOT_TOKEN}
	BotToken secret.Text `yaml:"bot_token" env:"DISCORD_BOT_TOKEN"`
	// PublicKey is the public key of the application, in hex. It turns on HTTP
	// mode, which replaces the gateway.
	//
	// Example: 4fa0b8c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9
	PublicKey string `yaml:"public_key" env:"DISCORD_PUBLIC_KEY"`
}

// Kind describes Discord to the rest of nod.
var Kind = platforms.Kind{
	Name: "discord", Title: "Discord", Doc: "connects a Discord application.",
	Settings: func() any { return &Settings{} },
	Account:  platforms.ID{Form: lazyregexp.New(`^[0-9]+$`), Like: "300000000000000001", Doc: "the user ID of the person's Discord account. Quote it."},
	Group:    platforms.ID{Form: lazyregexp.New(`^[0-9]+/[0-9]+$`), Like: "100000000000000001/400000000000000001", Doc: "a role, as GUILD/ROLE."},
	Channel:  platforms.ID{Form: lazyregexp.New(`^@?[0-9]+$`), Like: "100000000000000001"},
	Thread:   platforms.ID{Form: lazyregexp.New(`^[0-9]+$`), Like: "300000000000000001"},
	Callback: "/discord/interactions", Sandbox: "/discord",
	Setup: platforms.Setup{
		Steps: func() string {
			return `
Discord
  1. Open https://discord.com/developers/applications, click "New Application", and name it nod.
  2. On the page "Bot", click "Reset Token" and copy the token. The bot needs no privileged intents.`
		},
		Tokens: []platforms.Token{{Key: "bot_token", Label: "Bot token"}}, Place: "channel", Label: "channel",
		Find: `  4. In Settings > Advanced, turn on Developer Mode. Right-click the channel and choose
     "Copy Channel ID". Right-click your name and choose "Copy User ID".`,
		Invite: func(ctx context.Context, p platforms.Adapter) (string, error) {
			url, err := p.(*Platform).Invite(ctx)
			return "  3. Add the bot to your server: " + url, err
		},
	},
	New: func(settings any, o platforms.Options) (platforms.Adapter, error) {
		s := settings.(*Settings)
		p, err := New(Options{
			Name: o.Name, BotToken: s.BotToken.Value(), PublicKey: s.PublicKey, APIURL: o.APIURL, NoPacing: o.NoPacing, Turns: o.Turns, Log: o.Log,
		})
		if err != nil {
			return nil, err
		}
		return p, nil
	},
}
