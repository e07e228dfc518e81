package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestReceiptVerifyExit checks that nod receipt verify exits with 0 only for an
// approval or an answer, so that scripts can rely on it.
func TestReceiptVerifyExit(t *testing.T) {
	t.Parallel()
	x := rig.Intruded(t)
	dir := t.TempDir()
	file := func(name string, v any) string {
		raw, isText := v.([]byte)
		if !isText {
			var err error
			if raw, err = json.Marshal(v); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	public, err := x.Agent.Keys(x.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	keys := file("keys.json", public)
	yes := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce)
	no := x.Decided(samples.Approval(bridge.ScopeOnce), bridge.Reply{Decision: bridge.DecideDeny})
	raw, err := json.Marshal(yes)
	if err != nil {
		t.Fatal(err)
	}
	other := yes
	other.Interaction.Prompt = "forged"
	forged, err := json.Marshal(other.Interaction)
	if err != nil {
		t.Fatal(err)
	}
	twice := append([]byte(`{"interaction":`+string(forged)+`,`), raw[1:]...)
	spelled := append([]byte(`{"interaction":`+string(forged)+`,`), bytes.Replace(raw, []byte(`"interaction"`), []byte(`"Interaction"`), 1)[1:]...)
	for what, c := range map[string]struct {
		path string
		code int
	}{
		"approved": {file("yes.json", yes), 0}, "the receipt alone": {file("yes.txt", []byte(yes.Receipt)), 0},
		"denied": {file("no.json", no), 1}, "the receipt of a denial": {file("no.txt", []byte(no.Receipt)), 1},
		"two interactions": {file("twice.json", twice), 6}, "in two spellings": {file("spelled.json", spelled), 6},
	} {
		for _, flag := range []string{"--json", "--json=false"} {
			var out, errs bytes.Buffer
			if code := Run([]string{"receipt", "verify", c.path, "--keys", keys, flag}, strings.NewReader(""), &out, &errs); code != c.code {
				t.Errorf("%s: exit %d, want %d: %s%s", what, code, c.code, &out, &errs)
			}
		}
	}
}

// TestEmptyReceiptKeys checks that an empty variable, such as from an unset
// other variable, does not disable the verification of receipts.
func TestEmptyReceiptKeys(t *testing.T) {
	t.Setenv(caller.KeysEnv, "")
	rec := bridge.Record{State: bridge.StateApproved}
	if err := caller.Verified(rec, bridge.Request{}); err == nil || !strings.Contains(err.Error(), caller.KeysEnv) {
		t.Errorf("it is %v", err)
	}
}
