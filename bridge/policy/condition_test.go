package policy

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestConditions checks that each condition of a rule has a row, which takes the
// patterns of that condition.
func TestConditions(t *testing.T) {
	t.Parallel()
	special := []string{"name", "command", "options", "reads", "input"} // those before then are conditions
	for n := range reflect.TypeFor[Rule]().NumField() {
		key := reflect.TypeFor[Rule]().Field(n).Tag.Get("yaml")
		if key == "then" {
			break
		}
		var r Rule
		row := slices.IndexFunc(conditions, func(c condition) bool { return c.key == key })
		switch {
		case slices.Contains(special, key):
		case row < 0:
			t.Errorf("the condition %s has no row", key)
		default:
			reflect.ValueOf(&r).Elem().Field(n).Set(reflect.ValueOf([]string{"x"}))
			if got := conditions[row].patterns(&r); !slices.Equal(got, []string{"x"}) {
				t.Errorf("the row %s has the patterns %q", key, got)
			}
		}
	}
}

// TestValues checks each condition with requests that have no value, one, several,
// and one in another case: an allow rule needs a value, and covers only the exact
// ones; one that is similar is enough for the other rules.
func TestValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key          string
		rule         Rule
		act          bridge.Act
		allows, asks bool
	}{
		{"agents", Rule{Agents: []string{"c?"}}, bridge.Act{Agent: "ci"}, true, true},
		{"agents", Rule{Agents: []string{"ci"}}, bridge.Act{Agent: "CI"}, false, false},
		{"agents", Rule{Agents: []string{"ci"}}, bridge.Act{}, false, false},
		{"tools", Rule{Tools: []string{"deploy"}}, bridge.Act{Tool: "deploy"}, true, true},
		{"tools", Rule{Tools: []string{"deploy"}}, bridge.Act{Tool: "Deploy"}, false, true},
		{"where", Rule{Where: []string{"/srv"}}, bridge.Act{Where: "/srv"}, true, true},
		{"where", Rule{Where: []string{"/srv"}}, bridge.Act{Where: "/SRV"}, false, true},
		{"where", Rule{Where: []string{"/srv"}}, bridge.Act{Where: "/srv/"}, false, true},
		{"where", Rule{Where: []string{"*"}}, bridge.Act{}, false, true},
		{"path", Rule{Path: []string{"/srv/*"}}, bridge.Act{Input: json.RawMessage(`{"file_path":"/srv/a"}`)}, true, true},
		{"path", Rule{Path: []string{"/srv/*"}}, bridge.Act{Input: json.RawMessage(`{"file_path":"/SRV/a"}`)}, false, true},
		{"path", Rule{Path: []string{"/srv/*"}}, bridge.Act{Input: json.RawMessage(`{"files":["/srv/a","/etc/a"]}`)}, false, true},
		{"path", Rule{Path: []string{"*"}}, bridge.Act{Input: json.RawMessage(`{}`)}, false, false},
		{"path", Rule{Path: []string{"/srv/*"}, Input: map[string]string{"file_path": "*"}}, bridge.Act{Input: json.RawMessage(`{"file_path":"/etc/a"}`)}, false, false},
		{"input", Rule{Input: map[string]string{"env": "prod"}}, bridge.Act{Input: json.RawMessage(`{"env":"prod"}`)}, true, true},
		{"input", Rule{Input: map[string]string{"env": "prod"}}, bridge.Act{Input: json.RawMessage(`{"env":"Prod"}`)}, false, true},
		{"input", Rule{Input: map[string]string{"env": "prod"}}, bridge.Act{Input: json.RawMessage(`{"env":["prod","test"]}`)}, false, true},
		{"input", Rule{Input: map[string]string{"env": "*"}}, bridge.Act{Input: json.RawMessage(`{}`)}, false, false},
	} {
		for then, want := range map[bridge.Effect]bool{bridge.EffectAllow: c.allows, bridge.EffectDeny: c.asks, bridge.EffectAsk: c.asks} {
			r := c.rule
			r.Name, r.Then = "r", then
			if then == bridge.EffectAllow && len(r.Tools)+len(r.Path)+len(r.Input) == 0 { // not enough for an allow rule
				r.Tools = []string{"*"}
			}
			if got := build(t, []Rule{r}).Judge(c.act); (got.Rule == "r") != want {
				t.Errorf("%s of %+v: %s matches %t, want %t", c.key, c.act, then, !want, want)
			}
		}
	}
}

// TestGrantKey checks that the key of a grant by a rule changes with what the rule
// and its risk level set, and with nothing else: a grant that people gave ends if it
// changes, so a new condition must not change it.
func TestGrantKey(t *testing.T) {
	t.Parallel()
	rule := Rule{Name: "push", Tools: []string{"Bash"}, Command: []string{"git push *"}, Options: []string{}, Then: bridge.EffectAsk, Risk: "high", GrantFor: bridge.Duration(3600e9), Grant: "rule"}
	key := func(r Rule, level Risk) string {
		return build(t, []Rule{r}, Risk{Name: "low"}, level).rules[0].key
	}
	first := key(rule, Risk{Name: "high", Quorum: 2})
	if want := "1ae2ad8f855f6fd093ec12a42b47350456b07f4717e545d270ace2bc393ae0a8"; first != want {
		t.Errorf("the key is %s, want %s", first, want)
	}
	seen := map[string]bool{first: true, key(rule, Risk{Name: "high"}): true}
	for _, change := range []func(*Rule){
		func(r *Rule) { r.Name = "x" }, func(r *Rule) { r.Agents = []string{"ci"} }, func(r *Rule) { r.Tools = nil }, func(r *Rule) { r.Options = nil },
		func(r *Rule) { r.Command = []string{"git *"} }, func(r *Rule) { r.Risk = "low" }, func(r *Rule) { r.GrantFor = 0 }, func(r *Rule) { r.Quorum = 1 },
	} {
		r := rule
		change(&r)
		seen[key(r, Risk{Name: "high", Quorum: 2})] = true
	}
	if len(seen) != 10 {
		t.Errorf("only %d of 10 rules have a key of their own", len(seen))
	}
}
