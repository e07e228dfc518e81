package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge"
)

var levels = []Risk{{Name: "low"}, {Name: "high", Quorum: 2}, {Name: "critical", Quorum: 3, Confirm: "yes"}}

func drawRules(t *rapid.T) []Rule {
	var rules []Rule
	for n := range rapid.IntRange(1, 6).Draw(t, "rules") {
		r := Rule{Name: fmt.Sprint("r", n), Command: []string{rapid.SampledFrom([]string{"a *", "b *", "c x", "a x *", "d ?", "/(a|b)( [a-z]+)*/"}).Draw(t, "pattern")}}
		r.Then = rapid.SampledFrom(severity).Draw(t, "then")
		if r.Then == bridge.EffectAsk {
			r.Grant = rapid.SampledFrom([]string{"", "rule"}).Draw(t, "grant")
			r.Risk = rapid.SampledFrom([]string{"", "low", "high", "critical"}).Draw(t, "risk")
			r.Quorum = rapid.IntRange(0, 4).Draw(t, "quorum")
			r.Confirm = rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "confirm")
			r.Timeout = bridge.Duration(rapid.IntRange(0, 3).Draw(t, "timeout"))
			r.GrantFor = bridge.Duration(rapid.IntRange(0, 3).Draw(t, "for"))
			r.OnTimeout = rapid.SampledFrom([]bridge.OnTimeout{"", "deny", "expire", "escalate"}).Draw(t, "on")
			r.Scopes = rapid.SampledFrom([][]bridge.Scope{nil, {"once"}, {"once", "session"}, {"always"}}).Draw(t, "scopes")
			r.Redact = rapid.SampledFrom([][]string{nil, {"a"}, {"b"}}).Draw(t, "redact")
			r.Route = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "routes")
		}
		rules = append(rules, r)
	}
	return rules
}

// TestJoinedProperty checks that the ruling on a line satisfies the ruling on
// each of its commands.
func TestJoinedProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, errs := New(drawRules(t), levels)
		if len(errs) > 0 {
			t.Skip(errs)
		}
		judge := func(s string) bridge.Ruling {
			return p.Judge(act("Bash", "/repo", map[string]string{"command": s}))
		}
		commands := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a x", "a 'x y'", "b", "c x", "c", "d 1", "e", "d 'x y'"}), 1, 4).Draw(t, "commands")
		joint := rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", "&&"}).Draw(t, "joint")
		text := strings.Join(commands, joint)
		if rapid.Bool().Draw(t, "not plain") {
			text += rapid.SampledFrom([]string{" > f", " $X", " &", " # x"}).Draw(t, "tail")
		}
		whole := judge(text)
		if _, err := plain(text); err != nil && (whole.Effect == bridge.EffectAllow || whole.Grants != nil) {
			t.Fatalf("%q is not plain: %+v", text, whole)
		}
		for _, c := range commands {
			if why := milder(p, whole, judge(c)); why != "" {
				t.Fatalf("%q is milder than %q: %s\n%+v\n%+v", text, c, why, whole, judge(c))
			}
		}
	})
}

// milder returns the first setting of a ruling that does not satisfy the ruling
// on a part.
func milder(p *Policy, whole, part bridge.Ruling) string {
	if slices.Index(severity, whole.Effect) < slices.Index(severity, part.Effect) {
		return "effect"
	}
	if whole.Effect != bridge.EffectAsk || part.Effect != bridge.EffectAsk {
		return ""
	}
	routes := part.Routes
	if routes == nil && whole.Routes != nil {
		routes = []string{""}
	}
	for _, route := range routes {
		if !slices.Contains(whole.Routes, route) {
			return "route " + route
		}
	}
	for _, s := range whole.Scopes {
		if part.Scopes != nil && s != bridge.ScopeOnce && !slices.Contains(part.Scopes, s) {
			return "scope " + string(s)
		}
	}
	for _, f := range part.Redact {
		if !slices.Contains(whole.Redact, f) {
			return "redact " + f
		}
	}
	longer := func(whole, part bridge.Duration) bool { return part != 0 && (whole == 0 || whole > part) }
	switch {
	case p.rank(whole.Risk) < p.rank(part.Risk):
		return "risk"
	case whole.Quorum < part.Quorum:
		return "quorum"
	case !strings.Contains(whole.Confirm, part.Confirm):
		return "confirm"
	case longer(whole.Timeout, part.Timeout) || longer(whole.GrantFor, part.GrantFor):
		return "time"
	case part.OnTimeout != "" && slices.Index(timeouts, whole.OnTimeout) > slices.Index(timeouts, part.OnTimeout), part.OnTimeout != "" && whole.OnTimeout == "":
		return "on_timeout"
	case part.Scopes != nil && whole.Scopes == nil:
		return "scopes"
	case len(whole.Grants) > 0 && len(part.Grants) == 0:
		return "grants"
	}
	for _, g := range part.Grants {
		if len(whole.Grants) > 0 && !slices.Contains(whole.Grants, g) {
			return "a grant of another rule"
		}
	}
	return ""
}

// TestAllowedProperty checks, for generated lines of all kinds, that only plain
// lines are allowed, and only if an allow rule names each of their commands.
func TestAllowedProperty(t *testing.T) {
	t.Parallel()
	p := broad(t)
	names := set("ls echo cat cd kill true find git grep")
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hostilePieces), rapid.SampledFrom(knownHostile), rapid.SampledFrom([]string{"ls ", "git status", "cat ", " ", "&&"}), rapid.String()), 1, 6).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		r := p.Judge(act("Bash", "/repo", map[string]string{"command": text}))
		if r.Effect != bridge.EffectAllow {
			return
		}
		calls, err := plain(text)
		if err != nil {
			t.Fatalf("%q is allowed but not plain: %v", text, err)
		}
		for _, c := range calls {
			if !names[c.words[0]] {
				t.Fatalf("%q is allowed with %q", text, c.words)
			}
		}
	})
}
