package daemon

import (
	"log/slog"
	"net/http"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

func off(pacing *bool) bool { return pacing != nil && !*pacing }

// Platforms returns the platforms that have a token, and the HTTP handlers of
// those in HTTP mode. They share their rate limits through turns.
func Platforms(c config.Config, notes telegram.Notes, turns bridge.Turns, log *slog.Logger) ([]bridge.Platform, map[string]func(bridge.Sink) http.Handler, error) {
	var out []bridge.Platform
	callbacks := map[string]func(bridge.Sink) http.Handler{}
	for _, name := range c.Platforms() {
		switch name {
		case config.PlatformSlack:
			p, err := slack.New(slack.Options{
				Name: name, BotToken: c.Slack.BotToken.Value(), AppToken: c.Slack.AppToken.Value(), SigningSecret: c.Slack.SigningSecret.Value(),
				APIURL: c.Slack.APIURL, NoPacing: off(c.Slack.Pacing), Turns: turns, Log: log, Console: c.Console.Enabled, ConsoleURL: c.Console.URL,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/slack/interactions"] = append(out, p), p.Handler
		case config.PlatformDiscord:
			p, err := discord.New(discord.Options{
				Name: name, BotToken: c.Discord.BotToken.Value(), PublicKey: c.Discord.PublicKey, APIURL: c.Discord.APIURL, NoPacing: off(c.Discord.Pacing), Turns: turns, Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/discord/interactions"] = append(out, p), p.Handler
		case config.PlatformTelegram:
			p, err := telegram.New(telegram.Options{
				Name: name, Token: c.Telegram.BotToken.Value(), WebhookURL: c.Telegram.WebhookURL, WebhookSecret: c.Telegram.WebhookSecret.Value(),
				APIURL: c.Telegram.APIURL, NoPacing: off(c.Telegram.Pacing), Turns: turns, Notes: notes, Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/telegram/webhook"] = append(out, p), p.Handler
		}
	}
	return out, callbacks, nil
}
