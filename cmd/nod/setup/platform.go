package setup

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render"
)

// connect gets the tokens, the channel and the user's account of a platform.
func (s *Init) connect(ctx context.Context, k platforms.Kind) error {
	platform := k.Name
	if err := s.tokens(ctx, k); err != nil {
		return err
	}
	for !s.checks(ctx, platform, "", "") {
		if s.Yes {
			return bridge.Errorf(bridge.CodeInvalid, "%s rejected the tokens", platform).WithHint("fix the problems above; the config was not changed")
		}
		if err := s.tokensAgain(ctx, k); err != nil {
			return err
		}
	}
	for _, w := range k.Setup.Tokens {
		if v := *s.field(k, w.Key); v.Set() {
			if err := s.draft.secret([]string{platform, w.Key}, platform+"_"+w.Key, v.Value()); err != nil {
				return err
			}
		}
	}
	return s.place(ctx, k)
}

// tokens gets the tokens of a platform from the config, from an earlier run, or
// by prompting.
func (s *Init) tokens(ctx context.Context, k platforms.Kind) error {
	told := false
	for _, w := range k.Setup.Tokens {
		field := s.field(k, w.Key)
		if w.Unless != "" && s.field(k, w.Unless).Set() {
			continue
		}
		if saved := s.draft.savedSecret(k.Name + "_" + w.Key); !field.Set() && saved != "" {
			*field = config.NewSecret(saved)
		}
		for !field.Set() {
			if !told {
				s.say("%s", k.Setup.Steps())
				told = true
			}
			value, err := s.askSecret(ctx, "     "+w.Label, config.Variable(k.Name, w.Key))
			if err != nil {
				return err
			}
			*field = config.NewSecret(value)
		}
	}
	return nil
}

// tokensAgain prompts again for the tokens that the config can change.
func (s *Init) tokensAgain(ctx context.Context, k platforms.Kind) error {
	asked := false
	for _, w := range k.Setup.Tokens {
		if name := s.draft.setBy([]string{k.Name, w.Key}); name != "" {
			s.say("     %s: the variable %s sets it; correct it there", w.Label, name)
			continue
		}
		asked = true
		value, err := s.askSecret(ctx, "     "+w.Label+" again (empty keeps the current one)", config.Variable(k.Name, w.Key))
		if err != nil {
			return err
		}
		if value != "" {
			*s.field(k, w.Key) = config.NewSecret(value)
		}
	}
	if !asked {
		return bridge.Errorf(bridge.CodeInvalid, "%s rejected the tokens, which variables set", k.Name).WithHint("correct the variables, and run nod init again")
	}
	return nil
}

// checks runs the checks of a platform, prints the findings, and reports
// whether none failed. If channel or user is set, it prints only the findings
// about them.
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
	for _, f := range p.Diagnose(ctx, needs) {
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

// field returns the current value of a platform's token in the config.
func (s *Init) field(k platforms.Kind, key string) *config.Secret {
	return platforms.Secret(s.now.Connection(k), key)
}

// platform returns a platform with the current tokens.
func (s *Init) platform(name string) (platforms.Adapter, error) {
	c := config.Config{Sandbox: s.now.Sandbox, Connections: map[string]any{name: s.now.Connections[name]}}
	all, err := daemon.Platforms(c, false, platforms.Options{})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// introduceFor is the time that the user has to write to the bot.
const introduceFor = 2 * time.Minute

// place gets the channel for cards on a platform and the user's account there.
func (s *Init) place(ctx context.Context, k platforms.Kind) error {
	platform := k.Name
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
		channel, user = s.explain(ctx, k, p, channel, user)
	}
	if channel, err = s.channel(ctx, k, channel); err != nil {
		return err
	}
	if user, err = s.user(ctx, platform, channel, user); err != nil {
		return err
	}
	s.draft.destination(platform + ":" + channel)
	s.draft.set([]string{"people", s.Person, platform}, user)
	return nil
}

// explain prints how to add the bot and find the IDs, or reads the IDs from a
// message to the bot.
func (s *Init) explain(ctx context.Context, k platforms.Kind, p platforms.Adapter, channel, user string) (string, string) {
	if k.Setup.Invite != nil && !s.Unchecked {
		if line, err := k.Setup.Invite(ctx, p); err == nil {
			s.say("%s", line)
		}
	}
	if k.Setup.Introduce != nil && !s.Unchecked {
		return s.introduce(ctx, k.Setup, p, channel, user)
	}
	s.say("%s", k.Setup.Find)
	return channel, user
}

// channel prompts for a channel until nod can post there.
func (s *Init) channel(ctx context.Context, k platforms.Kind, channel string) (string, error) {
	platform := k.Name
	for {
		var err error
		if channel, err = s.ask(ctx, "     ID of the "+k.Setup.Label, channel); err != nil {
			return "", err
		}
		if channel == "" {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: the ID of a channel is required", platform).WithHint("set --%s-%s", platform, k.Setup.Place)
		}
		if s.checks(ctx, platform, channel, "") {
			return channel, nil
		}
		if s.Yes {
			return "", bridge.Errorf(bridge.CodeInvalid, "%s: nod cannot post to %s", platform, channel).WithHint("fix the problems above; the config was not changed")
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
				WithHint("fix the problems above")
		}
		s.say("     Enter another ID, or press Enter to check again.")
	}
}

// introduce reads both IDs from a message to the bot.
func (s *Init) introduce(parent context.Context, how platforms.Setup, p platforms.Adapter, channel, user string) (string, string) {
	s.say("%s (within %s).", how.Ask, introduceFor)
	ctx, cancel := context.WithTimeout(parent, introduceFor)
	defer cancel()
	who, err := how.Introduce(ctx, p)
	if err != nil && parent.Err() == nil {
		s.say("     No message arrived; %s", how.Unheard)
	}
	if err != nil {
		return channel, user
	}
	s.say("     Got a message from %s in %s.", render.Line(who.Name), render.Line(cmp.Or(who.Title, "a private chat")))
	return cmp.Or(channel, who.Place), cmp.Or(user, who.User)
}
