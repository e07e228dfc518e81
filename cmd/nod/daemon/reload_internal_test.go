package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/config"
)

const whole = `slack: {bot_token: xoxb-secret-1, app_token: xapp-secret-2}
people:
  ana: {slack: U1}
  bo: {slack: U2}
routes:
  default:
    to: ["slack:C1"]
    responders: [ana, bo]
policy:
  - {name: never, command: ["rm -rf *"], then: deny}
  - {name: look, command: ["ls *"], then: allow}
agents:
  ci: {token: secret-0123456789abcdef}
`

// TestCutFile checks that no line-wise cut of a config is applied that takes away
// all agents, people, rules or routes, or a platform, and that a cut that leaves
// some is told.
func TestCutFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	load := func(text string) (config.Config, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(path, nil)
		return c, err
	}
	full, err := load(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(whole, "\n")
	for n := range len(lines) - 1 {
		c, err := load(strings.Join(lines[:n], ""))
		if err == nil {
			err = enough(full, c)
		}
		if err == nil {
			t.Errorf("the first %d lines are applied", n)
		}
	}
	if _, err := load(strings.Replace(whole, lines[7], "", 1)); err == nil {
		t.Fatal("a route without responders is accepted")
	}
	fewer, err := load(strings.Replace(whole, lines[9], "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := enough(full, fewer); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(compare(full, fewer)); got != "{[] [rule never (deny)] [] []}" {
		t.Errorf("the change is %s", got)
	}
}

// TestReloadProofs checks who may reload: whoever has the key of the daemon, now.
func TestReloadProofs(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("ab", 32)
	_, proof, err := ReloadProof(config.Config{TokenKey: config.NewSecret(key)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hexKeys("token_key", config.NewSecret(key))
	if err != nil {
		t.Fatal(err)
	}
	mine, others := keys{token: raw}, keys{token: [][]byte{[]byte("another key of 32 bytes, at least")}}
	old := strconv.FormatInt(time.Now().Add(-2*reloadWindow).Unix(), 10)
	for what, ok := range map[string]bool{
		"valid": mine.mayReload(proof), "old": !mine.mayReload(old + "." + reloadCode(raw[0], old)), "of another key": !others.mayReload(proof),
		"empty": !mine.mayReload(""), "changed": !mine.mayReload("1" + proof),
	} {
		if !ok {
			t.Errorf("a proof that is %s", what)
		}
	}
	if _, _, err := ReloadProof(config.Config{}); err == nil {
		t.Error("a config without a key gives a proof")
	}
}
