package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// proxied is a config that sends nod to a sandbox, as a user with a proxy
// would have it, with a comment.
func proxied(t *testing.T, base string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	text := fmt.Sprintf("# ours\nslack: {api_url: %s/slack/api/}  # by the proxy\ndiscord:\n  api_url: %s/discord\ntelegram:\n  api_url: %s/telegram\n", base, base, base)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// initialize runs nod init, and fails if it prints a secret.
func initialize(t *testing.T, stdin string, args ...string) (string, int) {
	t.Helper()
	var out, errs strings.Builder
	code := run(append([]string{"init"}, args...), strings.NewReader(stdin), &out, &errs)
	said := out.String() + errs.String()
	for _, secret := range []string{sandbox.SlackBotToken, sandbox.SlackAppToken, sandbox.DiscordToken, sandbox.TelegramToken, "xoxb-mistyped"} {
		if strings.Contains(said, secret) {
			t.Errorf("%q is printed: %s", secret, said)
		}
	}
	return said, code
}

func TestInitAsks(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	path := proxied(t, r.base)
	answers := strings.Join([]string{
		"slack,discord,telegram", "ana",
		"xoxb-mistyped", sandbox.SlackAppToken, sandbox.SlackBotToken, "", "C0WRONG", sandbox.SlackChannel, "U0ANA00001",
		sandbox.DiscordToken, sandbox.DiscordChannel, "300000000000000001",
		sandbox.TelegramToken, "", "", p.redis, "",
	}, "\n")
	writing, enough := context.WithCancel(r.ctx)
	var ana sync.WaitGroup
	ana.Go(func() { // she writes to the bot, so that it knows her and the group
		for bridge.Pause(writing, 50*time.Millisecond) {
			if r.sandbox.State().Telegram.Polling {
				_, _ = r.sandbox.Person("ana").Command(r.ctx, "telegram", fmt.Sprint(sandbox.TelegramChat), "/nod who") // nobody answers
			}
		}
	})
	t.Cleanup(func() { enough(); ana.Wait() })
	said, code := initialize(t, answers, "--config", path)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, want := range []string{"manifest_json=%7B", "Install to Workspace", "connections:write", "FAILED   slack.token", "oauth2/authorize?client_id=", "/invite @nod", "That was Ana", "nod doctor"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ana := c.People["ana"]; ana.Slack != "U0ANA00001" || ana.Discord != "300000000000000001" || ana.Telegram != "7001" || len(c.Routes["default"].To) != 3 || len(c.Routes["default"].Responders) != 1 {
		t.Errorf("%+v", c)
	}
	if c.Slack.BotToken.Value() != sandbox.SlackBotToken || c.Telegram.BotToken.Value() != sandbox.TelegramToken || !c.TokenKey.Set() || !c.Receipts.Key.Set() || !c.Agents["agent"].Token.Set() {
		t.Error("a secret is missing")
	}
	text := readFile(t, path)
	if strings.Contains(said, c.Agents["agent"].Token.Value()) || strings.Contains(said, c.TokenKey.Value()) {
		t.Error("a secret that was made is printed")
	}
	if !strings.Contains(text, "# ours") || !strings.Contains(text, "# by the proxy") || strings.Contains(text, sandbox.DiscordToken) {
		t.Errorf("the config is %s", text)
	}
	if info, err := os.Stat(filepath.Join(strings.TrimSuffix(path, ".yaml")+".secrets", "slack_bot_token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if said, code := initialize(t, "", "--config", path, "--yes"); code != 0 || !strings.Contains(said, "as it should be") || readFile(t, path) != text {
		t.Errorf("the second time: %d, %s", code, said)
	}
	p.config.Routes = c.Routes // what was written is what the doctor calls good
	if found, code := (patient{t, p.config, p.redis}).examine("--no-ask"); code != 0 {
		t.Errorf("%+v", found)
	}
}

// With a file of variables the config names no secret, and the file has them,
// for compose and Kubernetes.
func TestInitEnvFile(t *testing.T) {
	t.Parallel()
	p, r := newPatient(t)
	path := proxied(t, r.base)
	env := filepath.Join(t.TempDir(), "nod.env")
	if err := os.WriteFile(env, []byte("TELEGRAM_BOT_TOKEN="+sandbox.TelegramToken+"\nOURS=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", path, "--env-file", env, "--yes", "--platforms", "telegram", "--telegram-chat", fmt.Sprint(sandbox.TelegramChat), "--telegram-user", "7001", "--person", "ana", "--redis", p.redis, "--agent", "ci-bot"}
	said, code := initialize(t, "", args...)
	if code != 0 || !strings.Contains(said, "$NOD_AGENTS_CI_BOT_TOKEN") {
		t.Fatal(code, said)
	}
	lines := readFile(t, env)
	for _, want := range []string{"OURS=1", "TELEGRAM_BOT_TOKEN=", "NOD_AGENTS_CI_BOT_TOKEN=nod_", "NOD_TOKEN_KEY=", "NOD_RECEIPTS_KEY="} {
		if strings.Count(lines, want) != 1 {
			t.Errorf("the file has not one %s: %s", want, lines)
		}
	}
	if strings.Contains(readFile(t, path), "file:") {
		t.Error("the config names files")
	}
	if c, err := config.Load(path, strings.Split(lines, "\n")); err != nil || !c.Agents["ci-bot"].Token.Set() || !c.TokenKey.Set() {
		t.Errorf("%+v, %v", c, err)
	}
	if said, code := initialize(t, "", args...); code != 0 || readFile(t, env) != lines || !strings.Contains(said, "as it should be") {
		t.Errorf("the second time: %d, %s", code, said)
	}
	// Without an address, Redis is started from this repository's examples: it
	// gets a password.
	args[1] = proxied(t, r.base)
	said, code = initialize(t, "", slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == "--redis" || s == p.redis })...)
	if code != 0 || strings.Count(readFile(t, env), "NOD_REDIS_PASSWORD=") != 1 || !strings.Contains(said, "start Redis with it") {
		t.Errorf("no password for Redis: %d, %s", code, said)
	}
}

func TestInitRefuses(t *testing.T) {
	t.Parallel()
	_, r := newPatient(t)
	for name, x := range map[string]struct {
		args []string
		want string
	}{
		"no token":    {[]string{"--platforms", "slack", "--slack-channel", "C1", "--slack-user", "U1"}, "SLACK_BOT_TOKEN is not set"},
		"no platform": {[]string{"--platforms", "teams"}, `there is no "teams"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := proxied(t, r.base)
			was := readFile(t, path)
			if said, code := initialize(t, "", append([]string{"--config", path, "--yes"}, x.args...)...); code != 2 || !strings.Contains(said, x.want) {
				t.Errorf("exit code %d: %s", code, said)
			}
			if readFile(t, path) != was {
				t.Error("the config was changed")
			}
		})
	}
	broken := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(broken, []byte("slack: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, code := initialize(t, "", "--config", broken, "--yes"); code != 2 || !strings.Contains(said, "mend it first") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// The manifest for HTTP mode has the address wherever Slack calls.
func TestManifest(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	if code := run([]string{"manifest", "slack", "--http", "https://nod.example.com/"}, nil, &out, &errs); code != 0 || strings.Count(out.String(), "https://nod.example.com/slack/interactions") != 3 || strings.Contains(out.String(), `"socket_mode_enabled": true`) {
		t.Errorf("%d: %s%s", code, out.String(), errs.String())
	}
	if code := run([]string{"manifest", "slack", "--http", "http://nod.example.com"}, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "https only") {
		t.Errorf("%d: %s", code, errs.String())
	}
}
