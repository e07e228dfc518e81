package config

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// checkStepUps checks every required proof, and that the console can request
// it.
func (c Config) checkStepUps(bad func(path, format string, args ...any)) {
	first := ""
	check := func(path, s string) {
		if s == "" {
			return
		}
		if first == "" {
			first = path
		}
	}
	for n, r := range c.Risks {
		check(fmt.Sprintf("risks[%d].step_up", n), string(r.StepUp))
	}
	for n, r := range c.Policy {
		check(fmt.Sprintf("policy[%d].step_up", n), string(r.StepUp))
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

// passkeyURL reports whether browsers offer passkeys at a URL. They require a
// host name, and https except for localhost.
func passkeyURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || net.ParseIP(u.Hostname()) != nil {
		return false
	}
	local := u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
	return u.Scheme == "https" || u.Scheme == "http" && local
}
