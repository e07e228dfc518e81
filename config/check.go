package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/nodbridge/nod/platforms/kinds"
)

// minToken is the minimum length of an API token. Shorter tokens could be
// guessed.
const minToken = 16

// Check reports every problem with its path, joined into one error.
func (c Config) Check() error {
	var errs []error
	bad := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
	}
	c.checkValues(bad)
	c.checkAddresses(bad)
	c.checkPlatforms(bad)
	if c.Sandbox != "" && !isWeb(c.Sandbox) {
		bad("sandbox", "invalid URL %q; set the URL that nod sandbox prints, such as http://127.0.0.1:8788", c.Sandbox)
	}
	if c.Traces.Endpoint != "" && !isWeb(c.Traces.Endpoint) {
		bad("traces.endpoint", "invalid URL %q; set an http or https URL, such as http://127.0.0.1:4318/v1/traces", c.Traces.Endpoint)
	}
	for n, h := range c.Hosts {
		if !isHost(h) {
			bad(fmt.Sprintf("hosts[%d]", n), "invalid host name %q; set a name without scheme and path, such as nod.example.com or *.example.com", h)
		}
	}
	for n, o := range c.Origins {
		if !isOrigin(o) {
			bad(fmt.Sprintf("origins[%d]", n), "invalid origin %q; set the scheme and the host of a page, such as https://app.example.com", o)
		}
	}
	c.checkConsole(bad)
	c.checkIgnored(bad)
	c.checkRoutes(bad)
	c.checkCallers(bad)
	c.checkAccounts(bad)
	c.checkWebhooks(bad)
	c.checkPolicy(bad)
	c.checkStepUps(bad)
	c.checkGroups(bad)
	c.checkOnCall(bad)
	c.checkApprovers(bad)
	c.checkPeopleNames(bad)
	return errors.Join(errs...)
}

// checkIgnored reports settings that have no effect because of another one.
func (c Config) checkIgnored(bad func(path, format string, args ...any)) {
	for _, x := range []struct {
		path    string
		ignored bool
		why     string
	}{
		{"console.oidc", c.Console.OIDC != (OIDC{}) && !c.Console.Enabled, "not used without the console; set console.enabled to true, or remove console.oidc"},
		{"identity.guests", c.Identity.Guests && !c.Identity.Email, "not used without identity.email; set identity.email to true, or remove identity.guests"},
	} {
		if x.ignored {
			bad(x.path, "%s", x.why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Routes)) {
		if r := c.Routes[name]; r.Quiet != nil && len(r.Escalation) == 0 && r.Remind == "off" && r.Snooze == 0 {
			bad("routes."+name+".quiet", "not used, because the route has no reminder and no escalation steps; remove it")
		}
	}
}

// checkCallers checks the tokens and limits of agents, people and metrics.
func (c Config) checkCallers(bad func(path, format string, args ...any)) {
	tokens := tokens{}
	if c.Metrics.Token.Set() {
		tokens.check(bad, "metrics.token", c.Metrics.Token)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a, path := c.Agents[name], "agents."+name
		tokens.check(bad, path+".token", a.Token)
	}
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		p, path := c.People[name], "people."+name
		if p.Token.Set() {
			tokens.check(bad, path+".token", p.Token)
		}
		if p.Auditor && !p.Token.Set() {
			bad(path+".auditor", "the auditor has no token; set "+path+".token")
		}
	}
}

// tokens maps the hashes of the tokens checked so far to the paths of their
// callers.
type tokens map[string]string

func (t tokens) check(bad func(path, format string, args ...any), path string, s Secret) {
	if !s.Set() {
		bad(path, "required; run nod config token to generate one, and set it here or in %s", Variable(strings.Split(path, ".")...))
	}
	for _, token := range tokensIn(s) {
		switch n := len(token); {
		case strings.HasPrefix(token, HashPrefix) && !validHash(token):
			bad(path, "a hash must be sha256: and 64 hex digits; run nod config token to generate one")
		case n < minToken:
			bad(path, "too short (%d characters, at least %d); generate one with: nod config token", n, minToken)
		}
	}
	for _, h := range TokenHashes(s) {
		if other := t[h]; other != "" {
			bad(path, "same token as %s; every caller needs a token of its own", other)
		}
		t[h] = path
	}
}

// checkAccounts rejects an account, an email address, or an ID in a schedule
// that two people share. Otherwise, its owner would count twice in a quorum, or
// no one would be on call.
func (c Config) checkAccounts(bad func(path, format string, args ...any)) {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		p := c.People[name]
		all := []struct{ key, value string }{{"email", strings.ToLower(norm.NFC.String(strings.TrimSpace(p.Email)))}}
		for _, k := range kinds.All {
			id := p.Accounts[k.Name]
			if k.Canonical != nil {
				id = k.Canonical(id)
			}
			all = append(all, struct{ key, value string }{k.Name, id})
		}
		for _, kind := range slices.Sorted(maps.Keys(p.IDs)) {
			all = append(all, struct{ key, value string }{"ids." + kind, p.IDs[kind]})
		}
		for _, f := range all {
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

// isWeb reports whether s is an HTTP or HTTPS URL.
func isWeb(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != ""
}

// isHost reports whether a text is a host name in the form that clients send,
// or a pattern of host names.
func isHost(s string) bool {
	name := strings.TrimPrefix(s, "*.")
	if strings.ContainsAny(name, "*?/\\@ \t") {
		return false
	}
	if h, _, err := net.SplitHostPort(name); err == nil {
		name = h
	}
	return name != "" && (!strings.Contains(name, ":") || net.ParseIP(strings.Trim(name, "[]")) != nil)
}

// isOrigin reports whether a text is a web origin, or a pattern of origins.
func isOrigin(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || s != u.Scheme+"://"+u.Host {
		return false
	}
	name, wild := strings.CutPrefix(u.Host, "*.")
	return !strings.ContainsAny(name, "*?[\\") && (!wild || strings.Contains(name, "."))
}

func (c Config) checkConsole(bad func(path, format string, args ...any)) {
	if c.Console.URL != "" && !isWeb(c.Console.URL) {
		bad("console.url", "invalid URL %q; set an http or https URL", c.Console.URL)
	}
	o := c.Console.OIDC
	if o == (OIDC{}) {
		return
	}
	if !isWeb(o.Issuer) {
		bad("console.oidc.issuer", "invalid URL %q; set an http or https URL", o.Issuer)
	}
	if o.ClientID == "" || !o.ClientSecret.Set() {
		bad("console.oidc", "client_id and client_secret are required")
	}
	if c.Console.URL == "" {
		bad("console.url", "required with OIDC; set the URL to which the provider redirects people")
	}
}

func (c Config) checkWebhooks(bad func(path, format string, args ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.Webhooks)) {
		w, path := c.Webhooks[name], "webhooks."+name
		if !isWeb(w.URL.Value()) {
			bad(path+".url", "not an http or https URL; set the full URL of the receiver")
		}
		if !strings.HasPrefix(w.Secret.Value(), "whsec_") {
			bad(path+".secret", "must be whsec_ and 24 to 64 bytes in base64; create one with: echo whsec_$(openssl rand -base64 32)")
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
		for n, s := range r.To {
			t, err := ParseTarget(s)
			switch {
			case err != nil:
				bad(fmt.Sprintf("%s.to[%d]", path, n), "%v", err)
			case !slices.Contains(c.Platforms(), t.Platform):
				bad(fmt.Sprintf("%s.to[%d]", path, n), "platform %s has no bot_token; set %[1]s.bot_token", t.Platform)
			}
		}
		c.checkNames(bad, path+".responders", r.Responders)
		c.checkEscalation(bad, name, path)
		c.checkNames(bad, path+".must", r.Must)
		if _, _, err := r.RemindAfter(); err != nil {
			bad(path+".remind", "%v", err)
		}
	}
}
