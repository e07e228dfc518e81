package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/broker/redistest"
	"github.com/nodbridge/nod/cmd/nod/rig"
)

// TestBackup checks that a restored installation continues the saved one: cards
// posted before the backup accept answers, decisions and grants remain valid,
// and the audit log is complete.
func TestBackup(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	granted := r.Ask(rig.Approval(bridge.ScopeOnce, bridge.ScopeAlways))
	r.Decide("ana", granted.On("slack"), "Always allow")
	was := granted.End()
	req := rig.Approval()
	req.Approval.Input = []byte(`{"command":"make something else"}`)
	a := r.Ask(req)
	file := filepath.Join(t.TempDir(), "nod.backup")
	do := func(redis string, args ...string) (string, int) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "nod.yaml")
		if err := os.WriteFile(path, []byte("redis: {url: redis://"+redis+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		code := Run(append(args, "--config", path), nil, &out, &errs)
		return errs.String(), code
	}
	if said, code := do(r.Redis.Addr, "backup", file); code == 0 || !strings.Contains(said, "daemons are running") {
		t.Errorf("with a daemon running: %d %s", code, said)
	}
	r.Daemons[0].Stop()
	r.Eventually("Redis notices that the daemon has stopped", func() bool {
		_, code := do(r.Redis.Addr, "backup", file)
		return code == 0
	})
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r.Redis.Kill()
	second := redistest.Start(t, "--appendonly", "yes")
	for name, broken := range map[string][]byte{
		"cut": whole[:len(whole)*2/3], "changed": []byte(strings.Replace(string(whole), `"x":`, `"x":1`, 1)), "empty": nil, "other": []byte("{}\n"), "newer": []byte(strings.Replace(string(whole), `"version":1`, `"version":2`, 1)),
	} {
		bad := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(bad, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if said, code := do(second.Addr, "restore", bad); code != 2 {
			t.Errorf("%s: %d %s", name, code, said)
		}
	}
	if n := second.Client(t).DBSize(t.Context()).Val(); n != 0 {
		t.Fatalf("a rejected backup wrote %d keys", n)
	}
	if said, code := do(second.Addr, "restore", file); code != 0 {
		t.Fatal(code, said)
	}
	if said, code := do(second.Addr, "restore", file); code == 0 || !strings.Contains(said, "already") {
		t.Errorf("twice: %d %s", code, said)
	}
	r.Redis, r.Client, r.Daemons = second, second.Client(t), nil
	r.Start(rig.Listen(t))
	r.Agent, r.Person = clientOf(r, rig.TestAgentToken), clientOf(r, rig.AnaToken)
	r.Connected()
	r.Press("bo", a.On("telegram"), "Deny")
	if rec := a.End(); rec.State != bridge.StateDenied {
		t.Errorf("the pending request is %s", rec.State)
	}
	a.Closed("bo")
	got, err := r.Agent.Get(r.Ctx, granted.Interaction.ID)
	if err != nil || got.State != was.State || got.Receipt != was.Receipt || got.Receipt == "" {
		t.Errorf("the decided request: %+v, %v", got, err)
	}
	again, err := r.Agent.Open(r.Ctx, rig.Approval(bridge.ScopeOnce, bridge.ScopeAlways), "")
	if err != nil || again.State != bridge.StateApproved {
		t.Errorf("the grant: %s, %v", again.State, err)
	}
}

func clientOf(r *rig.Rig, token string) *client.Client {
	return client.New(r.Daemons[0].URL, token, nil)
}
