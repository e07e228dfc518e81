package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

// setup asks for what the config needs, checks it, and writes it.
type setup struct {
	path, envFile, person, agent, redis string
	platforms                           []string
	channels, users                     map[string]*string // by platform
	yes, unchecked                      bool
	stdin                               io.Reader
	talk                                io.Writer

	in    *bufio.Reader
	now   config.Config // as it is, and grows
	draft *draft
}

var everyPlatform = []string{config.PlatformSlack, config.PlatformDiscord, config.PlatformTelegram}

func setupFlags(cmd *cobra.Command, s *setup) {
	f := cmd.Flags()
	f.StringVarP(&s.path, "config", "c", cmp.Or(configPath(), config.DefaultPath), configUsage)
	f.StringVar(&s.envFile, "env-file", "", "keep the secrets as variables in this file, as compose and Kubernetes take them")
	f.StringSliceVar(&s.platforms, "platforms", nil, "slack, discord, telegram")
	f.StringVar(&s.person, "person", "", "your name, as nod shows it")
	f.StringVar(&s.agent, "agent", "", "name of the first agent (default \"agent\")")
	f.StringVar(&s.redis, "redis", "", "address of Redis (default redis://127.0.0.1:6379/0)")
	for _, p := range everyPlatform {
		channel, user := new(string), new(string)
		place := "channel"
		if p == config.PlatformTelegram {
			place = "chat"
		}
		f.StringVar(channel, p+"-"+place, "", "id of the "+place+" where cards are shown")
		f.StringVar(user, p+"-user", "", "id of your account")
		s.channels[p], s.users[p] = channel, user
	}
	f.BoolVar(&s.yes, "yes", false, "ask nothing: take flags, the environment and defaults")
	f.BoolVar(&s.unchecked, "no-check", false, "do not contact the services")
}

// run asks, checks and writes.
func (s *setup) run(ctx context.Context) error {
	s.in = bufio.NewReader(s.stdin)
	var err error
	if s.draft, err = openDraft(s.path, s.envFile); err != nil {
		return err
	}
	path := s.path
	if s.draft.fresh {
		path = ""
	}
	if s.now, err = config.Read(path, s.draft.environ()); err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "config").WithHint("mend it first; nothing was changed")
	}
	if err := s.choose(); err != nil {
		return err
	}
	for _, p := range s.platforms {
		if err := s.connect(ctx, p); err != nil {
			return err
		}
	}
	if err := s.rest(); err != nil {
		return err
	}
	return s.finish()
}

// say prints instructions.
func (s *setup) say(format string, args ...any) { fmt.Fprintf(s.talk, format+"\n", args...) }

// ask asks for a line; with --yes it is the default.
func (s *setup) ask(label, standard string) (string, error) {
	if s.yes {
		return standard, nil
	}
	fmt.Fprintf(s.talk, "%s", label)
	if standard != "" {
		fmt.Fprintf(s.talk, " [%s]", standard)
	}
	fmt.Fprint(s.talk, ": ")
	line, err := s.in.ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		return "", bridge.Errorf(bridge.CodeInvalid, "the input ended").WithHint("for scripts use --yes with flags; see nod init --help")
	}
	return cmp.Or(strings.TrimSpace(line), standard), nil
}

// askSecret reads a line without showing it.
func (s *setup) askSecret(label, variable string) (string, error) {
	if s.yes {
		return "", bridge.Errorf(bridge.CodeInvalid, "%s is not set", variable).WithHint("with --yes tokens come from the environment")
	}
	fmt.Fprintf(s.talk, "%s (not shown): ", label)
	if f, ok := s.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(s.talk)
		return strings.TrimSpace(string(raw)), err
	}
	line, err := s.in.ReadString('\n')
	fmt.Fprintln(s.talk)
	if err != nil && line == "" {
		return "", bridge.Errorf(bridge.CodeInvalid, "the input ended").WithHint("set %s, or type it", variable)
	}
	return strings.TrimSpace(line), nil
}

func (s *setup) choose() error {
	standard := strings.Join(s.now.Platforms(), ",")
	if len(s.platforms) == 0 {
		line, err := s.ask("Which chats, with commas: slack, discord, telegram", cmp.Or(standard, config.PlatformSlack))
		if err != nil {
			return err
		}
		s.platforms = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, p := range s.platforms {
		if !slices.Contains(everyPlatform, p) {
			return bridge.Errorf(bridge.CodeInvalid, "platforms: there is no %q", p).WithHint("choose from slack, discord, telegram")
		}
	}
	var err error
	if s.person == "" {
		people := slices.Sorted(maps.Keys(s.now.People))
		first := cmp.Or(os.Getenv("USER"), "me")
		if len(people) > 0 {
			first = people[0]
		}
		s.person, err = s.ask("Your name, as cards show it", first)
	}
	return err
}

// rest is what every installation needs: who may ask, keys, and Redis.
func (s *setup) rest() error {
	if !slices.Contains(s.now.Routes[bridge.DefaultRoute].Responders, s.person) {
		s.draft.appendTo([]string{"routes", bridge.DefaultRoute, "responders"}, s.person)
	}
	if !s.now.Redis.URL.Set() && len(s.now.Redis.Addrs) == 0 {
		url, err := s.ask("Address of Redis", cmp.Or(s.redis, "redis://127.0.0.1:6379/0"))
		if err != nil {
			return err
		}
		s.draft.set([]string{"redis", "url"}, url)
		if s.envFile != "" && s.redis == "" && !s.now.Redis.Password.Set() {
			if err := s.draft.secret([]string{"redis", "password"}, "redis_password", config.NewKey(32)); err != nil {
				return err
			}
			s.say("nod: %s has a new password for Redis, NOD_REDIS_PASSWORD; start Redis with it", s.envFile)
		}
	}
	if len(s.now.Agents) == 0 || s.agent != "" && !s.now.Agents[s.agent].Token.Set() {
		s.agent = cmp.Or(s.agent, "agent")
		if err := s.draft.secret([]string{"agents", s.agent, "token"}, "agent_"+s.agent, config.NewToken()); err != nil {
			return err
		}
	}
	for _, k := range []struct {
		path []string
		set  bool
	}{{[]string{"token_key"}, s.now.TokenKey.Set()}, {[]string{"receipts", "key"}, s.now.Receipts.Key.Set()}} {
		if k.set {
			continue
		}
		if err := s.draft.secret(k.path, strings.Join(k.path, "_"), config.NewKey(32)); err != nil {
			return err
		}
	}
	return nil
}

func (s *setup) finish() error {
	changed, err := s.draft.write()
	if err != nil {
		return err
	}
	if _, err := config.Load(s.path, s.draft.environ()); err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "%s is written, but not complete", s.path).WithHint("mend what is named; nod config check --config %s tells", s.path)
	}
	s.say("")
	if changed {
		s.say("nod: %s is written", s.path)
	} else {
		s.say("nod: %s is as it should be", s.path)
	}
	s.say("nod: next:")
	if s.envFile != "" {
		s.say("  set -a; . %s; set +a    # in a shell; containers are given the file", render.ShellQuote(s.envFile))
	}
	with := ""
	if s.path != config.DefaultPath {
		with = " --config " + render.ShellQuote(s.path)
	}
	s.say("  nod doctor%s    # checks everything, and sends you a test", with)
	s.say("  nod serve%s", with)
	switch {
	case s.envFile != "":
		if s.agent != "" {
			s.say("  export NOD_TOKEN=$%s", config.Variable("agents", s.agent, "token"))
		}
	case s.agent != "":
		s.say("  export NOD_TOKEN=$(cat %s)", render.ShellQuote(filepath.Join(s.draft.secrets(), "agent_"+s.agent)))
	}
	s.say("  nod approve \"May I?\"")
	return nil
}
