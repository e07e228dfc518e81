package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/config"
)

// TestGrantsInChat checks that a grant is listed and revoked in chat by the
// people who may answer there; then the same is asked again.
func TestGrantsInChat(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			sub := *r
			sub.t = t
			req := approval(bridge.ScopeOnce, bridge.ScopeAlways)
			req.Approval.Input = []byte(`{"command":"make ` + s + `"}`)
			a := sub.ask(req)
			sub.press("ana", a.on(s), "Always allow")
			a.end()
			if rec, err := sub.agent.Open(sub.ctx, req, ""); err != nil || rec.State != bridge.StateApproved {
				t.Fatalf("the grant does not hold: %s, %v", rec.State, err)
			}
			all, err := sub.agent.Grants(sub.ctx, "")
			if err != nil || len(all) != 1 || !strings.Contains(all[0].Words, "make "+s) || !strings.Contains(all[0].Words, "by ana") {
				t.Fatalf("%+v, %v", all, err)
			}
			channel := a.on(s).Channel
			command := func(who, words string) string { return sub.commanded(who, s, channel, words)() }
			sub.eventually("it is listed", func() bool { return strings.Contains(command("bo", "/nod grants"), all[0].ID) })
			command("mal", "/nod revoke "+all[0].ID)
			if left, err := sub.agent.Grants(sub.ctx, ""); err != nil || len(left) != 1 {
				t.Fatalf("an outsider revoked: %d, %v", len(left), err)
			}
			command("bo", "/nod revoke "+all[0].ID)
			sub.eventually("it is revoked", func() bool {
				left, err := sub.agent.Grants(sub.ctx, "")
				return err == nil && len(left) == 0
			})
			rec, err := sub.agent.Open(sub.ctx, req, "")
			if err != nil || rec.State != bridge.StatePending {
				t.Errorf("a revoked grant holds: %s, %v", rec.State, err)
			}
			if _, err := sub.agent.Cancel(sub.ctx, rec.Interaction.ID, ""); err != nil {
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
	r := newRig(t, rigOptions{config: func(c *config.Config) { policyConfig(c); auditor(c) }})
	for what, x := range map[string]struct {
		line string
		want string
	}{
		"exact": {"make it", `For 24 hours in session "s", tester may repeat exactly this request: tool "bash", input {"command":"make it"}, prompt "May I?".`},
		"rule":  {"git push origin", "For 1 hour in session \"s\", tester may do anything that the rule \"push\" matches: `git push *`; without a location."},
	} {
		req := command(x.line, "s", bridge.ScopeOnce, bridge.ScopeSession)
		a := r.ask(req)
		for _, s := range services {
			if text := plain(a.text(s)); !strings.Contains(text, "Allow for this session: "+x.want) {
				t.Errorf("%s: the card in %s says %s", what, s, text)
			}
		}
		r.press("ana", a.on("slack"), "Allow for this session")
		rec := a.end()
		if len(rec.Response.Covers) != 1 || rec.Response.Covers[0] != x.want {
			t.Errorf("%s: the response says %q", what, rec.Response.Covers)
		}
		for _, s := range services {
			r.eventually("the closed card says the same", func() bool { return strings.Contains(plain(a.text(s)), "Covers: "+x.want) })
		}
		all, err := r.agent.Grants(r.ctx, "")
		if err != nil || !slices.ContainsFunc(all, func(g client.Grant) bool { return strings.HasPrefix(g.Words, x.want) }) {
			t.Errorf("%s: listed as %+v, %v", what, all, err)
		}
		listed := r.commanded("ana", "slack", a.on("slack").Channel, "/nod grants")
		r.eventually("chat lists it", func() bool { return strings.Contains(listed(), x.want) })
		want, err := json.Marshal(x.want)
		if err != nil {
			t.Fatal(err)
		}
		if log := string(exported(r)); strings.Count(log, string(want)) < 2 { // of the decision and of the grant
			t.Errorf("%s: the audit log does not say it: %s", what, log)
		}
	}
}

// plain takes out the marks of services and their spacing.
func plain(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("\u200d", "", "\u200b", "", "\\", "", "**", "").Replace(s)), " ")
}
