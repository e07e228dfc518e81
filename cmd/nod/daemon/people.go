package daemon

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/oncall"
	"github.com/nodbridge/nod/bridge/passkey"
	"github.com/nodbridge/nod/bridge/rooms/passkeys"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
)

// buildDirectory returns the directory of people and groups.
func buildDirectory(c config.Config, remembered time.Duration, platforms []bridge.Platform, links directory.Links, schedules *oncall.Schedules) *directory.Directory {
	o := directory.Options{People: map[string]directory.Person{}, Groups: map[string]directory.Group{}, Platforms: platforms, Remembered: remembered}
	for name, p := range c.People {
		person := directory.Person{Accounts: map[string]string{}, IDs: p.IDs, Email: p.Email, Name: p.Name}
		for _, platform := range c.Platforms() {
			if id := p.Account(platform); id != "" {
				person.Accounts[platform] = id
			}
		}
		o.People[name] = person
	}
	for name, g := range c.Groups {
		o.Groups[name] = directory.Group{People: g.People, Of: g.Native, OnCall: g.OnCall}
	}
	if c.Identity.Linking {
		o.Links = links
	}
	if c.Identity.Email {
		o.Guests = c.Identity.Guests
		for _, k := range kinds.All {
			if k.Emails {
				o.Emails = append(o.Emails, k.Name)
			}
		}
	}
	o.Schedules = schedules
	return directory.New(o)
}

// signing returns the configuration of passkeys. People can have passkeys only
// if the console has a URL that browsers accept.
func signing(c config.Config) passkeys.Signing {
	var out passkeys.Signing
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		out.People = append(out.People, name)
		if c.People[name].Administrator {
			out.Administrators = append(out.Administrators, name)
		}
	}
	if site, err := passkey.NewSite(c.Console.URL); err == nil && c.Console.Enabled {
		out.Site = &site
	}
	return out
}

// buildAgents returns the agents by name.
func buildAgents(c config.Config) map[string]bridge.Agent {
	agents := map[string]bridge.Agent{}
	for name, a := range c.Agents {
		agent := bridge.Agent{Name: name, Routes: a.Routes, Owners: a.Owners, PerMinute: a.PerMinute, MaxPending: a.MaxPending}
		for _, k := range a.Kinds {
			agent.Kinds = append(agent.Kinds, bridge.Kind(k))
		}
		for _, s := range a.Scopes {
			agent.Scopes = append(agent.Scopes, bridge.Scope(s))
		}
		agents[name] = agent
	}
	return agents
}

// buildTokens maps the hashes of tokens to their owners.
func buildTokens(c config.Config) map[string]api.Principal {
	tokens := map[string]api.Principal{}
	add := func(token config.Secret, p api.Principal) {
		for _, h := range config.TokenHashes(token) {
			tokens[strings.TrimPrefix(h, config.HashPrefix)] = p
		}
	}
	for name, agent := range buildAgents(c) {
		add(c.Agents[name].Token, api.Principal{Agent: &agent})
	}
	for name, p := range c.People {
		add(p.Token, api.Principal{Person: name, Auditor: p.Auditor})
	}
	return tokens
}
