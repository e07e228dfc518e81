package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

// Platforms returns the platforms that have a token, and the HTTP handlers of
// those in HTTP mode. They share their rate limits through turns. With the
// sandbox, they are paced only if paced is true. Daemons counts the daemons that run
// with this config; nil is one.
func Platforms(c config.Config, paced bool, notes telegram.Notes, turns bridge.Turns, daemons func(context.Context) (int, error), log *slog.Logger) ([]bridge.Platform, map[string]func(bridge.Sink) http.Handler, error) {
	var out []bridge.Platform
	callbacks := map[string]func(bridge.Sink) http.Handler{}
	slackAPI, discordAPI, telegramAPI := "", "", c.Telegram.APIURL
	noPacing := c.Sandbox != "" && !paced
	if base := strings.TrimRight(c.Sandbox, "/"); base != "" {
		slackAPI, discordAPI, telegramAPI = base+"/slack/api/", base+"/discord", base+"/telegram"
	}
	for _, name := range c.Platforms() {
		switch name {
		case config.PlatformSlack:
			p, err := slack.New(slack.Options{
				Name: name, BotToken: c.Slack.BotToken.Value(), AppToken: c.Slack.AppToken.Value(), SigningSecret: c.Slack.SigningSecret.Value(),
				APIURL: slackAPI, NoPacing: noPacing, Turns: turns, Log: log, Console: c.Console.Enabled, ConsoleURL: c.Console.URL,
				Daemons: daemons,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/slack/interactions"] = append(out, p), p.Handler
		case config.PlatformDiscord:
			p, err := discord.New(discord.Options{
				Name: name, BotToken: c.Discord.BotToken.Value(), PublicKey: c.Discord.PublicKey, APIURL: discordAPI, NoPacing: noPacing, Turns: turns, Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/discord/interactions"] = append(out, p), p.Handler
		case config.PlatformTelegram:
			p, err := telegram.New(telegram.Options{
				Name: name, Token: c.Telegram.BotToken.Value(), WebhookURL: c.Telegram.WebhookURL,
				APIURL: telegramAPI, NoPacing: noPacing, Turns: turns, Notes: notes, Log: log,
			})
			if err != nil {
				return nil, nil, err
			}
			out, callbacks["/telegram/webhook"] = append(out, p), p.Handler
		}
	}
	return out, callbacks, nil
}
