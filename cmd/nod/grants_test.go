package main

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// A standing yes is listed in words, and revoked in chat by those who may
// answer there; then the same is asked again.
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
