package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStepUp checks each place of step_up, and every mistake in it.
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
		"policy: [{name: a, then: ask, step_up: passkey}]\n")
	if err != nil || c.Risks[0].StepUp != "" || c.Risks[1].StepUp != "passkey" || c.Policy[0].StepUp != "passkey" {
		t.Errorf("%+v %v", c, err)
	}
	for text, want := range map[string]string{
		console + "risks: [{name: a, step_up: face}]":                                               `risks[0].step_up: unknown value "face" (passkey)`,
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
