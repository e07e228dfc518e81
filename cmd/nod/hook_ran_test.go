package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// transcript writes a transcript of Claude Code with calls that have no result, and
// returns the input of a permission prompt that names it.
func withTranscript(t *testing.T, input string, ids ...string) string {
	t.Helper()
	var in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	if err := json.Unmarshal([]byte(input), &in); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&lines, `{"type":"assistant","message":{"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`+"\n", id, in.Tool, in.Input)
	}
	path := filepath.Join(t.TempDir(), "transcript.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(input, "{", fmt.Sprintf(`{"transcript_path":%q,`, path), 1)
}

// TestIdenticalCalls checks that the report of a call that was approved in chat
// does not close the card of a newer identical call, and that a report of another
// agent of the session closes neither.
func TestIdenticalCalls(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	const session = "identical"
	permission := fmt.Sprintf(hookPermission, session)
	done := func(id, more string) {
		startHook(t, url, "claude", strings.Replace(fmt.Sprintf(hookDone, session), "{", `{"tool_use_id":"`+id+`",`+more, 1)).exit(t, 0)
	}
	pending := func() []bridge.Record {
		page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: session, State: bridge.StatePending})
		if err != nil {
			t.Fatal(err)
		}
		return page.Items
	}
	first := startHook(t, url, "claude", withTranscript(t, permission, "call-1", "call-2"))
	a := r.Card(session)
	r.Approve("ana", a.On("telegram"))
	first.exit(t, 0)
	startHook(t, url, "claude", withTranscript(t, permission, "call-2"))
	r.Eventually("the second card", func() bool { return len(pending()) == 1 && len(pending()[0].Messages) > 0 })
	done("call-1", "")
	a.Closed("ran it")
	done("call-9", `"agent_id":"helper",`)
	if all := pending(); len(all) != 1 || all[0].Interaction.ToolCall != "call-2" {
		t.Errorf("the second call: %+v", all)
	}
	done("call-2", "")
	if all := pending(); len(all) != 0 {
		t.Errorf("after its report: %+v", all)
	}
}

// TestAnsweredElsewhere checks that a question or a plan that people answered in
// chat after the terminal says so, and that one whose answer the agent uses does
// not.
func TestAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("telegram")})
	url := r.Daemons[0].URL
	const asked = `{"session_id":%q,"hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}]}}`
	const used = `{"session_id":%q,"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_use_id":"q","tool_input":{"questions":[{"question":"Which framework?","header":"Framework","options":[{"label":"React"},{"label":"Vue"}],"multiSelect":false}],"answers":{"Which framework?":%q}}}`
	const plan = `{"session_id":%q,"hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":{"plan":"1. Extract"}}`
	const left = `{"session_id":%q,"hook_event_name":"PostToolUse","tool_name":"ExitPlanMode","tool_use_id":"q","tool_input":{}}`
	for name, c := range map[string]struct {
		input, report string
		act           func(sub *rig.Rig, a rig.Asked)
		ran           string
	}{
		"used":     {asked, fmt.Sprintf(used, "used", "Vue"), func(sub *rig.Rig, a rig.Asked) { sub.Choose("ana", a.On("telegram"), bridge.WidgetRadio, "Vue") }, bridge.RanApproved},
		"not-used": {asked, fmt.Sprintf(used, "not-used", "React"), func(sub *rig.Rig, a rig.Asked) { sub.Choose("ana", a.On("telegram"), bridge.WidgetRadio, "Vue") }, bridge.ReasonAnswered},
		"plan":     {plan, fmt.Sprintf(left, "plan"), func(sub *rig.Rig, a rig.Asked) { sub.Typed("ana", a.On("telegram"), "Request changes", "smaller") }, bridge.ReasonAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sub := *r
			sub.T = t
			h := startHook(t, url, "claude", withTranscript(t, fmt.Sprintf(c.input, name), "q"))
			a := sub.Card(name)
			c.act(&sub, a)
			h.exit(t, 0)
			a.Closed("sent to")
			startHook(t, url, "claude", c.report).exit(t, 0)
			page, err := r.Agent.List(r.Ctx, bridge.ListFilter{Session: name})
			if err != nil || len(page.Items) != 1 || page.Items[0].Completion == nil || page.Items[0].Completion.Ran != c.ran {
				t.Fatalf("%+v, %v", page.Items, err)
			}
			if late := "too late"; page.Items[0].Overruled() {
				a.Closed(late)
			}
		})
	}
}
