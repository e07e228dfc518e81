package daemon

import (
	"testing"

	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
)

// TestConfigVersion checks that a config has one version, however often it is
// read, and that whatever an evaluation depends on changes it.
func TestConfigVersion(t *testing.T) {
	t.Parallel()
	const text = `
slack: {bot_token: xoxb-1, app_token: xapp-1}
people: {ana: {slack: U1}, bo: {slack: U2}}
groups: {all: {people: [ana, bo]}}
routes: {default: {to: ["slack/C1"], responders: [ana]}}
agents: {ci: {token: token-of-ci}, cd: {token: token-of-cd}}
redact: {patterns: ["x+"]}
policy: [{tools: bash, then: ask}]
`
	version := func(change func(*config.Config), nod, key string) string {
		t.Helper()
		c, err := config.Parse([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&c)
		}
		v, err := configVersion(c, nod, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := version(nil, "1", "k")
	for range 20 {
		if v := version(nil, "1", "k"); v != first {
			t.Fatalf("the same config has the versions %s and %s", first, v)
		}
	}
	seen := map[string]string{first: "nothing", version(nil, "2", "k"): "nod", version(nil, "1", "l"): "the key"}
	if len(seen) != 3 {
		t.Fatalf("nod or the key changes nothing: %v", seen)
	}
	for what, change := range map[string]func(*config.Config){
		"a responder": func(c *config.Config) {
			r := c.Routes["default"]
			r.Responders = append(r.Responders, "bo")
			c.Routes["default"] = r
		},
		"an account": func(c *config.Config) {
			c.People["ana"].Accounts["slack"] = "U3"
		},
		"a group":      func(c *config.Config) { delete(c.Groups, "all") },
		"an agent":     func(c *config.Config) { delete(c.Agents, "cd") },
		"a pattern":    func(c *config.Config) { c.Redact.Patterns = nil },
		"a rule":       func(c *config.Config) { c.Policy[0].Then = "deny" },
		"a risk level": func(c *config.Config) { c.Risks = append(c.Risks, policy.Risk{Name: "high"}) },
		"a secret": func(c *config.Config) {
			a := c.Agents["ci"]
			a.Token = config.NewSecret("another")
			c.Agents["ci"] = a
		},
	} {
		v := version(change, "1", "k")
		if other, ok := seen[v]; ok {
			t.Errorf("%s: the version is that of %s", what, other)
		}
		seen[v] = what
	}
}
