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

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/render"
)

// Init prompts for the settings that the config needs, checks them, and writes
// the config.
type Init struct {
	Path      string            // config file
	EnvFile   string            // file for secrets as variables; if empty, each secret has its own file
	Person    string            // name of the user; if empty, Run prompts for it
	Agent     string            // name of the first agent
	Redis     string            // URL of Redis
	Platforms []string          // platforms to connect; if empty, Run prompts for them
	Channels  map[string]string // channels for cards, by platform; Run prompts for missing ones
	Users     map[string]string // accounts of the user, by platform
	Yes       bool              // do not prompt
	Unchecked bool              // do not contact the platforms
	Stdin     io.Reader
	Talk      io.Writer

	in    *bufio.Reader
	skips bool          // the current prompts can be skipped
	now   config.Config // the current config
	draft *draft
}

// Run prompts for the settings, checks them, and writes the config.
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
		return bridge.Wrap(bridge.CodeInvalid, err, "config").WithHint("fix the config first; nothing was changed")
	}
	if err := s.choose(ctx); err != nil {
		return err
	}
	if err := s.connectAll(ctx); err != nil {
		return err
	}
	if err := s.rest(ctx); err != nil {
		return err
	}
	return s.finish()
}

// connectAll connects the platforms one at a time. It writes the config after
// each, so that nothing is lost if the user stops. Finally, it offers the
// skipped platforms again.
func (s *Init) connectAll(ctx context.Context) error {
	todo, connected := s.Platforms, len(s.now.Platforms()) > 0
	for len(todo) > 0 {
		if !s.Yes {
			s.say("nod: to leave a platform for later, enter %s at any of its prompts", skipWord)
		}
		var skipped []string
		for _, p := range todo {
			k, _ := kinds.Named(p)
			s.skips = true
			err := s.connect(ctx, k)
			s.skips = false
			if errors.Is(err, errSkipped) {
				skipped = append(skipped, p)
				continue
			}
			if err == nil {
				connected, err = true, s.keep(p)
			}
			if err != nil {
				return err
			}
		}
		if todo = nil; len(skipped) == 0 {
			break
		}
		again, err := s.ask(ctx, "Connect "+strings.Join(skipped, ", ")+" now? y or n", "n")
		if err != nil {
			return err
		}
		if strings.HasPrefix(strings.ToLower(again), "y") {
			todo = skipped
		} else {
			s.say("nod: skipped %s; connect it later with: nod init --platforms %s", strings.Join(skipped, ", "),
				strings.Join(skipped, ","))
		}
	}
	if !connected {
		return bridge.Errorf(bridge.CodeInvalid, "no platform is connected").WithHint("run nod init again when you have a token")
	}
	return nil
}

// keep writes the current config.
func (s *Init) keep(platform string) error {
	s.responder()
	if s.Yes {
		return nil // for scripts, nod writes all or nothing
	}
	changed, err := s.draft.write()
	if err == nil && changed {
		s.say("     nod: saved %s in %s", platform, s.Path)
	}
	return err
}

// responder makes the user a responder of the default route.
func (s *Init) responder() {
	if !slices.Contains(s.now.Routes[bridge.DefaultRoute].Responders, s.Person) {
		s.draft.appendTo([]string{"routes", bridge.DefaultRoute, "responders"}, s.Person)
	}
}

// say prints a line of instructions.
func (s *Init) say(format string, args ...any) { fmt.Fprintf(s.Talk, format+"\n", args...) }

func (s *Init) choose(ctx context.Context) error {
	standard := strings.Join(s.now.Platforms(), ",")
	if len(s.Platforms) == 0 {
		line, err := s.ask(ctx, "Platforms to connect ("+strings.Join(kinds.Names(), ", ")+"), separated by commas", cmp.Or(standard, kinds.All[0].Name))
		if err != nil {
			return err
		}
		s.Platforms = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, p := range s.Platforms {
		if _, known := kinds.Named(p); !known {
			return bridge.Errorf(bridge.CodeInvalid, "platforms: unknown platform %q", p).WithHint("use %s", config.OrOf(kinds.Names()))
		}
	}
	var err error
	if s.Person == "" {
		people := slices.Sorted(maps.Keys(s.now.People))
		first := cmp.Or(os.Getenv("USER"), "me")
		if len(people) > 0 {
			first = people[0]
		}
		s.Person, err = s.ask(ctx, "Your name, as shown on cards", first)
	}
	return err
}

// chooseRedis prompts for the URL of Redis unless the config has one.
func (s *Init) chooseRedis(ctx context.Context) error {
	if s.now.Redis.URL.Set() {
		return nil
	}
	url, err := s.ask(ctx, "URL of Redis", cmp.Or(s.Redis, "redis://127.0.0.1:6379/0"))
	if err != nil {
		return err
	}
	path := []string{"redis", "url"}
	if strings.Contains(url, "@") { // others may read the config, but not a password
		return s.draft.secret(path, "redis_url", url)
	}
	s.draft.set(path, url)
	if s.EnvFile != "" && s.Redis == "" && !s.now.Redis.Password.Set() {
		if err := s.draft.secret([]string{"redis", "password"}, "redis_password", config.NewKey(32)); err != nil {
			return err
		}
		s.say("nod: added a new Redis password, NOD_REDIS_PASSWORD, to %s; start Redis with it", s.EnvFile)
	}
	return nil
}

// rest adds the other settings that every installation needs: a responder, an
// agent, keys and Redis.
func (s *Init) rest(ctx context.Context) error {
	if err := s.chooseRedis(ctx); err != nil {
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
		return bridge.Wrap(bridge.CodeInvalid, err, "%s was written but is not valid", s.Path).WithHint("fix the problems; check with: nod config check --config %s", s.Path)
	}
	s.say("")
	if changed {
		s.say("nod: wrote %s", s.Path)
	} else {
		s.say("nod: %s is up to date", s.Path)
	}
	s.say("nod: next steps:")
	if s.EnvFile != "" {
		s.say("  set -a; . %s; set +a    # in a shell; containers read the file", render.ShellQuote(s.EnvFile))
	}
	with := ""
	if s.Path != config.Installed() {
		with = " --config " + render.ShellQuote(s.Path)
	}
	s.say("  nod serve%s    # with --dev, it needs no Redis server and keeps nothing", with)
	s.say("  nod doctor%s    # checks everything, also the IDs of accounts, and sends you a test question", with)
	switch {
	case s.EnvFile != "":
		if s.Agent != "" {
			s.say("  export NOD_TOKEN=$%s", config.Variable("agents", s.Agent, "token"))
		}
	case s.Agent != "":
		s.say("  export NOD_TOKEN=$(cat %s)", render.ShellQuote(filepath.Join(s.draft.secrets(), "agent_"+s.Agent)))
	}
	s.say("  nod approve \"May I?\"")
	s.say("  nod init all    # adds nod to the coding agents on this machine")
	return nil
}
