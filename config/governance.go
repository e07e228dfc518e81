package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Risk is a named level.
type Risk struct {
	Name string `yaml:"name"`
	// Quorum is how many people have to approve at this level; 0: as the route
	// says.
	Quorum int `yaml:"quorum"`
	// Confirm is what has to be typed to approve; empty: a press is enough.
	Confirm string `yaml:"confirm"`
}

// Rule is one rule of the policy. Every condition that is set has to hold; of
// several patterns one. Patterns are globs, or regular expressions between
// slashes.
type Rule struct {
	Name    string            `yaml:"name"`
	Agents  Words             `yaml:"agents"`
	Tools   Words             `yaml:"tools"`
	Command Words             `yaml:"command"` // each command of a shell line
	Path    Words             `yaml:"path"`    // the file that the input names
	Input   map[string]string `yaml:"input"`   // by field, as in env.name
	Where   Words             `yaml:"where"`   // directory or place

	Then   string `yaml:"then"` // allow, ask or deny
	Reason string `yaml:"reason"`

	// What an ask changes.
	Route     string   `yaml:"route"`
	Risk      string   `yaml:"risk"`
	Scopes    Words    `yaml:"scopes"`
	Timeout   Duration `yaml:"timeout"`
	OnTimeout string   `yaml:"on_timeout"`
	Quorum    int      `yaml:"quorum"`
	Confirm   string   `yaml:"confirm"`
	Redact    Words    `yaml:"redact"` // fields of the input that people do not see
	GrantFor  Duration `yaml:"grant_for"`
	// Grant says what a standing yes covers: input (the default) or rule.
	Grant string `yaml:"grant"`
}

// Words is a list of texts; a single one may stand alone.
type Words []string

// UnmarshalYAML reads a text or a list of them.
func (w *Words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = Words{n.Value}
		return nil
	}
	var list []string
	if err := n.Decode(&list); err != nil {
		return fmt.Errorf("line %d: is neither a text nor a list of texts", n.Line)
	}
	*w = list
	return nil
}

// maxQuorum bounds how many people one thing may need.
const maxQuorum = 10

func (c Config) checkPolicy(bad func(path, format string, args ...any)) {
	seen := map[string]bool{}
	for n, r := range c.Risks {
		path := fmt.Sprintf("risks[%d]", n)
		if r.Name == "" || seen[r.Name] {
			bad(path+".name", "is empty or there twice")
		}
		seen[r.Name] = true
		if r.Quorum < 0 || r.Quorum > maxQuorum {
			bad(path+".quorum", "%d is not 0 to %d", r.Quorum, maxQuorum)
		}
	}
	for n, r := range c.Policy {
		path := fmt.Sprintf("policy[%d]", n)
		if _, ok := c.Routes[r.Route]; r.Route != "" && !ok {
			bad(path+".route", "there is no route %q", r.Route)
		}
		if r.Quorum < 0 || r.Quorum > maxQuorum {
			bad(path+".quorum", "%d is not 0 to %d", r.Quorum, maxQuorum)
		}
		if !slices.Contains([]string{"", "input", "rule"}, r.Grant) {
			bad(path+".grant", "%q is not input or rule", r.Grant)
		}
		if r.OnTimeout == "escalate" && r.Route != "" && c.Routes[r.Route].EscalateTo == "" {
			bad(path+".on_timeout", "route %q does not escalate", r.Route)
		}
	}
}
