package config

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

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

// Rule is one rule of the policy. Every condition that is set must hold; one
// with several patterns holds if one of them does. Patterns are globs, or
// regular expressions between slashes.
type Rule struct {
	Name   string `yaml:"name"`
	Agents Words  `yaml:"agents"`
	Tools  Words  `yaml:"tools"`
	// Command is matched word by word against each command of a shell line. A
	// last * stands for any words that follow.
	Command Words `yaml:"command"`
	// Options are the only words beginning with - that then: allow or grant:
	// rule covers where a wildcard of command matches them. If left out, any
	// option is covered; an empty list means none.
	Options Words             `yaml:"options"`
	Path    Words             `yaml:"path"`  // every file that the input names
	Input   map[string]string `yaml:"input"` // by field, as in env.name
	Where   Words             `yaml:"where"` // directory or other location

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
	// Grant states what a grant covers: input, which is the default, or rule.
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

// HashPrefix begins the hash of a token.
const HashPrefix = "sha256:"

// NewToken returns a random token.
func NewToken() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return "nod_" + base64.RawURLEncoding.EncodeToString(raw)
}

// NewKey returns n random bytes in hex.
func NewKey(n int) string {
	raw := make([]byte, n)
	rand.Read(raw)
	return hex.EncodeToString(raw)
}

// HashToken is what the config holds of a token instead of it. Tokens are
// random, so that one round of SHA-256 is enough.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return HashPrefix + hex.EncodeToString(sum[:])
}

func validHash(s string) bool {
	digits, ok := strings.CutPrefix(s, HashPrefix)
	raw, err := hex.DecodeString(digits)
	return ok && err == nil && len(raw) == sha256.Size
}

func (c Config) checkAgent(bad func(path, format string, args ...any), name string) {
	a, path := c.Agents[name], "agents."+name
	for n, h := range a.TokenHashes {
		if !validHash(h) {
			bad(fmt.Sprintf("%s.token_hashes[%d]", path, n), "is not sha256: and 64 hex digits; make one with: nod token")
		}
	}
	for n, k := range a.Kinds {
		if !slices.Contains([]string{"ask", "approval", "notice"}, k) {
			bad(fmt.Sprintf("%s.kinds[%d]", path, n), "%q is not ask, approval or notice", k)
		}
	}
	for n, s := range a.Scopes {
		if !slices.Contains([]string{"once", "session", "always"}, s) {
			bad(fmt.Sprintf("%s.scopes[%d]", path, n), "%q is not once, session or always", s)
		}
	}
	for field, n := range map[string]int{"per_minute": a.PerMinute, "max_pending": a.MaxPending, "max_bytes": a.MaxBytes} {
		if n < 0 {
			bad(path+"."+field, "%d is less than 0", n)
		}
	}
}

// Group is who belongs together; whoever is in one of its parts is in it.
type Group struct {
	People Words `yaml:"people"`
	// Slack is a user group's id, Discord GUILD/ROLE, Telegram a chat whose
	// administrators are meant.
	Slack    string `yaml:"slack"`
	Discord  string `yaml:"discord"`
	Telegram string `yaml:"telegram"`
	OnCall   string `yaml:"oncall"` // a schedule: who is on call is in it
}

// Identity says how accounts are recognized that the config does not name.
type Identity struct {
	// Email trusts the confirmed address that Slack has of an account.
	Email bool `yaml:"email"`
	// Linking offers unknown accounts a code that their person enters where
	// nod knows them.
	Linking bool `yaml:"linking"`
	// Remembered is how long a service's word on groups counts; default 20s.
	Remembered Duration `yaml:"remembered"`
}

func (c Config) checkGroups(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.Groups)) {
		g, path := c.Groups[name], "groups."+name
		if len(g.People) == 0 && g.Slack == "" && g.Discord == "" && g.Telegram == "" && g.OnCall == "" {
			bad(path, "nobody can be in it")
		}
		for n, who := range g.People {
			if _, ok := c.People[who]; !ok {
				bad(fmt.Sprintf("%s.people[%d]", path, n), "there is no person %q", who)
			}
		}
		if _, ok := c.OnCall[g.OnCall]; g.OnCall != "" && !ok {
			bad(path+".oncall", "there is no schedule %q", g.OnCall)
		}
		if guild, role, ok := strings.Cut(g.Discord, "/"); g.Discord != "" && (!ok || guild == "" || role == "") {
			bad(path+".discord", "%q is not GUILD/ROLE", g.Discord)
		}
	}
}

// Redact says what is hidden besides the known shapes of credentials.
type Redact struct {
	Patterns Words `yaml:"patterns"` // RE2; all that matches is hidden
}

// Secrets are the values of every secret of the config.
func (c Config) Secrets() []string {
	var out []string
	collect(reflect.ValueOf(c), &out)
	return out
}

func collect(v reflect.Value, out *[]string) {
	switch {
	case v.Type() == reflect.TypeFor[Secret]():
		if s := v.Interface().(Secret); s.Set() {
			*out = append(*out, s.Value())
			for part := range strings.SplitSeq(s.Value(), ",") {
				*out = append(*out, strings.TrimSpace(part))
			}
		}
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			collect(v.Elem(), out)
		}
	case v.Kind() == reflect.Struct:
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				collect(v.Field(n), out)
			}
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			collect(v.MapIndex(k), out)
		}
	case v.Kind() == reflect.Slice:
		for n := range v.Len() {
			collect(v.Index(n), out)
		}
	}
}

// checkNames checks a list of people and @groups.
func (c Config) checkNames(bad func(path, format string, args ...any), path string, names []string) {
	for n, who := range names {
		group, isGroup := strings.CutPrefix(who, "@")
		if _, ok := c.Groups[group]; isGroup && !ok {
			bad(fmt.Sprintf("%s[%d]", path, n), "there is no group %q", group)
		}
		if _, ok := c.People[who]; !isGroup && !ok {
			bad(fmt.Sprintf("%s[%d]", path, n), "there is no person %q", who)
		}
	}
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
