package telegram

import (
	"cmp"
	"context"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/config/secret"
	"github.com/nodbridge/nod/platforms"
)

// Settings holds the settings of a Telegram bot. nod uses it if bot_token is
// set.
type Settings struct {
	// BotToken is the token of the bot, from @BotFather.
	//
	// Example: {env: TELEGRAM_BOT_TOKEN}
	BotToken secret.Text `yaml:"bot_token" env:"TELEGRAM_BOT_TOKEN"`
	// WebhookURL is the URL at which Telegram reaches nod. It turns on webhook
	// mode, which replaces long polling. nod registers it at startup, with a
	// secret that it derives from the token.
	//
	// Example: https://nod.example.com/telegram/webhook
	WebhookURL string `yaml:"webhook_url"`
	// APIURL is the address of your own Bot API server, which replaces
	// https://api.telegram.org.
	//
	// Example: http://127.0.0.1:8081
	APIURL string `yaml:"api_url"`
}

// Kind describes Telegram to the rest of nod.
var Kind = platforms.Kind{
	Name: "telegram", Title: "Telegram", Doc: "connects a Telegram bot.",
	Settings: func() any { return &Settings{} },
	Account:  platforms.ID{Form: lazyregexp.New(`^[0-9]+$`), Like: "123456789", Doc: "the numeric user ID of the person's Telegram account. Quote it."},
	Group:    platforms.ID{Form: lazyregexp.New(`^-?[0-9]+$`), Like: "-1001234567890", Doc: "the ID of a chat whose administrators belong to the group. Quote it."},
	Channel: platforms.ID{
		Form: lazyregexp.New(`^(-?[0-9]{1,19}|@.+)$`), Like: "-1001234567890", Hint: "use the numeric ID, or @ and the name of a public channel",
	},
	Thread:    platforms.ID{Form: lazyregexp.New(`^[0-9]+$`), Like: "7"},
	Canonical: func(account string) string { return strings.TrimLeft(account, "0") },
	Unseen:    "a bot cannot see who has started a chat with it, and private requests open only there",
	UnseenFix: "have each responder click Start in a chat with the bot",
	Replaced:  "api_url", Address: func(settings any) string { return settings.(*Settings).WebhookURL },
	Callback: "/telegram/webhook", Sandbox: "/telegram",
	Setup: platforms.Setup{
		Steps: func() string {
			return `
Telegram
  1. Send /newbot to @BotFather, answer its questions, and copy the token.
  2. Add the bot to your group.`
		},
		Tokens: []platforms.Token{{Key: "bot_token", Label: "Bot token"}}, Place: "chat", Label: "group",
		Introduce: func(ctx context.Context, p platforms.Adapter) (platforms.Introduced, error) {
			return p.(*Platform).Introduce(ctx)
		},
		Ask:     "  3. Send /nod in the group now, so that nod learns its ID and yours",
		Unheard: "enter the IDs. To find the ID of a group, open it at web.telegram.org: the URL contains it, starting with -100.",
	},
	New: func(settings any, o platforms.Options) (platforms.Adapter, error) {
		s := settings.(*Settings)
		p, err := New(Options{
			Name: o.Name, Token: s.BotToken.Value(), WebhookURL: s.WebhookURL, APIURL: cmp.Or(o.APIURL, s.APIURL), NoPacing: o.NoPacing, Turns: o.Turns,
			Notes: o.Notes, Log: o.Log,
		})
		if err != nil {
			return nil, err
		}
		return p, nil
	},
}
