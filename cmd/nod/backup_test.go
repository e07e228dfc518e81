package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/broker/redistest"
)

// What was backed up goes on elsewhere: a card that was posted before answers,
// what was decided and granted stands, the audit log is whole.
func TestBackup(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	granted := r.ask(approval(bridge.ScopeOnce, bridge.ScopeAlways))
	r.press("ana", granted.on("slack"), "Always allow")
	was := granted.end()
	req := approval()
	req.Approval.Input = []byte(`{"command":"make something else"}`)
	a := r.ask(req)
	file := filepath.Join(t.TempDir(), "nod.backup")
	do := func(redis string, args ...string) (string, int) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "nod.yaml")
		if err := os.WriteFile(path, []byte("redis: {url: redis://"+redis+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		code := run(append(args, "--config", path), nil, &out, &errs)
		return errs.String(), code
	}
	if said, code := do(r.redis.Addr, "backup", file); code == 0 || !strings.Contains(said, "daemons are running") {
		t.Errorf("with a daemon running: %d %s", code, said)
	}
	r.daemons[0].stop()
	r.eventually("Redis has noticed that the daemon is gone", func() bool {
		_, code := do(r.redis.Addr, "backup", file)
		return code == 0
	})
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r.redis.Kill()
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
		t.Fatalf("a refused backup wrote %d keys", n)
	}
	if said, code := do(second.Addr, "restore", file); code != 0 {
		t.Fatal(code, said)
	}
	if said, code := do(second.Addr, "restore", file); code == 0 || !strings.Contains(said, "already") {
		t.Errorf("twice: %d %s", code, said)
	}
	r.redis, r.client, r.daemons = second, second.Client(t), nil
	r.start(listen(t))
	r.agent, r.person = clientOf(r, testAgentToken), clientOf(r, anaToken)
	r.connected()
	r.press("bo", a.on("telegram"), "Deny")
	if rec := a.end(); rec.State != bridge.StateDenied {
		t.Errorf("what was pending ended as %s", rec.State)
	}
	a.closed("bo")
	got, err := r.agent.Get(r.ctx, granted.Interaction.ID)
	if err != nil || got.State != was.State || got.Receipt != was.Receipt || got.Receipt == "" {
		t.Errorf("what was decided: %+v, %v", got, err)
	}
	again, err := r.agent.Open(r.ctx, approval(bridge.ScopeOnce, bridge.ScopeAlways), "")
	if err != nil || again.State != bridge.StateApproved {
		t.Errorf("the grant: %s, %v", again.State, err)
	}
}

func clientOf(r *rig, token string) *client.Client {
	return client.New(r.daemons[0].url, token, nil)
}
