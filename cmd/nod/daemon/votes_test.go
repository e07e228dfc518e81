package daemon_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// TestQuorum checks that the number of people in the quorum must approve, on
// any platform, that two accounts of one person count once, and that one denial
// denies the request.
func TestQuorum(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: route(func(r *config.Route) { r.Quorum = 2 })})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Press("ana", a.On("slack"), "Run command")
	r.Eventually("the card says who has approved", func() bool {
		return strings.Contains(a.Text("discord"), "1 of 2 approved: ana") && strings.Contains(a.Text("telegram"), "Still needed: 1 more")
	})
	// The same person uses another account.
	r.Told("ana", "telegram", r.Press("ana", a.On("telegram"), "Run command"), "already recorded")
	reaction := r.Press("ana", a.On("discord"), "Run command")
	r.Told("ana", "discord", reaction, "already recorded")
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("ana approves again by API: %v", err)
	}
	if rec := a.StillPending(); len(rec.Votes) != 1 {
		t.Fatalf("votes: %+v", rec.Votes)
	}
	r.Press("bo", a.On("telegram"), "Run command")
	rec := a.End()
	if rec.State != bridge.StateApproved || len(rec.Votes) != 2 {
		t.Fatalf("%s, votes %+v", rec.State, rec.Votes)
	}
	a.Closed("Approved by ana, bo")
	keys, err := r.Agent.Keys(r.Ctx)
	if err != nil {
		t.Fatal(err)
	}
	if receipt, err := keys.VerifyReceipt(rec.Receipt); err != nil || len(receipt.Votes) != 2 || receipt.Votes[0].Actor.Person != "ana" || receipt.Votes[1].Actor.Platform != "telegram" {
		t.Errorf("the receipt's votes: %+v, %v", receipt.Votes, err)
	}

	b := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Press("ana", b.On("discord"), "Run command")
	r.Press("bo", b.On("slack"), "Deny")
	if rec := b.End(); rec.State != bridge.StateDenied {
		t.Errorf("state after one denial: %s", rec.State)
	}
}

// TestVotes checks that a denial can count as one vote, that a vote can be
// changed, and that the request waits for its required approvers.
func TestVotes(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("telegram")(c)
		c.Groups = map[string]config.Group{"security": {People: []string{"cy"}}}
		route(func(r *config.Route) { r.Quorum, r.Deny, r.Must = 2, "counts", []string{"@security"} })(c)
	}})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Press("ana", a.On("telegram"), "Deny")
	r.Eventually("the denial is shown", func() bool { return strings.Contains(a.Text("telegram"), "Denied by ana") })
	r.Press("bo", a.On("telegram"), "Run command")
	r.Press("ana", a.On("telegram"), "Run command") // she changes her vote
	if rec := a.StillPending(); rec.Approvals() != 2 || rec.Missing() != "@security" {
		t.Fatalf("%d approvals, missing %q", rec.Approvals(), rec.Missing())
	}
	r.Press("cy", a.On("telegram"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved || rec.Approvals() != 3 {
		t.Errorf("%s by %v", rec.State, rec.Voters(bridge.StateApproved))
	}
	b := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Press("ana", b.On("telegram"), "Deny")
	b.StillPending()
	r.Press("bo", b.On("telegram"), "Deny")
	if rec := b.End(); rec.State != bridge.StateDenied {
		t.Errorf("state after two denials: %s", rec.State)
	}
}

// TestVotedScope checks that the narrowest scope of all approvals applies.
func TestVotedScope(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route(func(r *config.Route) { r.Quorum = 2 })(c)
	}})
	for _, c := range []struct {
		first, second string
		want          bridge.Scope
		grants        int
	}{{"Run command", render.LabelAlways, bridge.ScopeOnce, 0}, {render.LabelAlways, "Run command", bridge.ScopeOnce, 0},
		{render.LabelAlways, render.LabelSession, bridge.ScopeSession, 1}, {render.LabelAlways, render.LabelAlways, bridge.ScopeAlways, 2}} {
		req := command("make "+c.first+c.second, "s", bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
		a := r.Ask(req)
		decide := func(who, label string) {
			if label == "Run command" {
				r.Press(who, a.On("slack"), label)
				return
			}
			r.Decide(who, a.On("slack"), label)
		}
		decide("ana", c.first)
		r.Eventually("the vote is counted", func() bool { return strings.Contains(a.Text("slack"), "1 of 2") })
		decide("bo", c.second)
		if rec := a.End(); rec.Response.Scope != c.want {
			t.Errorf("%s and %s: %s", c.first, c.second, rec.Response.Scope)
		}
		if all, err := r.Agent.Grants(r.Ctx, ""); err != nil || len(all.Items) != c.grants {
			t.Errorf("%s and %s: %d grants, %v", c.first, c.second, len(all.Items), err)
		}
	}
}

// TestVotesRace checks that concurrent votes of many people on three platforms
// make one decision, with exactly the required number of votes.
func TestVotesRace(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Daemons: 2, Config: route(func(r *config.Route) { r.Quorum = 3 })})
	a := r.Ask(samples.Approval(bridge.ScopeOnce))
	done := make(chan error, 9)
	for _, who := range []string{"ana", "bo", "cy"} {
		for _, service := range rig.Services {
			go func() {
				_, err := r.Sandbox.Person(who).Press(r.Ctx, a.On(service), "Run command")
				done <- err
			}()
		}
	}
	for range 9 {
		if err := <-done; err != nil {
			t.Log(err) // a click on a card that has just closed is expected to fail
		}
	}
	rec := a.End()
	if rec.State != bridge.StateApproved || len(rec.Votes) != 3 {
		t.Errorf("%s, votes %+v", rec.State, rec.Votes)
	}
}
