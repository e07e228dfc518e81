package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/api"
	"github.com/nodbridge/nod/bridge/console"
	"github.com/nodbridge/nod/bridge/directory"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/oncall"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/bridge/redact"
	"github.com/nodbridge/nod/config"
)

// buildPolicy checks the rules; nil where there are none.
func buildPolicy(c config.Config) (*policy.Policy, error) {
	var risks []policy.Risk
	for _, r := range c.Risks {
		risks = append(risks, policy.Risk{Name: r.Name, Quorum: r.Quorum, Confirm: r.Confirm})
	}
	var rules []policy.Rule
	for _, r := range c.Policy {
		rule := policy.Rule{
			Name: r.Name, Agents: r.Agents, Tools: r.Tools, Command: r.Command, Options: r.Options, Path: r.Path, Input: r.Input, Where: r.Where,
			Then: bridge.Effect(r.Then), GrantByRule: r.Grant == "rule",
			Set: bridge.Ruling{
				Reason: r.Reason, Risk: r.Risk, Timeout: bridge.Duration(r.Timeout), OnTimeout: bridge.OnTimeout(r.OnTimeout), Quorum: r.Quorum,
				Confirm: r.Confirm, Redact: r.Redact, GrantFor: bridge.Duration(r.GrantFor),
			},
		}
		if r.Route != "" {
			rule.Set.Routes = []string{r.Route}
		}
		for _, s := range r.Scopes {
			rule.Set.Scopes = append(rule.Set.Scopes, bridge.Scope(s))
		}
		rules = append(rules, rule)
	}
	p, errs := policy.New(rules, risks)
	if len(errs) > 0 {
		return nil, bridge.Wrap(bridge.CodeInvalid, errors.Join(errs...), "config")
	}
	if len(rules) == 0 {
		return nil, nil
	}
	return p, nil
}

// buildDirectory is who people are, and who is in groups.
func buildDirectory(c config.Config, platforms []bridge.Platform, links directory.Links) *directory.Directory {
	o := directory.Options{People: map[string]directory.Person{}, Groups: map[string]directory.Group{}, Platforms: platforms, Remembered: time.Duration(c.Identity.Remembered)}
	for name, p := range c.People {
		person := directory.Person{Accounts: map[string]string{}, Email: p.Email}
		for _, platform := range c.Platforms() {
			if id := p.Account(platform); id != "" {
				person.Accounts[platform] = id
			}
		}
		o.People[name] = person
	}
	for name, g := range c.Groups {
		of := map[string]string{}
		for platform, group := range map[string]string{config.PlatformSlack: g.Slack, config.PlatformDiscord: g.Discord, config.PlatformTelegram: g.Telegram} {
			if group != "" {
				of[platform] = group
			}
		}
		o.Groups[name] = directory.Group{People: g.People, Of: of, OnCall: g.OnCall}
	}
	if c.Identity.Linking {
		o.Links = links
	}
	if c.Identity.Email {
		o.Emails = []string{config.PlatformSlack}
	}
	o.Schedules = buildSchedules(c)
	return directory.New(o)
}

// buildSchedules knows who is on call.
func buildSchedules(c config.Config) *oncall.Schedules {
	var people []oncall.Person
	for _, name := range slices.Sorted(maps.Keys(c.People)) {
		people = append(people, oncall.Person{Name: name, Email: c.People[name].Email, IDs: c.People[name].IDs})
	}
	all := oncall.New(people)
	for name, o := range c.OnCall {
		service := func(s *config.Schedule) oncall.Service {
			return oncall.Service{URL: s.URL, Schedule: s.Schedule, Token: s.Token.Value()}
		}
		switch {
		case o.Rotation != nil:
			all.Add(name, "rotation", oncall.Rotation{People: o.Rotation.People, Start: o.Rotation.Start, Every: time.Duration(o.Rotation.Every)})
		case o.ICal != nil:
			all.Add(name, "ical", oncall.ICal{URL: o.ICal.URL.Value()})
		case o.PagerDuty != nil:
			all.Add(name, "pagerduty", oncall.PagerDuty(service(o.PagerDuty)))
		case o.Opsgenie != nil:
			all.Add(name, "opsgenie", oncall.Opsgenie(service(o.Opsgenie)))
		case o.GoAlert != nil:
			all.Add(name, "goalert", oncall.GoAlert(service(o.GoAlert)))
		case o.Grafana != nil:
			all.Add(name, "grafana", oncall.Grafana(service(o.Grafana)))
		}
	}
	return all
}

// buildSteps are the steps of an escalation, repeated reminders one by one.
func buildSteps(r config.Route) []bridge.Step {
	var out []bridge.Step
	for _, s := range r.Escalation {
		step := bridge.Step{After: bridge.Duration(s.After), Remind: s.Remind, Ask: s.Ask, Route: s.Route}
		switch s.GiveUp {
		case "expire":
			step.GiveUp = bridge.StateExpired
		case "deny":
			step.GiveUp = bridge.StateDenied
		}
		for range max(1, s.Times) {
			out = append(out, step)
			step.After *= 2
			step.Ask, step.Route = nil, "" // once is enough
		}
	}
	return out
}

// buildRedactor hides credentials, among them the config's own.
func buildRedactor(c config.Config) (*redact.Redactor, error) {
	r, err := redact.New(c.Redact.Patterns, c.Secrets())
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "config: redact.patterns")
	}
	return r, nil
}

// plainRedactor hides the known shapes of credentials.
func plainRedactor() *redact.Redactor {
	r, _ := redact.New(nil, nil) // without patterns there is nothing to refuse
	return r
}

// buildConsole makes the page in the browser.
func buildConsole(c config.Config, e *engine.Engine, tokens map[string]api.Principal, key []byte, store console.Store, signIns *attempts, log *slog.Logger) *console.Console {
	o := console.Options{Engine: e, Tokens: tokens, Key: key, Store: store, Blocked: signIns.blocked, Failed: signIns.failed, Secure: strings.HasPrefix(c.Console.URL, "https://"), Log: log}
	if x := c.Console.OIDC; x.Issuer != "" {
		o.OIDC = &console.OIDC{Issuer: x.Issuer, ClientID: x.ClientID, ClientSecret: x.ClientSecret.Value(), Callback: strings.TrimRight(c.Console.URL, "/") + "/console/oidc/callback", People: map[string]console.Person{}}
		for name, p := range c.People {
			o.OIDC.People[name] = console.Person{Email: p.Email, Auditor: p.Auditor}
		}
	}
	return console.New(o)
}

// buildAgents are the agents by name.
func buildAgents(c config.Config) map[string]bridge.Agent {
	agents := map[string]bridge.Agent{}
	for name, a := range c.Agents {
		agent := bridge.Agent{Name: name, Routes: a.Routes, Owners: a.Owners, PerMinute: a.PerMinute, MaxPending: a.MaxPending, MaxBytes: a.MaxBytes}
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

// policyVersion changes with the rules and the risk levels.
func policyVersion(c config.Config) (string, error) {
	raw, err := json.Marshal(struct {
		Risks  []config.Risk
		Policy []config.Rule
	}{c.Risks, c.Policy})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// buildTokens says by hash whose a token is.
func buildTokens(c config.Config) map[string]api.Principal {
	tokens := map[string]api.Principal{}
	add := func(token config.Secret, hashes []string, p api.Principal) {
		if token.Set() {
			hashes = append(slices.Clone(hashes), config.HashToken(token.Value()))
		}
		for _, h := range hashes {
			tokens[strings.ToLower(strings.TrimPrefix(h, config.HashPrefix))] = p
		}
	}
	for name, agent := range buildAgents(c) {
		add(c.Agents[name].Token, c.Agents[name].TokenHashes, api.Principal{Agent: &agent})
	}
	for name, p := range c.People {
		add(p.Token, p.TokenHashes, api.Principal{Person: name, Auditor: p.Auditor})
	}
	return tokens
}
