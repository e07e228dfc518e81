package setup

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

	"golang.org/x/term"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/render"
)

// Init asks for what the config needs, checks it, and writes it.
type Init struct {
	Path      string            // of the config
	EnvFile   string            // keeps secrets as variables; if it is empty, each has a file of its own
	Person    string            // asked for if it is empty
	Agent     string            // name of the first agent
	Redis     string            // address
	Platforms []string          // asked for if there are none
	Channels  map[string]string // by platform; asked for where there is none
	Users     map[string]string // the person's accounts, by platform
	Yes       bool              // ask nothing
	Unchecked bool              // do not contact the platforms
	Stdin     io.Reader
	Talk      io.Writer

	in    *bufio.Reader
	now   config.Config // as it is, and grows
	draft *draft
}

// EveryPlatform lists the platforms that can be connected.
var EveryPlatform = []string{config.PlatformSlack, config.PlatformDiscord, config.PlatformTelegram}

// Run asks, checks and writes.
func (s *Init) Run(ctx context.Context) error {
	s.in = bufio.NewReader(s.Stdin)
	var err error
	if s.draft, err = openDraft(s.Path, s.EnvFile); err != nil {
		return err
	}
	path := s.Path
	if s.draft.fresh {
		path = ""
	}
	if s.now, err = config.Read(path, s.draft.environ()); err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "config").WithHint("mend it first; nothing was changed")
	}
	if err := s.choose(); err != nil {
		return err
	}
	for _, p := range s.Platforms {
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
func (s *Init) say(format string, args ...any) { fmt.Fprintf(s.Talk, format+"\n", args...) }

// ask asks for a line; with --yes it is the default.
func (s *Init) ask(label, standard string) (string, error) {
	if s.Yes {
		return standard, nil
	}
	fmt.Fprintf(s.Talk, "%s", label)
	if standard != "" {
		fmt.Fprintf(s.Talk, " [%s]", standard)
	}
	fmt.Fprint(s.Talk, ": ")
	line, err := s.in.ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		return "", bridge.Errorf(bridge.CodeInvalid, "the input ended").WithHint("for scripts use --yes with flags; see nod init --help")
	}
	return cmp.Or(strings.TrimSpace(line), standard), nil
}

// askSecret reads a line without showing it.
func (s *Init) askSecret(label, variable string) (string, error) {
	if s.Yes {
		return "", bridge.Errorf(bridge.CodeInvalid, "%s is not set", variable).WithHint("with --yes tokens come from the environment")
	}
	fmt.Fprintf(s.Talk, "%s (not shown): ", label)
	if f, ok := s.Stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		raw, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(s.Talk)
		return strings.TrimSpace(string(raw)), err
	}
	line, err := s.in.ReadString('\n')
	fmt.Fprintln(s.Talk)
	if err != nil && line == "" {
		return "", bridge.Errorf(bridge.CodeInvalid, "the input ended").WithHint("set %s, or type it", variable)
	}
	return strings.TrimSpace(line), nil
}

func (s *Init) choose() error {
	standard := strings.Join(s.now.Platforms(), ",")
	if len(s.Platforms) == 0 {
		line, err := s.ask("Which chats, with commas: slack, discord, telegram", cmp.Or(standard, config.PlatformSlack))
		if err != nil {
			return err
		}
		s.Platforms = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, p := range s.Platforms {
		if !slices.Contains(EveryPlatform, p) {
			return bridge.Errorf(bridge.CodeInvalid, "platforms: there is no %q", p).WithHint("choose from slack, discord, telegram")
		}
	}
	var err error
	if s.Person == "" {
		people := slices.Sorted(maps.Keys(s.now.People))
		first := cmp.Or(os.Getenv("USER"), "me")
		if len(people) > 0 {
			first = people[0]
		}
		s.Person, err = s.ask("Your name, as cards show it", first)
	}
	return err
}

// chooseRedis asks for the address of Redis where the config has none.
func (s *Init) chooseRedis() error {
	if s.now.Redis.URL.Set() || len(s.now.Redis.Addrs) > 0 {
		return nil
	}
	url, err := s.ask("Address of Redis", cmp.Or(s.Redis, "redis://127.0.0.1:6379/0"))
	if err != nil {
		return err
	}
	s.draft.set([]string{"redis", "url"}, url)
	if s.EnvFile != "" && s.Redis == "" && !s.now.Redis.Password.Set() {
		if err := s.draft.secret([]string{"redis", "password"}, "redis_password", config.NewKey(32)); err != nil {
			return err
		}
		s.say("nod: %s has a new password for Redis, NOD_REDIS_PASSWORD; start Redis with it", s.EnvFile)
	}
	return nil
}

// rest is what every installation needs: who may ask, keys, and Redis.
func (s *Init) rest() error {
	if !slices.Contains(s.now.Routes[bridge.DefaultRoute].Responders, s.Person) {
		s.draft.appendTo([]string{"routes", bridge.DefaultRoute, "responders"}, s.Person)
	}
	if err := s.chooseRedis(); err != nil {
		return err
	}
	if len(s.now.Agents) == 0 || s.Agent != "" && !s.now.Agents[s.Agent].Token.Set() {
		s.Agent = cmp.Or(s.Agent, "agent")
		if err := s.draft.secret([]string{"agents", s.Agent, "token"}, "agent_"+s.Agent, config.NewToken()); err != nil {
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

func (s *Init) finish() error {
	changed, err := s.draft.write()
	if err != nil {
		return err
	}
	if _, err := config.Load(s.Path, s.draft.environ()); err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "%s is written, but not complete", s.Path).WithHint("mend what is named; nod config check --config %s tells", s.Path)
	}
	s.say("")
	if changed {
		s.say("nod: %s is written", s.Path)
	} else {
		s.say("nod: %s is as it should be", s.Path)
	}
	s.say("nod: next:")
	if s.EnvFile != "" {
		s.say("  set -a; . %s; set +a    # in a shell; containers are given the file", render.ShellQuote(s.EnvFile))
	}
	with := ""
	if s.Path != config.DefaultPath {
		with = " --config " + render.ShellQuote(s.Path)
	}
	s.say("  nod doctor%s    # checks everything, and sends you a test", with)
	s.say("  nod serve%s", with)
	switch {
	case s.EnvFile != "":
		if s.Agent != "" {
			s.say("  export NOD_TOKEN=$%s", config.Variable("agents", s.Agent, "token"))
		}
	case s.Agent != "":
		s.say("  export NOD_TOKEN=$(cat %s)", render.ShellQuote(filepath.Join(s.draft.secrets(), "agent_"+s.Agent)))
	}
	s.say("  nod approve \"May I?\"")
	return nil
}
