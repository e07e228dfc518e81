package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
)

// TestAnswerTooLate checks that the card of a call never claims more than nod
// knows: an answer is sent until the agent reports that the call ran, and an answer
// that the agent cannot have followed came too late.
func TestAnswerTooLate(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	const late = "Ran: allowed at the terminal"
	record := func(session string) bridge.Record {
		page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: session})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%s: %+v, %v", session, page.Items, err)
		}
		return page.Items[0]
	}
	ran := func(session string) { startHook(t, url, "claude", fmt.Sprintf(hookDone, session)).exit(t, 0) }
	for name, c := range map[string]struct {
		decide func(t *testing.T, sub *rig.Rig, h *hooked, a rig.Asked)
		sent   string // on the card before the report
		ran    string // in the record after it
		want   string // on the card after it
	}{
		"denied": {func(t *testing.T, sub *rig.Rig, h *hooked, a rig.Asked) {
			sub.Press("ana", a.On("telegram"), "Deny")
			h.exit(t, 0)
		}, "sent to", bridge.ReasonAllowed, late},
		"approved": {func(t *testing.T, sub *rig.Rig, h *hooked, a rig.Asked) {
			sub.Approve("ana", a.On("telegram"))
			h.exit(t, 0)
		}, "sent to", bridge.RanApproved, "ran it"},
		"approved after the hook was killed": {func(t *testing.T, sub *rig.Rig, h *hooked, a rig.Asked) {
			if err := h.cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			<-h.done
			sub.Approve("ana", a.On("telegram"))
		}, "Approved", bridge.ReasonAllowed, late},
	} {
		t.Run(name, func(t *testing.T) {
			sub := *r
			sub.T = t
			session := strings.ReplaceAll(name, " ", "-")
			h := startHook(t, url, "claude", fmt.Sprintf(hookPermission, session))
			a := sub.Card(session)
			c.decide(t, &sub, h, a)
			a.Closed(c.sent)
			startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookDone, session), "git push", "git pull", 1)).exit(t, 0)
			if rec := record(session); rec.Completion != nil {
				t.Errorf("another call: %+v", rec.Completion)
			}
			ran(session)
			a.Closed(c.want)
			rec := record(session)
			if rec.Completion == nil || rec.Completion.Ran != c.ran || rec.Overruled() != (c.want == late) {
				t.Fatalf("the record: %+v", rec.Completion)
			}
			if got := rec.Outcome(); rec.Overruled() && !strings.HasPrefix(got, "ran: allowed at the terminal") {
				t.Errorf("outcome %q", got)
			}
			ran(session) // another report changes nothing
			if again := record(session); again.Revision != rec.Revision {
				t.Errorf("revision %d, then %d", rec.Revision, again.Revision)
			}
		})
	}
}

// TestRedactedCallCloses checks that a report closes the card of a call whose input
// nod shows with a redacted credential.
func TestRedactedCallCloses(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	const secret = "curl -H 'Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789' x"
	with := func(in string) string {
		raw, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Replace(in, `"git push"`, string(raw), 1)
	}
	startHook(t, url, "claude", with(fmt.Sprintf(hookPermission, "redacted")))
	a := r.Card("redacted")
	startHook(t, url, "claude", with(fmt.Sprintf(hookDone, "redacted"))).exit(t, 0)
	a.Closed("Approved in the terminal")
}
