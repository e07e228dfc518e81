package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"go.yaml.in/yaml/v3"
)

// StepUp is the proof that an approval requires in addition to a click. In
// YAML it can also be the method alone.
type StepUp struct {
	// Method is the proof: passkey. It is required.
	//
	// Example: passkey
	Method string `yaml:"method"`
	// Approvals is the number of approvals that need the proof, at most 10. Zero
	// means all of them.
	//
	// Example: 1
	Approvals int `yaml:"approvals"`
	// Fallback is a weaker proof that people can give instead: totp, a one-time
	// code. Cards and receipts say that it is weaker. If empty, there is none.
	//
	// Example: totp
	Fallback string `yaml:"fallback"`
}

// UnmarshalYAML decodes a method or a mapping.
func (s *StepUp) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&s.Method)
	}
	for k := 0; k+1 < len(n.Content); k += 2 {
		if key := n.Content[k].Value; n.Kind == yaml.MappingNode && !slices.Contains([]string{"method", "approvals", "fallback"}, key) {
			unknown := fmt.Sprintf("line %d: field %s not found in type config.StepUp", n.Content[k].Line, key)
			return &yaml.TypeError{Errors: []string{unknown}}
		}
	}
	type plain StepUp
	return n.Decode((*plain)(s))
}

// checkStepUps checks every required proof, and that the console can ask for
// it.
func (c Config) checkStepUps(bad func(path, format string, args ...any)) {
	first := ""
	check := func(path string, s *StepUp) {
		if s == nil {
			return
		}
		if first == "" {
			first = path
		}
		s.check(func(key, format string, args ...any) { bad(path+key, format, args...) })
	}
	for n, r := range c.Risks {
		check(fmt.Sprintf("risks[%d].step_up", n), r.StepUp)
	}
	for n, r := range c.Policy {
		check(fmt.Sprintf("policy[%d].step_up", n), r.StepUp)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		check("routes."+name+".step_up", c.Routes[name].StepUp)
	}
	switch {
	case first == "":
	case !c.Console.Enabled:
		bad(first, "requires the web console, where people use their passkey; set console.enabled to true")
	case !passkeyURL(c.Console.URL):
		bad(first, "requires console.url, the https URL of nod in the browsers of people; "+
			"set it, such as https://nod.example.com, or http://localhost:8787 on your own computer")
	}
}

func (s *StepUp) check(bad func(key, format string, args ...any)) {
	if s.Method != "passkey" {
		bad(".method", "unknown method %q (passkey)", s.Method)
	}
	if s.Approvals < 0 || s.Approvals > maxQuorum {
		bad(".approvals", "%d is out of range (0 to %d)", s.Approvals, maxQuorum)
	}
	if s.Fallback != "" && s.Fallback != "totp" {
		bad(".fallback", "unknown fallback %q (totp)", s.Fallback)
	}
}

// passkeyURL reports whether browsers offer passkeys at a URL. They require
// https, except for localhost.
func passkeyURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && u.Hostname() == "localhost"
}
