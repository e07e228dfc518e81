package setup

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/discord"
	"github.com/nodbridge/nod/platforms/telegram"
	"github.com/nodbridge/nod/render"
)

// wanted lists the tokens of each platform.
var wanted = map[string][]struct {
	key, variable, label string
	field                func(*config.Config) *config.Secret
}{
	config.PlatformSlack: {
		{"bot_token", "SLACK_BOT_TOKEN", "Bot User OAuth Token, xoxb-…", func(c *config.Config) *config.Secret { return &c.Slack.BotToken }},
		{"app_token", "SLACK_APP_TOKEN", "App-Level Token, xapp-…", func(c *config.Config) *config.Secret { return &c.Slack.AppToken }},
	},
	config.PlatformDiscord:  {{"bot_token", "DISCORD_BOT_TOKEN", "Bot token", func(c *config.Config) *config.Secret { return &c.Discord.BotToken }}},
	config.PlatformTelegram: {{"bot_token", "TELEGRAM_BOT_TOKEN", "Bot token", func(c *config.Config) *config.Secret { return &c.Telegram.BotToken }}},
}

// steps returns instructions for creating the tokens of a platform.
func steps(platform string) string {
	switch platform {
	case config.PlatformSlack:
		return `
Slack
  1. Open this page, choose your workspace, and click Create:
     ` + ManifestLink(must2(SlackManifest("", false, false))) + `
  2. On the page "Install App", click "Install to Workspace" and copy the Bot User OAuth Token.
  3. On the page "Basic Information", under "App-Level Tokens", click "Generate Token and Scopes",
     add the scope connections:write, click Generate, and copy the token.`
	case config.PlatformDiscord:
		return `
Discord
  1. Open https://discord.com/developers/applications, click "New Application", and name it nod.
  2. On the page "Bot", click "Reset Token" and copy the token. The bot needs no privileged intents.`
	}
	return `
Telegram
  1. Send /newbot to @BotFather, answer its questions, and copy the token.
  2. Add the bot to your group.`
}

func must2(b []byte, _ error) []byte { return b } // SlackManifest without a host returns no error

// idsOf returns instructions for finding the IDs of a channel and an account.
func idsOf(platform string) string {
	switch platform {
	case config.PlatformSlack:
		return `  4. In the channel for the cards, type /invite @nod. To find its ID, click the channel name; the
     ID is at the end of the tab About. For your ID, open your profile, click the three dots, and
     choose "Copy member ID".`
	case config.PlatformDiscord:
		return `  4. In Settings > Advanced, turn on Developer Mode. Right-click the channel and choose
     "Copy Channel ID". Right-click your name and choose "Copy User ID".`
	}
	return ""
}

// connect gets the tokens, the channel and the user's account of a platform.
func (s *Init) connect(ctx context.Context, platform string) error {
	if err := s.tokens(ctx, platform); err != nil {
		return err
	}
	for !s.checks(ctx, platform, "", "") {
		if s.Yes {
			return bridge.Errorf(bridge.CodeInvalid, "%s rejected the tokens", platform).WithHint("follow the findings above; the config was not changed")
		}
		for _, w := range wanted[platform] {
			value, err := s.askSecret(ctx, "     "+w.label+" again (empty keeps the current one)", w.variable)
			if err != nil {
				return err
			}
			if value != "" {
				*w.field(&s.now) = config.NewSecret(value)
			}
		}
	}
	for _, w := range wanted[platform] {
		if v := *w.field(&s.now); v.Set() {
			if err := s.draft.secret([]string{platform, w.key}, platform+"_"+w.key, v.Value()); err != nil {
				return err
			}
		}
	}
	return s.place(ctx, platform)
}

// tokens gets the tokens of a platform from the config, from an earlier run, or
// by prompting.
func (s *Init) tokens(ctx context.Context, platform string) error {
	told := false
	for _, w := range wanted[platform] {
		field := w.field(&s.now)
		if platform == config.PlatformSlack && w.key == "app_token" && s.now.Slack.SigningSecret.Set() {
			continue // HTTP mode
		}
		if saved := s.draft.savedSecret(platform + "_" + w.key); !field.Set() && saved != "" {
			*field = config.NewSecret(saved)
		}
		for !field.Set() {
			if !told {
				s.say("%s", steps(platform))
				told = true
			}
			value, err := s.askSecret(ctx, "     "+w.label, w.variable)
			if err != nil {
				return err
			}
			*field = config.NewSecret(value)
		}
	}
	return nil
}

// checks runs the checks of a platform, prints the findings, and reports
// whether none failed. With a channel or a user, it prints only the findings
// about that.
func (s *Init) checks(ctx context.Context, platform, channel, user string) bool {
	if s.Unchecked {
		return true
	}
	p, err := s.platform(platform)
	if err != nil {
		s.say("  FAILED   %s", bridge.PublicError(err).Message)
		return false
	}
	needs := bridge.Needs{}
	if channel != "" {
		needs.Destinations = []bridge.Destination{{Platform: platform, Channel: channel}}
	}
	about := channel
	if user != "" {
		about, needs.Accounts = user, []string{user}
	}
	good := true
	for _, f := range p.(bridge.Diagnoser).Diagnose(ctx, needs) { // all platforms implement it
		if !strings.Contains(f.Check, about) {
			continue
		}
		s.say("  %-8s %s  %s", marks[f.Status].Text, f.Check, render.Line(f.Detail))
		if f.Status == bridge.FindingFailed {
			s.say("           → %s", f.Fix)
			good = false
		}
	}
	return good
}

// platform returns a platform with the tokens so far.
func (s *Init) platform(name string) (bridge.Platform, error) {
	c := config.Config{Sandbox: s.now.Sandbox}
	switch name {
	case config.PlatformSlack:
		c.Slack = s.now.Slack
	case config.PlatformDiscord:
		c.Discord = s.now.Discord
	case config.PlatformTelegram:
		c.Telegram = s.now.Telegram
	}
	all, _, err := daemon.Platforms(c, false, nil, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// introduceFor is the time that the user has to write to the bot.
const introduceFor = 2 * time.Minute

// place gets the channel for cards on a platform and the user's account there.
func (s *Init) place(ctx context.Context, platform string) error {
	channel, user := s.Channels[platform], s.Users[platform]
	had := ""
	for _, to := range s.now.Routes[bridge.DefaultRoute].To {
		if id, ok := strings.CutPrefix(to, platform+":"); ok {
			had = id
		}
	}
	channel, user = cmp.Or(channel, had), cmp.Or(user, s.now.People[s.Person].Account(platform))
	p, err := s.platform(platform)
	if err != nil {
		return err
	}
	if (channel == "" || user == "") && !s.Yes {
		channel, user = s.explain(ctx, p, channel, user)
	}
	if channel, err = s.channel(ctx, platform, channel); err != nil {
		return err
	}
	if user, err = s.user(ctx, platform, channel, user); err != nil {
		return err
	}
	s.draft.destination(platform + ":" + channel)
	s.draft.set([]string{"people", s.Person, platform}, user)
	return nil
}

// explain prints how to add the bot and find the IDs. On Telegram, it learns
// the IDs from a message to the bot.
func (s *Init) explain(ctx context.Context, p bridge.Platform, channel, user string) (string, string) {
	if d, ok := p.(*discord.Platform); ok && !s.Unchecked {
		if invite, err := d.Invite(ctx); err == nil {
			s.say("  3. Add the bot to your server: %s", invite)
		}
	}
	if t, ok := p.(*telegram.Platform); ok && !s.Unchecked {
		return s.introduce(ctx, t, channel, user)
	}
	s.say("%s", idsOf(p.Name()))
	return channel, user
}

// channel prompts for a channel until nod can post there.
func (s *Init) channel(ctx context.Context, platform, channel string) (string, error) {
	label := "     ID of the channel"
	if platform == config.PlatformTelegram {
		label = "     ID of the group"
	}
	for {
		var err error
		if channel, err = s.ask(ctx, label, channel); err != nil {
			return "", err
		}
		if channel == "" {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: the ID of a channel is required", platform).WithHint("set --%s", map[bool]string{true: "telegram-chat", false: platform + "-channel"}[platform == config.PlatformTelegram])
		}
		if s.checks(ctx, platform, channel, "") {
			return channel, nil
		}
		if s.Yes {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: nod cannot post to %s", platform, channel).WithHint("follow the findings above; the config was not changed")
		}
		s.say("     Fix the problem and press Enter, or enter another ID.")
	}
}

// user prompts for the ID of the user's account until the platform knows it.
func (s *Init) user(ctx context.Context, platform, channel, user string) (string, error) {
	for {
		var err error
		if user, err = s.ask(ctx, "     ID of your account", user); err != nil {
			return "", err
		}
		if user == "" {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: the ID of your account is required, because no one could answer otherwise",
				platform).
				WithHint("set --%s-user", platform)
		}
		if s.checks(ctx, platform, channel, user) {
			return user, nil
		}
		if s.Yes {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: account %q cannot answer", platform, user).
				WithHint("follow the findings above")
		}
		s.say("     Enter another ID, or press Enter to check again.")
	}
}

// introduce learns both IDs from a message to the bot.
func (s *Init) introduce(parent context.Context, t *telegram.Platform, channel, user string) (string, string) {
	s.say("  3. Send /nod in the group now, so that nod learns its ID and yours (within %s).", introduceFor)
	ctx, cancel := context.WithTimeout(parent, introduceFor)
	defer cancel()
	who, err := t.Introduce(ctx)
	if err != nil && parent.Err() == nil {
		s.say("     No message arrived; enter the IDs. To find the ID of a group, open it at web.telegram.org: the URL has it, starting with -100.")
	}
	if err != nil {
		return channel, user
	}
	s.say("     Got a message from %s in %s.", render.Line(who.Name), render.Line(cmp.Or(who.Title, "a private chat")))
	return cmp.Or(channel, who.Chat), cmp.Or(user, who.User)
}
