package daemon_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/config"
)

// TestGrantsInChat checks that a grant is listed and revoked in chat by the
// people who may answer there; then the same is asked again.
func TestGrantsInChat(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			sub := *r
			sub.T = t
			req := rig.Approval(bridge.ScopeOnce, bridge.ScopeAlways)
			req.Approval.Input = []byte(`{"command":"make ` + s + `"}`)
			a := sub.Ask(req)
			sub.Press("ana", a.On(s), "Always allow")
			a.End()
			if rec, err := sub.Agent.Open(sub.Ctx, req, ""); err != nil || rec.State != bridge.StateApproved {
				t.Fatalf("the grant does not hold: %s, %v", rec.State, err)
			}
			all, err := sub.Agent.Grants(sub.Ctx, "")
			if err != nil || len(all) != 1 || !strings.Contains(all[0].Words, "make "+s) || !strings.Contains(all[0].Words, "by ana") {
				t.Fatalf("%+v, %v", all, err)
			}
			channel := a.On(s).Channel
			command := func(who, words string) string { return commanded(&sub, who, s, channel, words)() }
			sub.Eventually("it is listed", func() bool { return strings.Contains(command("bo", "/nod grants"), all[0].ID) })
			command("mal", "/nod revoke "+all[0].ID)
			if left, err := sub.Agent.Grants(sub.Ctx, ""); err != nil || len(left) != 1 {
				t.Fatalf("an outsider revoked: %d, %v", len(left), err)
			}
			command("bo", "/nod revoke "+all[0].ID)
			sub.Eventually("it is revoked", func() bool {
				left, err := sub.Agent.Grants(sub.Ctx, "")
				return err == nil && len(left) == 0
			})
			rec, err := sub.Agent.Open(sub.Ctx, req, "")
			if err != nil || rec.State != bridge.StatePending {
				t.Errorf("a revoked grant holds: %s, %v", rec.State, err)
			}
			if _, err := sub.Agent.Cancel(sub.Ctx, rec.Interaction.ID, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCoverage checks that the statement of what a grant covers is on every open
// card next to the choice, and that the closed cards, the response, the list of
// grants in chat and on the command line, and the audit log repeat it.
func TestCoverage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { policyConfig(c); rig.Auditor(c) }})
	for what, x := range map[string]struct {
		line string
		want string
	}{
		"exact": {"make it", `For 24 hours in session "s", tester may repeat exactly this request: tool "bash", input {"command":"make it"}, prompt "May I?".`},
		"rule":  {"git push origin", "For 1 hour in session \"s\", tester may do anything that the rule \"push\" matches: `git push *`; without a location."},
	} {
		req := command(x.line, "s", bridge.ScopeOnce, bridge.ScopeSession)
		a := r.Ask(req)
		for _, s := range rig.Services {
			if text := plain(a.Text(s)); !strings.Contains(text, "Allow for this session: "+x.want) {
				t.Errorf("%s: the card in %s says %s", what, s, text)
			}
		}
		r.Press("ana", a.On("slack"), "Allow for this session")
		rec := a.End()
		if len(rec.Response.Covers) != 1 || rec.Response.Covers[0] != x.want {
			t.Errorf("%s: the response says %q", what, rec.Response.Covers)
		}
		for _, s := range rig.Services {
			r.Eventually("the closed card says the same", func() bool { return strings.Contains(plain(a.Text(s)), "Covers: "+x.want) })
		}
		all, err := r.Agent.Grants(r.Ctx, "")
		if err != nil || !slices.ContainsFunc(all, func(g client.Grant) bool { return strings.HasPrefix(g.Words, x.want) }) {
			t.Errorf("%s: listed as %+v, %v", what, all, err)
		}
		listed := commanded(r, "ana", "slack", a.On("slack").Channel, "/nod grants")
		r.Eventually("chat lists it", func() bool { return strings.Contains(listed(), x.want) })
		want, err := json.Marshal(x.want)
		if err != nil {
			t.Fatal(err)
		}
		if log := string(rig.Exported(r)); strings.Count(log, string(want)) < 2 { // of the decision and of the grant
			t.Errorf("%s: the audit log does not say it: %s", what, log)
		}
	}
}

// plain takes out the marks of services and their spacing.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("\u200d", "", "\u200b", "", "\\", "", "**", "").Replace(s)), " ")
}
