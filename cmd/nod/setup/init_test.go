package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// proxied writes a config with comments that sends nod to a sandbox.
func proxied(t *testing.T, base string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	text := fmt.Sprintf("# ours\nsandbox: %s  # for tests\n", base)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// initialize runs an Init and returns its output and error. It fails the test
// if the output contains a secret.
func initialize(t *testing.T, stdin string, s Init) (string, *bridge.Error) {
	t.Helper()
	var talk strings.Builder
	s.Stdin, s.Talk = strings.NewReader(stdin), &talk
	var failed *bridge.Error
	said := ""
	if err := s.Run(t.Context()); err != nil {
		failed = bridge.PublicError(err)
		said = failed.Error() + failed.Hint
	}
	said += talk.String()
	for _, secret := range []string{sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.DiscordToken, sandbox.TelegramToken, "xoxb-mistyped"} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is printed: %s", secret, said)
		}
	}
	return said, failed
}

// TestInitAsks checks the dialog of nod init, with mistakes that a person
// corrects.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	path := proxied(t, r.Base)
	withPassword := strings.Replace(p.redis, "//", "//:hunter2@", 1)
	answers := strings.Join([]string{
		"slack,discord,telegram", "ana",
		"xoxb-mistyped", sandbox.SlackAppToken, sandbox.SlackBotToken, "", "C0WRONG", sandbox.SlackChannel, "U0ANA00001",
		sandbox.DiscordToken, sandbox.DiscordChannel, "300000000000000001",
		sandbox.TelegramToken, "", "", withPassword, "",
	}, "\n")
	writing, enough := context.WithCancel(r.Ctx)
	var ana sync.WaitGroup
	ana.Go(func() { // her messages tell the bot the IDs of her account and the group
		for bridge.Pause(writing, 50*time.Millisecond) {
			if r.Sandbox.State().Telegram.Polling {
				_, _ = r.Sandbox.Person("ana").Command(r.Ctx, "telegram", fmt.Sprint(sandbox.TelegramChat), "/nod who") // no one answers
			}
		}
	})
	t.Cleanup(func() { enough(); ana.Wait() })
	said, failed := initialize(t, answers, Init{Path: path})
	if failed != nil {
		t.Fatalf("%v: %s", failed, said)
	}
	for _, want := range []string{"manifest_json=%7B", "Install to Workspace", "connections:write", "FAILED   slack.token", "oauth2/authorize?client_id=", "/invite @nod", "Got a message from Ana", "nod doctor"} {
		if !strings.Contains(said, want) {
			t.Errorf("the output lacks %q: %s", want, said)
		}
	}
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ana := c.People["ana"]; ana.Account("slack") != "U0ANA00001" || ana.Account("discord") != "300000000000000001" || ana.Account("telegram") != "7001" || len(c.Routes["default"].To) != 3 || len(c.Routes["default"].Responders) != 1 {
		t.Errorf("the config is %+v, want the accounts of ana and a route to each platform", c)
	}
	if sandboxed.Slack(&c).BotToken.Value() != sandbox.SlackBotToken || sandboxed.Telegram(&c).BotToken.Value() != sandbox.TelegramToken || !c.TokenKey.Set() || !c.Receipts.Key.Set() || !c.Agents["agent"].Token.Set() {
		t.Error("a secret is missing")
	}
	text := rig.ReadFile(t, path)
	if c.Redis.URL.Value() != withPassword || strings.Contains(text, "hunter2") {
		t.Errorf("the password of Redis is in %s", text)
	}
	if strings.Contains(said, c.Agents["agent"].Token.Value()) || strings.Contains(said, c.TokenKey.Value()) {
		t.Error("a generated secret is printed")
	}
	if !strings.Contains(text, "# ours") || !strings.Contains(text, "# for tests") || strings.Contains(text, sandbox.DiscordToken) {
		t.Errorf("the config is %s", text)
	}
	if info, err := os.Stat(filepath.Join(strings.TrimSuffix(path, ".yaml")+".secrets", "slack_bot_token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if said, failed := initialize(t, "", Init{Path: path, Yes: true}); failed != nil || !strings.Contains(said, "is up to date") || rig.ReadFile(t, path) != text {
		t.Errorf("the second run: %v, %s", failed, said)
	}
	p.config.Routes = c.Routes // the doctor accepts the written config
	if found, well := (patient{t, p.config, p.redis}).examine(noAsk); !well {
		t.Errorf("the findings are %+v, want no failures", found)
	}
}

// TestInitEnvFile checks that --env-file stores all secrets in that file, for
// Compose and Kubernetes, and none in the config.
func TestInitEnvFile(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	path := proxied(t, r.Base)
	env := filepath.Join(t.TempDir(), "nod.env")
	if err := os.WriteFile(env, []byte("TELEGRAM_BOT_TOKEN="+sandbox.TelegramToken+"\n\n# of others\nOURS=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Init{
		Path: path, EnvFile: env, Yes: true, Platforms: []string{"telegram"}, Channels: map[string]string{"telegram": fmt.Sprint(sandbox.TelegramChat)},
		Users: map[string]string{"telegram": "7001"}, Person: "ana", Redis: p.redis, Agent: "ci-bot",
	}
	said, failed := initialize(t, "", o)
	if failed != nil || !strings.Contains(said, "$NOD_AGENTS_CI_BOT_TOKEN") {
		t.Fatal(failed, said)
	}
	lines := rig.ReadFile(t, env)
	for _, want := range []string{"\n\n# of others\nOURS=1\n", "TELEGRAM_BOT_TOKEN=", "NOD_AGENTS_CI_BOT_TOKEN=nod_", "NOD_TOKEN_KEY=", "NOD_RECEIPTS_KEY="} {
		if strings.Count(lines, want) != 1 {
			t.Errorf("want exactly one %s in: %s", want, lines)
		}
	}
	if strings.Contains(rig.ReadFile(t, path), "file:") {
		t.Error("the config refers to files")
	}
	if c, err := config.Load(path, strings.Split(lines, "\n")); err != nil || !c.Agents["ci-bot"].Token.Set() || !c.TokenKey.Set() {
		t.Errorf("%+v, %v", c, err)
	}
	if said, failed := initialize(t, "", o); failed != nil || rig.ReadFile(t, env) != lines || !strings.Contains(said, "is up to date") {
		t.Errorf("the second run: %v, %s", failed, said)
	}
	// Without a URL, the user starts Redis from the examples of this
	// repository, so nod generates a password.
	o.Path, o.Redis = proxied(t, r.Base), ""
	said, failed = initialize(t, "", o)
	if failed != nil || strings.Count(rig.ReadFile(t, env), "NOD_REDIS_PASSWORD=") != 1 || !strings.Contains(said, "start Redis with it") {
		t.Errorf("no password for Redis: %v, %s", failed, said)
	}
	fresh := filepath.Join(t.TempDir(), "nod.env")
	if err := os.WriteFile(fresh, []byte("TELEGRAM_BOT_TOKEN="+sandbox.TelegramToken), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Path, o.EnvFile, o.Redis = proxied(t, r.Base), fresh, "redis://:hunter2@10.0.0.1:6379"
	_, failed = initialize(t, "", o)
	if failed != nil || strings.Contains(rig.ReadFile(t, o.Path), "hunter2") || !strings.Contains(rig.ReadFile(t, fresh), "\nNOD_REDIS_URL="+o.Redis+"\n") {
		t.Errorf("the password of Redis is in the config: %v, %s", failed, rig.ReadFile(t, o.Path))
	}
}

// TestInitSavesCorrections checks that a token that a person enters again
// replaces the rejected one, wherever the config has it. A variable that sets
// the token is named instead.
func TestInitSavesCorrections(t *testing.T) {
	t.Parallel()
	_, r := newPatient(t)
	for setting, saved := range map[string]bool{`"1:wrong"`: true, "{file: token}": true, "{env: PATH}": false} {
		path := proxied(t, r.Base)
		text := rig.ReadFile(t, path) + "telegram:\n  bot_token: " + setting + " # theirs\nredis: {url: redis://127.0.0.1:1}\n"
		err := os.WriteFile(path, []byte(text), 0o600)
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(path), "token"), []byte("1:wrong"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		said, failed := initialize(t, sandbox.TelegramToken+"\n\n\n\n", Init{
			Path: path, Platforms: []string{"telegram"}, Person: "ana", Channels: map[string]string{"telegram": fmt.Sprint(sandbox.TelegramChat)},
			Users: map[string]string{"telegram": "7001"},
		})
		if !saved {
			if failed == nil || !strings.Contains(said, "the variable PATH sets it") || rig.ReadFile(t, path) != text {
				t.Errorf("%s: %v: %s", setting, failed, said)
			}
			continue
		}
		c, err := config.Load(path, nil)
		if failed != nil || err != nil || sandboxed.Telegram(&c).BotToken.Value() != sandbox.TelegramToken {
			t.Errorf("%s: %v, %v: %s", setting, failed, err, said)
		}
		if text := rig.ReadFile(t, path); strings.Contains(text, sandbox.TelegramToken) || !strings.Contains(text, "# theirs") {
			t.Errorf("%s becomes %s", setting, text)
		}
	}
}

// TestInitRefuses checks that nod init does not change the config if a value is
// missing or unknown.
func TestInitRefuses(t *testing.T) {
	t.Parallel()
	_, r := newPatient(t)
	for name, x := range map[string]struct {
		init Init
		want string
	}{
		"no token":    {Init{Platforms: []string{"slack"}, Channels: map[string]string{"slack": "C1"}, Users: map[string]string{"slack": "U1"}}, "SLACK_BOT_TOKEN is not set"},
		"no platform": {Init{Platforms: []string{"teams"}}, `unknown platform "teams"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := proxied(t, r.Base)
			was := rig.ReadFile(t, path)
			x.init.Path, x.init.Yes = path, true
			if said, failed := initialize(t, "", x.init); failed == nil || failed.Code != bridge.CodeInvalid || !strings.Contains(said, x.want) {
				t.Errorf("%v: %s", failed, said)
			}
			if rig.ReadFile(t, path) != was {
				t.Error("the config was changed")
			}
		})
	}
	broken := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(broken, []byte("slack: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, failed := initialize(t, "", Init{Path: broken, Yes: true}); failed == nil || failed.Code != bridge.CodeInvalid || !strings.Contains(said, "fix the file first") {
		t.Errorf("%v: %s", failed, said)
	}
}
