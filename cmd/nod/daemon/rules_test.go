package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/policy"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

func policyConfig(c *config.Config) {
	c.Risks = []policy.Risk{{Name: "high"}, {Name: "critical", Quorum: 2, Confirm: "yes, production"}}
	c.Policy = []policy.Rule{
		{Name: "never", Command: []string{"rm -rf *"}, Then: "deny", Reason: "no one may delete trees"},
		{Name: "look", Command: []string{"ls *"}, Then: "allow"},
		{Name: "prod", Command: []string{"kubectl delete *"}, Then: "ask", Risk: "critical"},
		{Name: "push", Command: []string{"git push *"}, Then: "ask", Grant: "rule", Scopes: []bridge.Scope{"once", "session"}, GrantFor: config.Duration(time.Hour)},
	}
}

func command(s, session string, scopes ...bridge.Scope) bridge.Request {
	r := samples.Approval(scopes...)
	r.Session = session
	r.Approval.Input = []byte(fmt.Sprintf(`{"command":%q}`, s))
	return r
}

// TestPolicy checks that no one is asked about requests that the rules allow or
// deny, and that the highest risk level requires two typed confirmations.
func TestPolicy(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		policyConfig(c)
		c.Receipts.Key = config.Secret{} // kept in Redis, so that the test can write grants
	}})
	open := func(s string) bridge.Record {
		rec, err := r.Agent.Open(r.Ctx, command(s, "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways), "")
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if rec := open("ls -la"); rec.State != bridge.StateApproved || rec.Response.Rule != "look" || rec.Response.Actor != nil || len(rec.Messages) != 0 || rec.Receipt == "" {
		t.Errorf("allowed: %+v", rec)
	}
	if rec := open("cd /; rm -rf tmp"); rec.State != bridge.StateDenied || rec.Response.Reason != "no one may delete trees" {
		t.Errorf("denied: %+v", rec)
	}
	given := r.Ask(command("make x", "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways))
	r.Decide("ana", given.On("slack"), render.LabelAlways)
	given.End()
	if rec := open("make x"); rec.State != bridge.StateApproved || rec.Response.Grant != given.Interaction.ID {
		t.Fatalf("the grant does not cover the request: %+v", rec)
	}
	if a, denial := r.Sandbox.State(), "rm -rf"; strings.Contains(fmt.Sprint(a), denial) {
		t.Error("people saw a request that the policy had decided")
	}

	a := r.Ask(command("kubectl delete ns prod", "s", bridge.ScopeOnce))
	if !strings.Contains(a.Text("slack"), "Critical") {
		t.Errorf("the card does not show the risk: %s", a.Text("slack"))
	}
	r.Typed("ana", a.On("slack"), "Run command", "yes, production")
	rec := a.StillPending()
	if rec.Approvals() != 1 {
		t.Fatalf("%+v", rec.Votes)
	}
	reaction := r.Typed("bo", a.On("discord"), "Run command", "yes")
	r.Told("bo", "discord", reaction, "Type exactly")
	a.StillPending()
	r.Typed("cy", a.On("telegram"), "Run command", "yes, production")
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Interaction.Risk != "critical" || rec.Interaction.Rule != "prod" {
		t.Errorf("the record is %+v, want approved with the risk critical by the rule prod", rec)
	}
}

// TestGrantByRule checks that a grant covers the requests that the rule
// matches, in the same location and for the duration in the rule. It approves
// pending requests, and it does not return after it is revoked.
func TestGrantByRule(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { rig.Only("slack")(c); policyConfig(c); rig.Auditor(c) }})
	in := func(s, where string) bridge.Request {
		req := command(s, "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
		req.Approval.Where = where
		return req
	}
	first, duplicate, elsewhere := r.Ask(in("git push origin main", "/repo")), r.Ask(in("git push origin dev", "/repo")), r.Ask(in("git push", "/other"))
	if strings.Contains(fmt.Sprint(first.Controls("slack")), "Always") {
		t.Error("the card offers a scope that the rule does not allow")
	}
	r.Decide("ana", first.On("slack"), "session")
	rec := first.End()
	if rec := duplicate.End(); rec.State != bridge.StateApproved || rec.Response.Grant != first.Interaction.ID {
		t.Errorf("the pending duplicate was not approved: %+v", rec.Response)
	}
	elsewhere.StillPending()
	grants, err := r.Agent.Grants(r.Ctx, "")
	if err != nil || len(grants.Items) != 1 {
		t.Fatalf("%+v, %v", grants, err)
	}
	if w := grants.Items[0].Words; !strings.Contains(w, "`git push *`") || !strings.Contains(w, `in the location "/repo"`) || !strings.Contains(w, "by ana") || time.Until(grants.Items[0].Expires) > time.Hour {
		t.Errorf("the grant is described as %s until %s", w, grants.Items[0].Expires)
	}
	covered, err := r.Agent.Open(r.Ctx, in("git push --force", "/repo"), "")
	if err != nil || covered.State != bridge.StateApproved {
		t.Fatalf("%+v, %v", covered, err)
	}
	// Another command on the same line is not covered.
	if rec, err := r.Agent.Open(r.Ctx, in("git push; make clean", "/repo"), ""); err != nil || rec.State != bridge.StatePending {
		t.Errorf("the grant covers too much: %+v, %v", rec.Response, err)
	}
	if _, err := r.Person.Revoke(r.Ctx, grants.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	// Waiting for the answer that created the grant does not restore it.
	if _, err := r.Daemons[0].Engine().Await(r.Ctx, rec.Interaction.ID); err != nil {
		t.Fatal(err)
	}
	after := r.Ask(in("git push --tags", "/repo"))
	after.StillPending()
	log := string(rig.Exported(r))
	for _, entry := range []string{`"type":"grant"`, `"type":"revoke"`} {
		if strings.Count(log, entry) != 1 {
			t.Errorf("%d entries %s in the audit log", strings.Count(log, entry), entry)
		}
	}
}
