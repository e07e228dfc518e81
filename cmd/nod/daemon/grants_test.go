package daemon_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/render"
)

// TestGrantsInChat checks that responders can list and revoke a grant in chat,
// and that the same request is then asked again.
func TestGrantsInChat(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			sub := *r
			sub.T = t
			req := samples.Approval(bridge.ScopeOnce, bridge.ScopeAlways)
			req.Approval.Input = []byte(`{"command":"make ` + s + `"}`)
			a := sub.Ask(req)
			sub.Decide("ana", a.On(s), render.LabelAlways)
			a.End()
			if rec, err := sub.Agent.Open(sub.Ctx, req, ""); err != nil || rec.State != bridge.StateApproved {
				t.Fatalf("the grant does not apply: %s, %v", rec.State, err)
			}
			all, err := sub.Agent.Grants(sub.Ctx, "")
			if err != nil || len(all.Items) != 1 || !strings.Contains(all.Items[0].Words, "make "+s) || !strings.Contains(all.Items[0].Words, "by ana") {
				t.Fatalf("%+v, %v", all, err)
			}
			channel := a.On(s).Channel
			command := func(who, words string) string { return commanded(&sub, who, s, channel, words)() }
			sub.Eventually("it is listed", func() bool { return strings.Contains(command("bo", "/nod grants"), all.Items[0].ID) })
			command("mal", "/nod revoke "+all.Items[0].ID)
			if left, err := sub.Agent.Grants(sub.Ctx, ""); err != nil || len(left.Items) != 1 {
				t.Fatalf("an outsider revoked: %d, %v", len(left.Items), err)
			}
			command("bo", "/nod revoke "+all.Items[0].ID)
			sub.Eventually("it is revoked", func() bool {
				left, err := sub.Agent.Grants(sub.Ctx, "")
				return err == nil && len(left.Items) == 0
			})
			rec, err := sub.Agent.Open(sub.Ctx, req, "")
			if err != nil || rec.State != bridge.StatePending {
				t.Errorf("a revoked grant applies: %s, %v", rec.State, err)
			}
			if _, err := sub.Agent.Cancel(sub.Ctx, rec.Interaction.ID, ""); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCoverage checks that people read what each grant would cover before they
// can give it, and that the closed cards, the response, the lists of grants in chat and on
// the command line, and the audit log repeat that statement.
func TestCoverage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) { policyConfig(c); rig.Auditor(c) }})
	for what, x := range map[string]struct {
		line  string
		label string // the start of the control's label
		want  string
		card  string // shorter, because the card shows the request itself
	}{
		"exact": {"make it", "Approve identical requests", `For 24 hours in session "s", tester may repeat exactly this request: tool "bash", input {"command":"make it"}, prompt "May I?".`,
			`For 24 hours in session "s", tester may repeat exactly this request.`},
		"rule": {"git push origin", "Approve this and its rule", "For 1 hour in session \"s\", tester may do anything that the rule \"push\" matches: `git push *`; without a location.",
			"For 1 hour in session \"s\", tester may do anything that the rule \"push\" matches: `git push *`; without a location."},
	} {
		req := command(x.line, "s", bridge.ScopeOnce, bridge.ScopeSession)
		a := r.Ask(req)
		for _, s := range rig.Services {
			if text := plain(a.Text(s)); strings.Contains(text, x.card) {
				t.Errorf("%s: card in %s: %s", what, s, text)
			}
			label := map[bool]string{true: x.label, false: "More…"}[s == "slack"]
			r.Press("bo", a.On(s), label)
			bo := map[string]string{"slack": "U0BO000002", "discord": "300000000000000002", "telegram": "7002"}[s]
			r.Eventually("it is stated on "+s, func() bool {
				return strings.Contains(r.Stated(s, bo, a.On(s).Channel), rig.Normal(s, x.card))
			})
		}
		r.Decide("ana", a.On("slack"), x.label)
		rec := a.End()
		if len(rec.Response.Covers) != 1 || rec.Response.Covers[0] != x.want {
			t.Errorf("%s: response: %q", what, rec.Response.Covers)
		}
		for _, s := range rig.Services {
			r.Eventually("the closed card repeats the statement", func() bool { return strings.Contains(plain(a.Text(s)), "Covers: "+x.card) })
		}
		all, err := r.Agent.Grants(r.Ctx, "")
		if err != nil || !slices.ContainsFunc(all.Items, func(g client.Grant) bool { return strings.HasPrefix(g.Words, x.want) }) {
			t.Errorf("%s: listed as %+v, %v", what, all, err)
		}
		listed := commanded(r, "ana", "slack", a.On("slack").Channel, "/nod grants")
		r.Eventually("chat lists it", func() bool { return strings.Contains(listed(), x.want) })
		want, err := json.Marshal(x.want)
		if err != nil {
			t.Fatal(err)
		}
		if log := string(rig.Exported(r)); strings.Count(log, string(want)) < 2 { // for the decision and for the grant
			t.Errorf("%s: the audit log lacks the statement: %s", what, log)
		}
	}
}

// plain removes the markup and spacing of platforms.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("\u200d", "", "\u200b", "", "\\", "", "**", "").Replace(s)), " ")
}
