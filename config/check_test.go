package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/config"
)

const hash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// whole is a valid config that sets every section.
const whole = `
slack: {bot_token: xoxb-secret-1, app_token: xapp-secret-2}
telegram: {bot_token: "1:x", webhook_url: "https://x"}
traces: {endpoint: "http://127.0.0.1:4318/v1/traces"}
metrics: {token: metrics-0123456789}
console: {enabled: true, url: "https://x", oidc: {issuer: "https://i", client_id: nod, client_secret: oidc-secret}}
people:
  ana: {slack: U1, telegram: "7001", token: person-0123456789, auditor: true, email: a@x.com}
  bo: {slack: U2, token: "` + hash + `"}
groups: {ops: {people: [ana]}, chat: {discord: 1/2}, night: {oncall: week}}
oncall:
  week: {rotation: {people: [ana, bo], start: 2026-01-05T09:00:00Z, every: 168h}}
  feed: {ical: {url: "https://x/calendar"}}
  pager: {pagerduty: {schedule: S, token: t}}
  own: {goalert: {url: "https://g", schedule: S, token: t}}
routes:
  default: {to: ["slack:C1", "telegram:-100/7"], responders: [ana, "@ops"], must: [ana], quorum: 2, deny: counts, hand_over: [bo],
    quiet: {from: "22:00", to: "07:00", zone: Europe/Berlin},
    escalation: [{after: 2m, remind: true, times: 3}, {after: 5m, ask: ["@ops"]}, {after: 5m, route: boss}, {after: 1h, give_up: deny}]}
  boss: {to: ["slack:C2"], allow_self: true, responders: [bo]}
agents: {ci: {token: secret-0123456789abcdef, routes: [default], owners: [bo], kinds: [ask], scopes: [once], per_minute: 5}}
risks: [{name: high, quorum: 2}]
policy: [{tools: bash, then: ask, route: default, on_timeout: escalate, grant: rule}, {then: allow}]
webhooks: {audit: {url: "https://x", secret: whsec_x, agents: [ci]}}
`

// problems returns the paths of the errors that Load returns.
func problems(t *testing.T, text string) []string {
	t.Helper()
	_, err := config.Load(write(t, text), nil)
	if err == nil {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, rest, _ := strings.Cut(line, ": ") // the file and the line come first
		path, _, _ := strings.Cut(rest, ": ")
		out = append(out, path)
	}
	return out
}

// TestWhole checks that a config with every section is accepted.
func TestWhole(t *testing.T) {
	t.Parallel()
	if got := problems(t, whole); len(got) > 0 {
		t.Errorf("problems with %q", got)
	}
}

// TestProblems checks that one mistake in a valid config is reported at its
// path, and that nothing else is reported.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ was, is, path string }{
		{"app_token: xapp-secret-2", "signing_secret: ''", "slack.signing_secret"},
		{", app_token: xapp-secret-2", "", "slack"},
		{"metrics: {", "sandbox: here\nmetrics: {", "sandbox"},
		{"console: {enabled: true, ", "console: {", "console.oidc"},
		{"metrics: {", "redis: {url: 'redis://h/abc'}\nmetrics: {", "redis.url"},
		{"metrics: {", "redis: {url: 'redis://h:99999'}\nmetrics: {", "redis.url"},
		{"metrics: {", "redis: {url: 'redis://h?read_timeout=1s'}\nmetrics: {", "redis.url"},
		{"metrics: {", "redis: {url: 'redis://a,b/2'}\nmetrics: {", "redis.url"},
		{"metrics: {", "redis: {url: 'redis://:p@h', password: q}\nmetrics: {", "redis.password"},
		{"metrics: {", "redis: {url: 'redis://h', sentinel_password: q}\nmetrics: {", "redis.sentinel_password"},
		{"metrics: {", "redis: {url: 'redis://h?master_name=m', cluster: true}\nmetrics: {", "redis.cluster"},
		{"metrics: {", "redis: {url: 'redis://h', tls: {ca: x}}\nmetrics: {", "redis.tls"},
		{"metrics: {", "redis: {url: 'rediss://h', tls: {ca: gone.pem}}\nmetrics: {", "redis.tls.ca"},
		{"metrics: {", "redis: {url: 'rediss://h', tls: {cert: gone.pem}}\nmetrics: {", "redis.tls"},
		{`"http://127.0.0.1:4318/v1/traces"`, "collector:4318", "traces.endpoint"},
		{"metrics: {", "redis: {wait_replicas: -1}\nmetrics: {", "redis.wait_replicas"},
		{"metrics: {", "redis: {prefix: 'a{b'}\nmetrics: {", "redis.prefix"},
		{"metrics: {", "redis: {wait_replicas: 1, url: 'redis://a,b'}\nmetrics: {", "redis.wait_replicas"},
		{"metrics: {", "max_connections: -1\nmetrics: {", "max_connections"},
		{"metrics: {", "origins: [app.example.com]\nmetrics: {", "origins[0]"},
		{"metrics: {", "origins: ['https://a.example.com', 'https://*.com']\nmetrics: {", "origins[1]"},
		{"metrics: {", "origins: ['https://a.example.com/x']\nmetrics: {", "origins[0]"},
		{"every: 168h", "every: 168h, zone: Mars/Base", "oncall.week.rotation.zone"},
		{"metrics-0123456789", "short", "metrics.token"},
		{"metrics-0123456789", "secret-0123456789abcdef", "agents.ci.token"},
		{`url: "https://x", oidc`, "url: x, oidc", "console.url"},
		{`url: "https://x", oidc`, "oidc", "console.url"},
		{`issuer: "https://i"`, "issuer: i", "console.oidc.issuer"},
		{"client_id: nod, ", "", "console.oidc"},
		{"client_secret: oidc-secret", "client_secret: ''", "console.oidc.client_secret"},
		{"token: person-0123456789, ", "", "people.ana.auditor"},
		{"person-0123456789", "secret-0123456789abcdef", "people.ana.token"},
		{hash, "sha256:0123456789", "people.bo.token"},
		{hash, hash + ",sha256:0123456789", "people.bo.token"},
		{`telegram: "7001"`, `telegram: "@ana"`, "people.ana.telegram"},
		{`telegram: "7001"`, `telegram: true`, "people.ana.telegram"},
		{`telegram: "7001"`, `telegram: 0x10`, "people.ana.telegram"},
		{"ana: {slack: U1,", "ana: {slack: true,", "people.ana.slack"},
		{"ana: {slack: U1,", "ana: {slack: ana,", "people.ana.slack"},
		{"ana: {slack: U1,", "ana: {slack: '@U1',", "people.ana.slack"},
		{"ana: {slack: U1,", "ana: {slack: U1, discord: ana,", "people.ana.discord"},
		{"{people: [ana]}", "{people: [ana], slack: sre}", "groups.ops.slack"},
		{"{people: [ana]}", "{people: [ana], telegram: sre}", "groups.ops.telegram"},
		{`"slack:C2"`, `"slack:#deploys"`, "routes.boss.to[0]"},
		{`"slack:C2"`, `"slack:deploys"`, "routes.boss.to[0]"},
		{`"slack:C2"`, `"slack:@ana"`, "routes.boss.to[0]"},
		{`"slack:C2"`, `"slack:C2/main"`, "routes.boss.to[0]"},
		{`"slack:C2"`, `"discord:#deploys"`, "routes.boss.to[0]"},
		{"telegram:-100/7", "telegram:-100/main", "routes.default.to[1]"},
		{"ops: {people: [ana]}", "ops: {people: [eve]}", "groups.ops.people[0]"},
		{"ops: {people: [ana]}", "ops: {}", "groups.ops"},
		{"discord: 1/2", "discord: 1", "groups.chat.discord"},
		{"discord: 1/2", "discord: /2", "groups.chat.discord"},
		{"{oncall: week}", "{oncall: month}", "groups.night.oncall"},
		{"people: [ana, bo], start", "people: [ana, eve], start", "oncall.week.rotation.people[1]"},
		{"people: [ana, bo], start", "people: [], start", "oncall.week.rotation.people"},
		{", every: 168h", "", "oncall.week.rotation"},
		{`{url: "https://x/calendar"}`, "{url: calendar}", "oncall.feed.ical.url"},
		{"pagerduty: {schedule: S, ", "pagerduty: {", "oncall.pager.pagerduty"},
		{`url: "https://g", `, "", "oncall.own.goalert.url"},
		{"pager: {pagerduty", "pager: {ical: {url: 'https://x'}, pagerduty", "oncall.pager"},
		{"feed: {ical: {url: \"https://x/calendar\"}}", "feed: {}", "oncall.feed"},
		{"responders: [bo]}", "responders: []}", "routes.boss.responders"},
		{`"slack:C2"`, `"discord:1"`, "routes.boss.to[0]"},
		{`"slack:C2"`, `"slack:"`, "routes.boss.to[0]"},
		{"telegram:-100/7", "telegram:deploys/7", "routes.default.to[1]"},
		{`[ana, "@ops"], must`, `[ana, "@dev"], must`, "routes.default.responders[1]"},
		{"must: [ana]", "must: [eve]", "routes.default.must[0]"},
		{"quorum: 2, deny", "quorum: 11, deny", "routes.default.quorum"},
		{"deny: counts", "deny: never", "routes.default.deny"},
		{"deny: counts", "mention: all", "routes.default.mention"},
		{"deny: counts", "remind: 100%", "routes.default.remind"},
		{"deny: counts", "remind: soon", "routes.default.remind"},
		{"deny: counts", "preview: half", "routes.default.preview"},
		{"hand_over: [bo]", "hand_over: [eve]", "routes.default.hand_over[0]"},
		{"hand_over: [bo]", "hand_over: [bo, ana, '@ops', '@chat', '@night']", "routes.default.hand_over"},
		{`from: "22:00"`, "from: late", "routes.default.quiet.from"},
		{`from: "22:00"`, `from: "07:00"`, "routes.default.quiet.to"},
		{"Europe/Berlin", "Europe/Atlantis", "routes.default.quiet.zone"},
		{"after: 2m, ", "", "routes.default.escalation[0].after"},
		{"times: 3", "times: 11", "routes.default.escalation[0].times"},
		{`ask: ["@ops"]}`, `ask: ["@ops"], times: 2}`, "routes.default.escalation[1].times"},
		{`ask: ["@ops"]}`, `ask: ["@dev"]}`, "routes.default.escalation[1].ask[0]"},
		{`{after: 5m, ask: ["@ops"]}`, "{after: 5m}", "routes.default.escalation[1]"},
		{"route: boss}", "route: default}", "routes.default.escalation[2].route"},
		{"give_up: deny", "give_up: shout", "routes.default.escalation[3].give_up"},
		{"{after: 1h, give_up: deny}", "{after: 1h, give_up: deny}, {after: 1h, remind: true}", "routes.default.escalation[3].give_up"},
		{"owners: [bo]", "owners: [eve]", "agents.ci.owners[0]"},
		{"routes: [default]", "routes: [prod]", "agents.ci.routes[0]"},
		{"kinds: [ask]", "kinds: [beg]", "agents.ci.kinds[0]"},
		{"scopes: [once]", "scopes: [twice]", "agents.ci.scopes[0]"},
		{"per_minute: 5", "per_minute: -5", "agents.ci.per_minute"},
		{"secret-0123456789abcdef", "'secret-0123456789abcdef,short'", "agents.ci.token"},
		{"token: secret-0123456789abcdef, ", "", "agents.ci.token"},
		{"{name: high, quorum: 2}", "{name: high, quorum: 11}", "risks[0].quorum"},
		{"{name: high, quorum: 2}", "{name: high}, {name: high}", "risks[1].name"},
		{"route: default, on", "route: boss, on", "policy[0].on_timeout"},
		{"{then: allow}", "{then: allow, route: prod}", "policy[1].route"},
		{"{then: allow}", "{then: allow, quorum: -1}", "policy[1].quorum"},
		{"grant: rule", "grant: all", "policy[0].grant"},
		{`{url: "https://x", secret`, "{url: x, secret", "webhooks.audit.url"},
		{"whsec_x", "x", "webhooks.audit.secret"},
		{"agents: [ci]", "agents: [cd]", "webhooks.audit.agents[0]"},
	} {
		if !strings.Contains(whole, x.was) {
			t.Fatalf("the config has no %q", x.was)
		}
		if got := problems(t, strings.Replace(whole, x.was, x.is, 1)); !slices.Equal(got, []string{x.path}) {
			t.Errorf("%q: problems with %q, want %q", x.is, got, x.path)
		}
	}
}

// TestSecrets checks that Secrets returns every secret, so that all of them can
// be redacted, and that none is printed.
func TestSecrets(t *testing.T) {
	t.Parallel()
	text := strings.Replace(whole, "whsec_x", "'whsec_x, whsec_y'", 1)
	c, err := config.Parse([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	got := c.Secrets()
	printed, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"xoxb-secret-1", "xapp-secret-2", "1:x", "metrics-0123456789", "oidc-secret", "person-0123456789",
		"secret-0123456789abcdef", "https://x/calendar", "whsec_x", "whsec_y", "whsec_x, whsec_y"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among the secrets", want)
		}
		if strings.Contains(string(printed), want) {
			t.Errorf("%q is printed", want)
		}
	}
	if !strings.Contains(string(printed), "every: 168h0m0s") {
		t.Error("a duration is not printed in its own format")
	}
}

// TestEnvironment checks how variables replace values of the file, by type, and
// that an error names the variable.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, whole), []string{"NOD_MAX_CONNECTIONS=7", "NOD_IDENTITY_EMAIL=true",
		"NOD_RETENTION=1h", "NOD_AGENTS_CI_KINDS=ask, notice", "NOD_AGENTS_CI_ROUTES=boss", "NOD_CONSOLE_OIDC_ISSUER=https://j", "NOD_UNKNOWN=1"})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(c.MaxConnections, c.Identity.Email, c.Agents["ci"].Kinds, c.Agents["ci"].Routes, c.Console.OIDC.Issuer)
	if want := "7 true [ask notice] [boss] https://j\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, v := range []string{"NOD_MAX_CONNECTIONS=many", "NOD_CONSOLE_ENABLED=maybe", "NOD_RETENTION=soon", "NOD_POLICY=x"} {
		_, err := config.Load(write(t, whole), []string{v})
		if name, _, _ := strings.Cut(v, "="); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s: %v", v, err)
		}
	}
	for path, want := range map[string]string{"slack.bot_token": "SLACK_BOT_TOKEN", "agents.ci-bot.token": "NOD_AGENTS_CI_BOT_TOKEN", "listen": "NOD_LISTEN"} {
		if got := config.Variable(strings.Split(path, ".")...); got != want {
			t.Errorf("%s is set by %s, want %s", path, got, want)
		}
	}
}

// TestWords checks that a list may be written as a single string, and that
// other values are rejected.
func TestWords(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte("policy: [{tools: bash, path: [a, b]}]"), "")
	if err != nil || !slices.Equal(c.Policy[0].Tools, []string{"bash"}) || !slices.Equal(c.Policy[0].Path, []string{"a", "b"}) {
		t.Errorf("%+v, %v", c.Policy, err)
	}
	c, err = config.Parse([]byte("x-who: &who ana\nroutes: {a: {responders: *who, remind: *who}, b: {responders: *who, must: *who}}"), "")
	if err != nil || !slices.Equal(c.Routes["a"].Responders, []string{"ana"}) || c.Routes["a"].Remind != "ana" || !slices.Equal(c.Routes["b"].Must, []string{"ana"}) {
		t.Errorf("%+v, %v", c.Routes, err)
	}
	for _, bad := range []string{"policy: [{tools: {a: b}}]", "slack: {bot_token: [a]}", "slack: {bot_token: {env: [a]}}"} {
		if _, err := config.Parse([]byte(bad), ""); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestAccount checks which platforms have tokens, and a person's account on
// each.
func TestAccount(t *testing.T) {
	t.Parallel()
	p := config.Person{Accounts: map[string]string{"slack": "U1", "discord": "2", "telegram": "3"}}
	for platform, want := range map[string]string{"slack": "U1", "discord": "2", "telegram": "3", "fax": ""} {
		if got := p.Account(platform); got != want {
			t.Errorf("on %s: %q", platform, got)
		}
	}
	c, err := config.Parse([]byte(whole), "")
	if err != nil || !slices.Equal(c.Platforms(), []string{"slack", "telegram"}) {
		t.Errorf("%q, %v", c.Platforms(), err)
	}
	if got, err := config.ParseTarget("telegram:-100/7"); err != nil || got != (config.Target{Platform: "telegram", Channel: "-100", Thread: "7"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if config.HashToken("") != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Error("a token's hash is not its SHA-256")
	}
}
