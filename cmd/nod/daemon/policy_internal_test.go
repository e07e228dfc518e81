package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
)

// TestRuleWords checks that nod accepts each word that the schema of the config
// allows in a rule.
func TestRuleWords(t *testing.T) {
	t.Parallel()
	type setting struct{ Enum []string }
	var schema struct {
		Properties struct {
			Policy struct {
				Items struct{ Properties map[string]setting }
			}
		}
	}
	raw, err := os.ReadFile("../../../deploy/nod.schema.json")
	if err == nil {
		err = json.Unmarshal(raw, &schema)
	}
	rule := schema.Properties.Policy.Items.Properties
	if err != nil || len(rule["on_timeout"].Enum) == 0 {
		t.Fatal(rule, err)
	}
	for name, s := range rule {
		for _, word := range s.Enum {
			text := fmt.Sprintf("policy: [{name: n, tools: bash, then: ask, %s: %s}]\n", name, word)
			if name == "then" {
				text = "policy: [{name: n, tools: bash, then: " + word + "}]\n"
			}
			c, err := config.Parse([]byte(text), "")
			if err == nil {
				_, err = Policy(c)
			}
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

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
