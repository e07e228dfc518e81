package daemon_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// TestNightOnCall checks that a channel reads like the night that it shows: a page,
// no answer, a hand-over, a quorum with a required person, a change of shift, and a
// denial although the schedule cannot be read.
func TestNightOnCall(t *testing.T) {
	t.Parallel()
	var shift atomic.Value // who has it at PagerDuty
	shift.Store("bo")
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"oncalls":[{"escalation_level":1,"user":{"id":"P-%s"}}]}`, shift.Load())
	}))
	t.Cleanup(pages.Close)
	schedule := func(url string) config.OnCall {
		return config.OnCall{PagerDuty: &config.Schedule{URL: url, Schedule: "S", Token: config.NewSecret("a-token-of-the-schedule")}}
	}
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		c.OnCall = map[string]config.OnCall{
			"primary": schedule(pages.URL), "away": schedule("http://127.0.0.1:1"),
		}
		for _, who := range []string{"bo", "mal"} {
			p := c.People[who]
			p.IDs = map[string]string{"pagerduty": "P-" + who}
			c.People[who] = p
		}
		c.Groups = map[string]config.Group{"oncall": {OnCall: "primary"}, "second": {OnCall: "away"}}
		route(func(r *config.Route) {
			r.Responders, r.Quorum, r.Must, r.HandOver = []string{"ana", "@second"}, 2, []string{"cy"}, []string{"cy"}
			r.Escalation = []config.Step{{After: later, Ask: []string{"@oncall"}}}
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
	r.Due(life.JobStep, a.Interaction.ID, 0)
	reads("More people were asked: bo (Slack).")
	r.Eventually("bo is mentioned", func() bool { return messages(r, "slack", " left to decide (until ") == 1 })
	handed, _ := r.Open("ana", a.On("slack"), "Delegate to cy")
	r.Told("ana", "slack", handed, "nod mentions cy on Slack")
	reads("cy (Slack)")
	r.Press("ana", a.On("slack"), "Run command")
	reads("1 of 2 approved: ana. Still needed: cy")
	r.Press("bo", a.On("slack"), "Run command")
	reads("2 of 3 approved: ana, bo. Still needed: cy")
	shift.Store("mal")
	rec, err := r.Daemons[0].Store().Load(r.Ctx, a.Interaction.ID)
	if err != nil {
		t.Fatal(err)
	}
	r.Eventually("the shift changes", func() bool { // the answer of the service is kept for five seconds
		return r.Daemons[0].Engine().People.MayAnswer(r.Ctx, rec.Interaction, bridge.Actor{Platform: bridge.PlatformAPI, User: "mal", Person: "mal"})
	})
	reads("2 of 3 approved: ana, bo. Still needed: cy") // the vote of bo still counts
	r.Press("cy", a.On("slack"), "Run command")
	if rec := a.End(); rec.State != bridge.StateApproved || len(rec.Votes) != 3 {
		t.Errorf("it is %s with %d votes", rec.State, len(rec.Votes))
	}
	a.Closed("Approved by ana, bo and cy")
	later := r.Ask(req)
	r.Due(life.JobStep, later.Interaction.ID, 0)
	r.Eventually("mal has the page now", func() bool { return strings.Contains(later.Text("slack"), "More people were asked: mal (Slack).") })
	r.Told("bo", "slack", r.Press("bo", later.On("slack"), "Run command"), "cannot read @second")
	r.Press("mal", later.On("slack"), render.LabelDeny)
	if rec := later.End(); rec.State != bridge.StateDenied || rec.Response.Actor.Person != "mal" {
		t.Errorf("it is %s", rec.State)
	}
	next := r.Ask(samples.Approval(bridge.ScopeOnce))
	r.Told("bo", "slack", r.Press("bo", next.On("slack"), "Run command"), "cannot read @second")
	r.Press("bo", next.On("slack"), render.LabelDeny) // no schedule is needed to say no
	if rec := next.End(); rec.State != bridge.StateDenied || rec.Response.Actor.Person != "bo" {
		t.Errorf("it is %s", rec.State)
	}
}
