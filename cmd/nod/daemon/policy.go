package daemon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
)

// Policy returns the policy of a config. Without rules, people decide everything
// that gates select.
func Policy(c config.Config) (*policy.Policy, error) {
	var risks []policy.Risk
	for _, r := range c.Risks {
		risks = append(risks, policy.Risk{Name: r.Name, Quorum: r.Quorum, Confirm: r.Confirm, StepUp: bridge.Assurance(r.StepUp)})
	}
	var rules []policy.Rule
	for _, r := range c.Policy {
		rule := policy.Rule{
			Name: r.Name, Agents: r.Agents, Tools: r.Tools, Command: r.Command, Options: r.Options, Reads: r.Reads, Path: r.Path, Input: r.Input, Where: r.Where,
			Then: bridge.Effect(r.Then), GrantByRule: r.Grant == "rule",
			Set: bridge.Ruling{
				Reason: r.Reason, Risk: r.Risk, Timeout: bridge.Duration(r.Timeout), OnTimeout: bridge.OnTimeout(r.OnTimeout), Quorum: r.Quorum,
				Confirm: r.Confirm, Redact: r.Redact, GrantFor: bridge.Duration(r.GrantFor), StepUp: bridge.Assurance(r.StepUp),
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
		return nil, c.Locate(errors.Join(errs...))
	}
	return p, nil
}

// policyVersion returns a hash of the rules and the risk levels.
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

// configVersion identifies the whole config, with its secrets, and the version of
// nod. Without the key, it tells nothing about the secrets.
func configVersion(c config.Config, nod string, key []byte) (string, error) {
	secrets := c.Secrets()
	slices.Sort(secrets)
	raw, err := json.Marshal(struct {
		Nod     string
		Config  config.Config
		Secrets []string // Config encodes them as empty
	}{nod, c, secrets})
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)[:8]), nil
}
