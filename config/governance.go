package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/platforms/kinds"
)

// HashPrefix is the prefix of the hash of a token.
const HashPrefix = "sha256:"

// HashToken returns the hash of a token, which the configuration can contain
// instead of the token. Tokens are random, so one round of SHA-256 is enough.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return HashPrefix + hex.EncodeToString(sum[:])
}

// TokenHashes returns the hashes of the tokens in a secret. The secret holds
// tokens or their hashes, separated by commas.
func TokenHashes(s Secret) []string {
	var out []string
	for _, t := range tokensIn(s) {
		if strings.HasPrefix(t, HashPrefix) {
			out = append(out, strings.ToLower(t))
		} else {
			out = append(out, HashToken(t))
		}
	}
	return out
}

func tokensIn(s Secret) []string {
	if !s.Set() {
		return nil
	}
	out := strings.Split(s.Value(), ",")
	for n, t := range out {
		out[n] = strings.TrimSpace(t)
	}
	return out
}

func validHash(s string) bool {
	digits, ok := strings.CutPrefix(s, HashPrefix)
	raw, err := hex.DecodeString(digits)
	return ok && err == nil && len(raw) == sha256.Size
}

func (c Config) checkGroups(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.Groups)) {
		g, path := c.Groups[name], "groups."+name
		if len(g.People) == 0 && len(g.Native) == 0 && g.OnCall == "" {
			bad(path, "the group has no members; set people, %s or oncall", strings.Join(kinds.Names(), ", "))
		}
	}
}

// checkNames checks that the people and @groups in a list exist.
func (c Config) checkNames(bad func(path, format string, args ...any), path string, names []string) {
	for n, who := range names {
		if slices.Contains(names[:n], who) {
			bad(fmt.Sprintf("%s[%d]", path, n), "%s is listed twice, and counts once; remove it, or name someone else", who)
		}
		group, isGroup := strings.CutPrefix(who, "@")
		if _, ok := c.Groups[group]; isGroup && !ok {
			bad(fmt.Sprintf("%s[%d]", path, n), "unknown group %q; add it under groups", group)
		}
		if _, ok := c.People[who]; isGroup || ok {
			continue
		}
		if _, ok := c.Groups[who]; ok {
			bad(fmt.Sprintf("%s[%d]", path, n), "unknown person %q; for the group, write %q", who, "@"+who)
			continue
		}
		bad(fmt.Sprintf("%s[%d]", path, n), "unknown person %q; add it under people", who)
	}
}

func (c Config) checkPolicy(bad func(path, format string, args ...any)) {
	seen := map[string]bool{}
	for n, r := range c.Risks {
		path := fmt.Sprintf("risks[%d]", n)
		switch {
		case r.Name == "":
			bad(path+".name", "required; set the name of the risk level")
		case seen[r.Name]:
			bad(path+".name", "duplicate name %q; give each risk level its own name", r.Name)
		}
		seen[r.Name] = true
	}
	for n, r := range c.Policy {
		path := fmt.Sprintf("policy[%d]", n)
		if r.OnTimeout == "escalate" && r.Route != "" && !c.Routes[r.Route].asksMore() {
			bad(path+".on_timeout", "no step of route %q asks more people; add one with ask or route under routes.%[1]s.escalation", r.Route)
		}
	}
}
