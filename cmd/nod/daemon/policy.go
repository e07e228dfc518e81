package daemon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
)

// Policy returns the policy of a config. Without rules, people decide on
// everything that gates select.
func Policy(c config.Config) (*policy.Policy, error) {
	p, errs := policy.New(c.Policy, c.Risks)
	if len(errs) > 0 {
		return nil, c.Locate(errors.Join(errs...))
	}
	return p, nil
}

// policyVersion returns a hash of the rules and the risk levels.
func policyVersion(c config.Config) (string, error) {
	raw, err := json.Marshal(struct {
		Risks  []policy.Risk
		Policy []policy.Rule
	}{c.Risks, c.Policy})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// configVersion identifies the complete config, including its secrets, and the
// version of nod. Without the key, the result reveals nothing about the
// secrets.
func configVersion(c config.Config, nod string, key []byte) (string, error) {
	secrets := c.Secrets()
	slices.Sort(secrets)
	raw, err := json.Marshal(struct {
		Nod     string
		Config  config.Config
		Secrets []string // the encoder writes them as empty
	}{nod, c, secrets})
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)[:8]), nil
}
