package sandboxed

import (
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/platforms/telegram"
)

// Slack returns the settings of Slack in a config.
func Slack(c *config.Config) *slack.Settings { return c.Connection(slack.Kind).(*slack.Settings) }

// Discord returns the settings of Discord in a config.
func Discord(c *config.Config) *discord.Settings {
	return c.Connection(discord.Kind).(*discord.Settings)
}

// Telegram returns the settings of Telegram in a config.
func Telegram(c *config.Config) *telegram.Settings {
	return c.Connection(telegram.Kind).(*telegram.Settings)
}
