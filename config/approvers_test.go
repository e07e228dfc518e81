package config_test

import (
	"slices"
	"strings"
	"testing"
)

// TestApprovers checks that a config is refused if it has approvals that no one could
// give, or names that people could confuse.
func TestApprovers(t *testing.T) {
	t.Parallel()
	const head = `
slack: {bot_token: xoxb-secret-1, app_token: xapp-secret-2}
people: {ana: {slack: U1}, bo: {slack: U2}, cy: {slack: U3}}
groups: {closed: {people: [ana, bo]}, open: {slack: S1}}
`
	const agent = "agents: {ci: {token: secret-0123456789abcdef, owners: [ana]}}\n"
	route := func(more string) string { return head + "routes: {default: {to: [\"slack:C1\"], " + more + "}}\n" }
	for name, x := range map[string]struct{ text, want string }{
		"two of two":             {route("responders: [ana, bo], quorum: 2"), ""},
		"three of two":           {route("responders: [ana, bo], quorum: 3"), "routes.default.quorum"},
		"three of a group":       {route(`responders: ["@closed"], quorum: 3`), "routes.default.quorum"},
		"three of an open one":   {route(`responders: ["@open"], quorum: 3`), ""},
		"three after a step":     {route(`responders: [ana, bo], quorum: 3, escalation: [{after: 1m, ask: [cy]}]`), ""},
		"a required stranger":    {route("responders: [ana, bo], must: [cy]"), "routes.default.must[0]"},
		"a required group":       {route(`responders: [cy], must: ["@closed"]`), "routes.default.must[0]"},
		"one required twice":     {route("responders: [ana, bo], must: [ana, ana]"), "routes.default.must[1]"},
		"a group twice":          {route(`responders: ["@open", ana, "@open"]`), "routes.default.responders[2]"},
		"a required one":         {route(`responders: ["@closed"], must: [bo]`), ""},
		"a rule that needs more": {route("responders: [ana, bo]") + "policy: [{tools: x, then: ask, route: default, quorum: 3}]\n", "policy[0].quorum"},
		"a risk that needs more": {route("responders: [ana, bo]") + "risks: [{name: high, quorum: 3}]\npolicy: [{tools: x, then: ask, route: default, risk: high}]\n", "policy[0].quorum"},
		"only the owner":         {route("responders: [ana]") + agent, "agents.ci.owners"},
		"the owner, allowed":     {route("responders: [ana], allow_self: true") + agent, ""},
		"the owner and another":  {route("responders: [ana, bo]") + agent, ""},
		"a name in two cases":    {"people: {ana: {}, Ana: {}}", "people.ana"},
		"a name in two forms":    {`people: {"jos\u00e9": {}, "jose\u0301": {}}`, "people.jos\u00e9"},
		"a name of another":      {"people: {ana: {}, bo: {name: ANA}}", "people.bo.name"},
		"an own display name":    {"people: {ana: {name: Ana}}", ""},
		"a comma":                {`people: {"ana, bo": {}}`, "people.ana, bo"},
		"a mark":                 {`people: {"@ana": {}}`, "people.@ana"},
		"a direction mark":       {`people: {"ana\u202e": {}}`, "people.ana\u202e"},
		"groups in two cases":    {"people: {ana: {}}\ngroups: {sre: {people: [ana]}, SRE: {people: [ana]}}", "groups.sre"},
	} {
		got := problems(t, strings.Replace(x.text, "\\u202e", "\u202e", 1))
		if x.want == "" && len(got) > 0 || x.want != "" && !slices.Contains(got, x.want) {
			t.Errorf("%s: the problems are %q; want %q", name, got, x.want)
		}
	}
}
