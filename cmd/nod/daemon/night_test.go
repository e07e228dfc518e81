package daemon_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// TestNightOnCall checks that a channel reads like the night that it shows: a page,
// no answer, a hand-over, a quorum with a required person, and a denial although the
// schedule cannot be read.
func TestNightOnCall(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		c.OnCall = map[string]config.OnCall{
			"primary": {Rotation: &config.Rotation{People: config.Words{"bo"}, Start: time.Now().Add(-time.Hour), Every: config.Duration(24 * time.Hour)}},
			"away":    {PagerDuty: &config.Schedule{URL: "http://127.0.0.1:1", Schedule: "S", Token: config.NewSecret("a-token-of-the-schedule")}},
		}
		c.Groups = map[string]config.Group{"oncall": {OnCall: "primary"}, "second": {OnCall: "away"}}
		route(func(r *config.Route) {
			r.Responders, r.Quorum, r.Must, r.HandOver = []string{"ana", "@second"}, 2, []string{"cy"}, config.Words{"cy"}
			r.Escalation = []config.Step{{After: later, Ask: config.Words{"@oncall"}}}
		})(c)
	}})
	req := samples.Approval(bridge.ScopeOnce)
	req.Timeout = bridge.Duration(3 * time.Hour)
	a := r.Ask(req)
	reads := func(words string) {
		t.Helper()
		r.Eventually("the card says "+words, func() bool { return strings.Contains(a.Text("slack"), words) })
	}
	reads("0 of 2 approved")
	r.Due(bridge.JobStep, a.Interaction.ID, 0)
	reads("More people were asked: bo (Slack).")
	r.Eventually("bo is mentioned", func() bool { return messages(r, "slack", "decide until ") == 1 })
	handed, _ := r.Open("ana", a.On("slack"), "Hand over to cy")
	r.Told("ana", "slack", handed, "nod mentions cy on Slack")
	reads("cy (Slack)")
	r.Press("ana", a.On("slack"), "Run command")
	reads("1 of 2 approved: ana. Still needed: 1 more, cy")
	r.Press("bo", a.On("slack"), "Run command")
	reads("2 of 3 approved: ana, bo. Still needed: cy")
	r.Press("cy", a.On("slack"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved || len(rec.Votes) != 3 {
		t.Errorf("it is %s with %d votes", rec.State, len(rec.Votes))
	}
	a.Closed("Approved by ana, bo and cy")
	next := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Told("bo", "slack", r.Press("bo", next.On("slack"), "Run command"), "cannot read @second")
	r.Press("bo", next.On("slack"), render.LabelDeny) // no schedule is needed to say no
	if rec := next.End(); rec.State != bridge.StateDenied || rec.Response.Actor.Person != "bo" {
		t.Errorf("it is %s", rec.State)
	}
}
