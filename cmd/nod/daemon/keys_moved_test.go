package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
)

// TestKeysMoved checks that records are valid while the keys are kept in Redis.
// After the keys have moved to the configuration, people can see the records, but
// no agent gets a decision from them.
func TestKeysMoved(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		rig.Auditor(c)
		c.TokenKey, c.Receipts.Key = config.Secret{}, config.Secret{}
	}})
	x := rig.Intruder{Rig: r, T: t}
	decided, pending := x.Decided(samples.Approval(bridge.ScopeOnce), rig.AnswerOnce), x.Ask(samples.Approval(bridge.ScopeOnce))
	if rec, err := r.Agent.Get(r.Ctx, decided.Interaction.ID); err != nil || rec.State != bridge.StateApproved || rec.Receipt == "" {
		t.Errorf("with the keys in Redis: %s, %v", rec.State, err)
	}
	if text := rig.Fetch(r, r.Daemons[0].URL+"/healthz"); !strings.Contains(text, "can forge") {
		t.Errorf("health check: %s", text)
	}
	r.Daemons[0].Stop()
	sandboxed.Keys(&r.Config)
	next := r.Start(rig.Listen(t))
	r.Agent, r.Person = rig.NewClient(next.URL, rig.TestAgentToken), rig.NewClient(next.URL, rig.AnaToken)
	r.Daemons = r.Daemons[1:]
	if _, err := r.Person.Respond(r.Ctx, pending.Interaction.ID, rig.AnswerOnce); err == nil {
		t.Error("it was answered although nod cannot know what people saw")
	}
	refused(x, decided.Interaction.ID)
	shown, err := r.Person.Get(r.Ctx, decided.Interaction.ID)
	if err != nil || shown.State != bridge.StateApproved || shown.Response.Actor.Person != "ana" || shown.Unverified == "" {
		t.Errorf("a person is shown %s, %q, %v", shown.State, shown.Unverified, err)
	}
}
