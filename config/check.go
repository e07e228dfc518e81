package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// minToken is the minimum length of an API token. It makes guessing hopeless.
const minToken = 16

// Check reports every problem with its path, joined into one error.
func (c Config) Check() error {
	var errs []error
	bad := func(path, format string, args ...any) { errs = append(errs, fmt.Errorf(path+": "+format, args...)) }
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, c.LogLevel) {
		bad("log_level", "unknown level %q (debug, info, warn or error)", c.LogLevel)
	}
	if c.Slack.BotToken.Set() && c.Slack.AppToken.Set() == c.Slack.SigningSecret.Set() {
		bad("slack", "set either app_token for Socket Mode or signing_secret for HTTP mode")
	}
	if (c.Telegram.WebhookURL != "") != c.Telegram.WebhookSecret.Set() {
		bad("telegram", "webhook_url and webhook_secret require each other; set both or neither")
	}
	if c.Traces.Endpoint != "" && !isWeb(c.Traces.Endpoint) {
		bad("traces.endpoint", "not an http or https URL; use one such as http://127.0.0.1:4318/v1/traces")
	}
	if c.Traces.Sample < 0 || c.Traces.Sample > 1 {
		bad("traces.sample", "%g is out of range (0 to 1)", c.Traces.Sample)
	}
	c.checkConsole(bad)
	if c.MaxConnections < 0 {
		bad("max_connections", "must not be negative")
	}
	switch n := c.Redis.WaitReplicas; {
	case n < 0:
		bad("redis.wait_replicas", "must not be negative")
	case n > 0 && len(c.Redis.Addrs) > 1 && c.Redis.MasterName == "":
		bad("redis.wait_replicas", "not supported with a Cluster; set min-replicas-to-write on its nodes instead")
	}
	c.checkRoutes(bad)
	c.checkCallers(bad)
	c.checkAccounts(bad)
	c.checkHashes(bad)
	c.checkWebhooks(bad)
	c.checkPolicy(bad)
	c.checkGroups(bad)
	c.checkOnCall(bad)
	return errors.Join(errs...)
}

// checkCallers checks the tokens and limits of agents, people and metrics.
func (c Config) checkCallers(bad func(path, format string, args ...any)) {
	tokens := tokens{}
	if c.Metrics.Token.Set() {
		tokens.check(bad, "metrics.token", c.Metrics.Token)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a, path := c.Agents[name], "agents."+name
		c.checkAgent(bad, name)
		if a.Token.Set() || len(a.TokenHashes) == 0 {
			tokens.check(bad, path+".token", a.Token)
		}
		c.checkPeople(bad, path+".owners", a.Owners)
		for n, r := range a.Routes {
			if _, ok := c.Routes[r]; !ok {
				bad(fmt.Sprintf("%s.routes[%d]", path, n), "unknown route %q", r)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		p, path := c.People[name], "people."+name
		if p.Token.Set() {
			tokens.check(bad, path+".token", p.Token)
		}
		checkTokenHashes(bad, path, p.TokenHashes)
		if p.Auditor && !p.Token.Set() && len(p.TokenHashes) == 0 {
			bad(path+".auditor", "requires a token; set token or token_hashes of the person")
		}
		if p.Telegram != "" && strings.Trim(p.Telegram, "0123456789") != "" {
			bad(path+".telegram", "must be a numeric user ID")
		}
	}
}

// tokens are the tokens of the callers checked so far, with their paths.
type tokens map[string]string

func (t tokens) check(bad func(path, format string, args ...any), path string, s Secret) {
	switch n := len(s.Value()); {
	case n == 0:
		bad(path, "required; run nod token to generate one, and set it here or in %s", Variable(strings.Split(path, ".")...))
		return
	case n < minToken:
		bad(path, "must have at least %d characters", minToken)
	}
	if other := t[s.Value()]; other != "" {
		bad(path, "same token as %s; every caller needs a token of its own", other)
	}
	t[s.Value()] = path
}

// checkAccounts rejects an account or an email address that two people share:
// its owner would count twice in a quorum.
func (c Config) checkAccounts(bad func(path, format string, args ...any)) {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		p := c.People[name]
		for _, f := range []struct{ key, value string }{
			{PlatformSlack, strings.ToLower(p.Slack)}, {PlatformDiscord, p.Discord}, {PlatformTelegram, strings.TrimLeft(p.Telegram, "0")}, {"email", strings.ToLower(p.Email)},
		} {
			if f.value == "" {
				continue
			}
			if other, ok := seen[f.key+" "+f.value]; ok {
				bad("people."+name+"."+f.key, "also used by people.%s; every person needs their own", other)
			}
			seen[f.key+" "+f.value] = name
		}
	}
}

// checkHashes rejects a token that two callers share, even if the configuration
// contains only its hash.
func (c Config) checkHashes(bad func(path, format string, args ...any)) {
	seen := map[string]string{}
	add := func(path string, token Secret, hashes []string) {
		for n, h := range hashes {
			h, at := strings.ToLower(h), fmt.Sprintf("%s.token_hashes[%d]", path, n)
			if other, ok := seen[h]; ok {
				bad(at, "same token as %s; every caller needs a token of its own", other)
			}
			seen[h] = at
		}
		if !token.Set() {
			return
		}
		h := HashToken(token.Value())
		if other, ok := seen[h]; ok && strings.Contains(other, ".token_hashes") {
			bad(path+".token", "same token as %s; every caller needs a token of its own", other)
		}
		seen[h] = path + ".token"
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		add("agents."+name, c.Agents[name].Token, c.Agents[name].TokenHashes)
	}
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		add("people."+name, c.People[name].Token, c.People[name].TokenHashes)
	}
}

// isWeb reports whether s is an HTTP or HTTPS URL.
func isWeb(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

func (c Config) checkConsole(bad func(path, format string, args ...any)) {
	if c.Console.URL != "" && !isWeb(c.Console.URL) {
		bad("console.url", "not an http or https URL")
	}
	o := c.Console.OIDC
	if o == (OIDC{}) {
		return
	}
	if !isWeb(o.Issuer) {
		bad("console.oidc.issuer", "not an http or https URL")
	}
	if o.ClientID == "" || !o.ClientSecret.Set() {
		bad("console.oidc", "client_id and client_secret are required")
	}
	if c.Console.URL == "" {
		bad("console.url", "required with OIDC, because the provider redirects people to it")
	}
}

func (c Config) checkWebhooks(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.Webhooks)) {
		w, path := c.Webhooks[name], "webhooks."+name
		if !isWeb(w.URL.Value()) {
			bad(path+".url", "not an http or https URL")
		}
		if !strings.HasPrefix(w.Secret.Value(), "whsec_") {
			bad(path+".secret", "must be whsec_ and 24 to 64 bytes in base64; create one with: echo whsec_$(openssl rand -base64 32)")
		}
		for n, a := range w.Agents {
			if _, ok := c.Agents[a]; !ok {
				bad(fmt.Sprintf("%s.agents[%d]", path, n), "unknown agent %q", a)
			}
		}
	}
}

func (c Config) checkRoutes(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		r := c.Routes[name]
		path := "routes." + name
		if len(r.To) == 0 {
			bad(path+".to", "required; name at least one destination")
		}
		if len(r.Responders) == 0 {
			bad(path+".responders", "required; name at least one person or group")
		}
		if _, ok := c.Routes[r.EscalateTo]; r.EscalateTo != "" && (!ok || r.EscalateTo == name) {
			bad(path+".escalate_to", "%q must be the name of another route", r.EscalateTo)
		}
		for n, s := range r.To {
			t, err := ParseTarget(s)
			switch {
			case err != nil:
				bad(fmt.Sprintf("%s.to[%d]", path, n), "%v", err)
			case !slices.Contains(c.Platforms(), t.Platform):
				bad(fmt.Sprintf("%s.to[%d]", path, n), "platform %s has no bot_token", t.Platform)
			}
		}
		c.checkNames(bad, path+".responders", r.Responders)
		c.checkEscalation(bad, name, path)
		c.checkNames(bad, path+".must", r.Must)
		if r.Quorum < 0 || r.Quorum > maxQuorum {
			bad(path+".quorum", "%d is out of range (0 to %d)", r.Quorum, maxQuorum)
		}
		if !slices.Contains([]string{"", "ends", "counts"}, r.Deny) {
			bad(path+".deny", "unknown value %q (ends or counts)", r.Deny)
		}
	}
}
