package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStepUp checks both ways to write step_up, and every mistake in it.
func TestStepUp(t *testing.T) {
	t.Parallel()
	const console = "console: {enabled: true, url: \"https://nod.example.com\"}\n"
	load := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "nod.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, nil)
		if err == nil {
			err = c.Check()
		}
		return c, err
	}
	c, err := load(console + "risks: [{name: low}, {name: high, step_up: passkey}]\n" +
		"policy: [{name: a, then: ask, step_up: {method: passkey, approvals: 2, fallback: totp}}]\n")
	if err != nil || c.Risks[0].StepUp != nil || *c.Risks[1].StepUp != (StepUp{Method: "passkey"}) ||
		*c.Policy[0].StepUp != (StepUp{"passkey", 2, "totp"}) {
		t.Errorf("%+v %v", c, err)
	}
	for text, want := range map[string]string{
		console + "risks: [{name: a, step_up: face}]":                                               `risks[0].step_up.method: unknown method "face" (passkey)`,
		console + "risks: [{name: a, step_up: {approvals: 1}}]":                                     `risks[0].step_up.method: unknown method ""`,
		console + "risks: [{name: a, step_up: {method: passkey, approvals: 11}}]":                   "11 is out of range (0 to 10)",
		console + "risks: [{name: a, step_up: {method: passkey, fallback: sms}}]":                   `unknown fallback "sms" (totp)`,
		console + "risks: [{name: a, step_up: {method: passkey, number: 1}}]":                       `unknown key "number"`,
		"console: {enabled: true, url: \"https://10.0.0.1\"}\nrisks: [{name: a, step_up: passkey}]": "requires console.url",
		"risks: [{name: a, step_up: passkey}]":                                                      "set console.enabled to true",
		"console: {enabled: true}\nrisks: [{name: a, step_up: passkey}]":                            "requires console.url",
		"console: {enabled: true, url: \"http://nod\"}\nrisks: [{name: a, step_up: passkey}]":       "requires console.url",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
