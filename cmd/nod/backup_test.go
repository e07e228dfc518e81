package main

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// TestBackup checks that a new Redis continues an installation from an RDB file
// that was saved while the daemon ran, as docs/operate/backup.md says: cards
// posted before the backup accept answers, and decisions and grants remain
// valid.
func TestBackup(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{OwnRedis: true})
	granted := r.Ask(samples.Approval(bridge.ScopeOnce, bridge.ScopeAlways))
	r.Decide("ana", granted.On("slack"), render.LabelAlways)
	was := granted.End()
	req := samples.Approval()
	req.Approval.Input = []byte(`{"command":"make something else"}`)
	a := r.Ask(req)
	file := filepath.Join(t.TempDir(), "nod.rdb")
	host, port, err := net.SplitHostPort(r.Redis.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(r.Ctx, "redis-cli", "-h", host, "-p", port, "--rdb", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.Daemons[0].Stop()
	r.Redis.Kill()
	second := redistest.Start(t, "--appendonly", "no", "--dir", filepath.Dir(file), "--dbfilename", filepath.Base(file))
	r.Redis, r.Client, r.Daemons = second, second.Client(t), nil
	if err := r.Client.ConfigSet(r.Ctx, "appendonly", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	r.Start(rig.Listen(t))
	clientOf := func(token string) *client.Client { return client.New(r.Daemons[0].URL, token, nil) }
	r.Agent, r.Person = clientOf(rig.TestAgentToken), clientOf(rig.AnaToken)
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
	again, err := r.Agent.Open(r.Ctx, samples.Approval(bridge.ScopeOnce, bridge.ScopeAlways), "")
	if err != nil || again.State != bridge.StateApproved {
		t.Errorf("the grant: %s, %v", again.State, err)
	}
}
