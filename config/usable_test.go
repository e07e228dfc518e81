package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/platforms/slack"
)

// TestAddresses checks that a config that could not listen or reach Redis is
// refused, and that the message does not print the password of Redis.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"listen: 99999999":                        "a host and a port are required",
		"listen: 127.0.0.1:99999":                 `port "99999" is out of range`,
		"listen: 127.0.0.1:http":                  "out of range",
		"listen: 127.0.0.1:-1":                    "out of range",
		"redis: {url: \"redsi://:pw@127.0.0.1\"}": `redis.url: unknown scheme "redsi"`,
		"redis: {url: \"127.0.0.1:6379\"}":        "redis.url: ",
		"redis: {url: \"redis://:pw@\"}":          "redis.url: a host is required",
		"redis: {url: \"redis://:pw/x@h:1\"}":     "percent-encode it",
		"redis: {url: \"redis://:pw?x@h:1\"}":     "percent-encode it",
		"redis: {url: \"redis://:pw#x@h:1\"}":     "percent-encode it",
		"redis: {url: \"redis://:pw%zz@h:1\"}":    "percent-encode it",
	} {
		c, err := Parse([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		c.defaults()
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{
		"listen: :8787", "listen: \"[::1]:0\"", "listen: localhost:8787", "redis: {url: \"redis://127.0.0.1\"}",
		"origins: [\"https://app.example.com:8443\", \"https://*.example.com\"]", "redis: {url: \"rediss://u:p@h:1/2\"}", "redis: {url: \"unix:///run/redis.sock\"}",
	} {
		c, err := Parse([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		c.defaults()
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUnusable checks that a setting that could never work is refused, with what to
// set instead.
func TestUnusable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hosts: [\"http://nod.example.com\"]":             "hosts[0]: ",
		"hosts: [\"nod.example.com/nod\"]":                "hosts[0]: ",
		"hosts: [\"a b\"]":                                "hosts[0]: ",
		"hosts: [nod, \"*\"]":                             "hosts[1]: ",
		"hosts: [\"*.*.example.com\"]":                    "hosts[0]: ",
		"traces: {endpoint: \"http://\"}":                 "traces.endpoint: ",
		"sandbox: \"https://\"":                           "sandbox: ",
		"console: {enabled: true, url: \"https:///nod\"}": "console.url: ",
		"webhooks: {a: {url: \"http://:80\", secret: x}}": "webhooks.a.url: ",
		"slack: {bot_token: xapp-1, signing_secret: x}":   "slack.bot_token: this is an app-level token",
		"slack: {bot_token: xoxb-1, app_token: xoxb-2}":   "slack.app_token: ",
		"oncall: {p: {ical: {url: \"https://\"}}}":        "oncall.p.ical.url: ",
	} {
		c, err := Parse([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		c.defaults()
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	c, err := Parse([]byte(`hosts: [nod, NOD.example.com., "*.example.com", "nod:8787", "10.0.0.1", "::1", "[::1]:80"]`), "")
	if err != nil {
		t.Fatal(err)
	}
	c.defaults()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}

// TestUsable checks that a config that cannot ask anyone is not usable.
func TestUsable(t *testing.T) {
	t.Parallel()
	if err := (Config{}).Usable(); err == nil || !strings.Contains(err.Error(), "nod init") {
		t.Errorf("an empty config: %v", err)
	}
	c := Config{Connections: map[string]any{"slack": &slack.Settings{BotToken: NewSecret("x")}}, Routes: map[string]Route{"default": {To: []string{"slack:C1"}}}}
	if err := c.Usable(); err != nil {
		t.Error(err)
	}
}

// TestUnknownVariables checks that a mistyped variable is found, and that
// variables of nod, of the config file and of Kubernetes are not.
func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	text := "agents: {ci: {token: {env: NOD_MY_CI}}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Read(path, []string{"NOD_MY_CI=x"})
	if err != nil {
		t.Fatal(err)
	}
	for name, hint := range map[string]string{
		"NOD_LISTN": "did you mean NOD_LISTEN?", "NOD_AGENTS_CD_TOKEN": "did you mean NOD_AGENTS_CI_TOKEN?",
		"NOD_REDIS_URI": "did you mean NOD_REDIS_URL?", "NOD_METRIC_TOKEN": "did you mean NOD_METRICS_TOKEN?",
	} {
		if _, err := c.UnknownVariables([]string{"HOME=/", name + "=1"}); err == nil || !strings.Contains(err.Error(),
			name+": ") || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if others, err := c.UnknownVariables([]string{"NOD_WHATEVER=1"}); err != nil || !slices.Equal(others, []string{"NOD_WHATEVER"}) {
		t.Errorf("a variable of another program: %q, %v", others, err)
	}
	if others, err := c.UnknownVariables([]string{
		"NOD_URL=x", "NOD_TOKEN=x", "NOD_TOKEN_CI=x", "NOD_CONFIG=x", "NOD_LISTEN=x", "NOD_AGENTS_CI_TOKEN=x", "NOD_MY_CI=x", "NOD_SLACK_BOT_TOKEN=x",
		"NODE_ENV=x",
		"NOD_SERVICE_HOST=x", "NOD_PORT=x", "NOD_PORT_8787_TCP_ADDR=x", "NOD_SERVICE_PORT_HTTP=x", "NOD_REDIS_SERVICE_HOST=x",
	}); err != nil || len(others) > 0 {
		t.Error(others, err)
	}
}

// TestServers checks which servers the URL of Redis names.
func TestServers(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis://127.0.0.1:6379/0":                    "[127.0.0.1:6379] \"\" false 0",
		"rediss://u:p%2C@a,b:7,[::1]/2?master_name=m": "[a:6379 b:7 [::1]:6379] \"m\" false 2",
		"redis://a:1,b:2?master_name=my+master":       "[a:1 b:2] \"my master\" false 0",
		"redis://:p,q@n1:6379,n2:6379":                "[n1:6379 n2:6379] \"\" true 0",
		"unix://u:p@/run/redis.sock?db=1":             "[] \"\" false 1",
	} {
		s, err := Redis{URL: NewSecret(url)}.Servers()
		if got := fmt.Sprintf("%v %q %t %d", s.Hosts, s.Master, s.Cluster, s.DB); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", url, got, err, want)
		}
	}
	if s, err := (Redis{URL: NewSecret("redis://one:1"), Cluster: true}).Servers(); err != nil || !s.Cluster {
		t.Errorf("a Cluster with one address: %+v, %v", s, err)
	}
	if _, err := (Redis{URL: NewSecret("redis://:p%w@a")}).Servers(); err == nil || strings.Contains(err.Error(), "%w") {
		t.Errorf("an invalid URL: %v", err)
	}
}
