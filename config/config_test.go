package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/slack"
)

const good = `
slack: {bot_token: xoxb-secret-1, app_token: xapp-secret-2}
people: {ana: {slack: U1, telegram: "7001"}}
routes: {default: {to: ["slack:C1"], responders: [ana]}}
agents: {ci-bot: {token: secret-0123456789abcdef}}
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, good), []string{"NOD_REDIS_URL=redis://x:1", "NOD_AGENTS_CI_BOT_TOKEN=from-the-environment", "SLACK_APP_TOKEN=xapp-other", "NOD_RETENTION=2h"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8787" || c.Redis.URL.Value() != "redis://x:1" || c.Agents["ci-bot"].Token.Value() != "from-the-environment" || slackOf(c).AppToken.Value() != "xapp-other" {
		t.Errorf("%+v", c)
	}
	for _, printed := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c)} {
		if strings.Contains(printed, "secret") || strings.Contains(printed, "from-the-env") {
			t.Errorf("a secret is printed: %s", printed)
		}
	}
}

func TestProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	bad := `
slack: {bot_token: a, app_token: b, signing_secret: c}
telegram: {bot_token: "1:x"}
people: {ana: {telegram: "@ana", token: short}}
routes: {default: {to: ["slak:C1", "discord:1", "x"], responders: [bo], escalation: [{after: 1m, route: nowhere}]}, empty: {escalation: [{after: 1m, route: empty}]}}
agents: {ci: {token: secret-0123456789abcdef, routes: [nowhere]}, cd: {token: secret-0123456789abcdef}}
`
	_, err := config.Load(write(t, bad), nil)
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{
		"slack: app_token and signing_secret are both set",
		`people.ana.telegram: invalid ID "@ana"`, "people.ana.token: too short (5 characters, at least 16)",
		`routes.default.to[0]: unknown platform "slak" in "slak:C1"`, "routes.default.to[1]: platform discord has no bot_token", `routes.default.to[2]: invalid destination "x"`,
		`routes.default.responders[0]: unknown person "bo"`, `routes.default.escalation[0].route: unknown route "nowhere"`, `routes.empty.escalation[0].route: route "empty" cannot escalate to itself`,
		"routes.empty.to: required", "routes.empty.responders: required",
		`agents.ci.routes[0]: unknown route "nowhere"`, "same token as agents.",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "secret-0") {
		t.Error("a secret is in the error")
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"listn: x":                          `nod.yaml:1: unknown key "listn"; did you mean "listen"?`,
		"retention: soon":                   `nod.yaml:1: retention: invalid duration "soon"`,
		"token_key: {env: NO_SUCH_VAR_X}":   "NO_SUCH_VAR_X is not set",
		"token_key: {file: /no/such/file}":  "no such file",
		"token_key: {vault: x}":             `unknown key "vault"`,
		"\nslack:\n  bot_tokn: xoxb-secret": `nod.yaml:3: slack: unknown key "bot_tokn"; did you mean "bot_token"?`,
	} {
		_, err := config.Load(write(t, text), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "xoxb-secret") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := config.Load("", []string{"NOD_REDIS_WAIT_REPLICAS=many"}); err == nil || !strings.Contains(err.Error(), "NOD_REDIS_WAIT_REPLICAS") {
		t.Errorf("%v", err)
	}
}

func TestSecretFromFile(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("xoxb-from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{secret, "token"} {
		c, err := config.Parse([]byte("slack: {bot_token: {file: "+path+"}}\nagents: {ci: {token: {file: "+path+"}}}"), filepath.Dir(secret))
		if err != nil || slackOf(c).BotToken.Value() != "xoxb-from-file" || c.Agents["ci"].Token.Value() != "xoxb-from-file" {
			t.Errorf("%q, %v", slackOf(c).BotToken.Value(), err)
		}
	}
	if _, err := config.Parse([]byte("slack:\n  bot_token: {file: gone}"), "."); err == nil || !strings.Contains(err.Error(), "line 2: slack.bot_token: stat gone") {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("slack: {bot_token: {env: X}}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strings.Contains(string(raw), "file") {
			return // a secret may name any file
		}
		c, err := config.Parse(raw, "")
		if err == nil {
			_ = c.Check() // checks that it does not panic
		}
	})
}

// TestSharedAccounts checks that an account, an email address or a token of two
// people is rejected with both names.
func TestSharedAccounts(t *testing.T) {
	t.Parallel()
	hash := config.HashToken("person-token-0123456789")
	for text, want := range map[string]string{
		`ana: {slack: U1}, bo: {slack: U1}`:                                                    "people.bo.slack: also used by people.ana",
		`ana: {slack: U0ANA}, bo: {slack: W0ANA}`:                                              "people.bo.slack: also used by people.ana",
		`ana: {ids: {pagerduty: P1}}, bo: {ids: {pagerduty: P1}}`:                              "people.bo.ids.pagerduty: also used by people.ana",
		`ana: {telegram: "7"}, bo: {telegram: "07"}`:                                           "people.bo.telegram: also used by people.ana",
		`ana: {discord: "7"}, bo: {discord: "7"}`:                                              "people.bo.discord: also used by people.ana",
		`ana: {email: A@x.com}, bo: {email: a@X.com}`:                                          "people.bo.email: also used by people.ana",
		`ana: {token: "` + hash + `"}, bo: {token: "` + hash + `"}`:                            "people.bo.token: same token as people.ana.token",
		`ana: {token: "` + hash + `"}, bo: {token: person-token-0123456789}`:                   "people.bo.token: same token as people.ana.token",
		`ana: {token: person-token-0123456789}, bo: {token: "another-token-01, ` + hash + `"}`: "people.bo.token: same token as people.ana.token",
	} {
		_, err := config.Load(write(t, "people: {"+text+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, err := config.Load(write(t, "people: {ana: {slack: U0ANA}, bo: {slack: UW0ANA}}\n"), nil)
	if err != nil && strings.Contains(err.Error(), "also used") {
		t.Error(err)
	}
}

func slackOf(c config.Config) *slack.Settings { return c.Connection(slack.Kind).(*slack.Settings) }
