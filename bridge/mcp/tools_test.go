package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
)

// TestAskHuman checks which widget a question gets, and the result that the
// model receives.
func TestAskHuman(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s", Route: "r"}, "", nil)
	options := func(n int) string {
		return `"options":[` + strings.Join(slices.Repeat([]string{`{"value":"v@","description":"d"}`}, n), ",") + `]`
	}
	for name, x := range map[string]struct {
		args   string
		widget bridge.Widget
		other  bool
		given  bridge.Answer
		want   any
	}{
		"text":       {`"allow_other":true`, bridge.WidgetTextarea, false, bridge.TextAnswer("a\nb"), "a\nb"},
		"few":        {options(5), bridge.WidgetButtons, false, bridge.TextAnswer("v1"), "v1"},
		"many":       {options(6) + `,"allow_other":true`, bridge.WidgetRadio, true, bridge.TextAnswer("else"), "else"},
		"several":    {options(3) + `,"multiple":true`, bridge.WidgetCheckbox, false, bridge.ListAnswer("v1", "v2"), []any{"v1", "v2"}},
		"none of it": {options(3) + `,"multiple":true,"timeout":"5m"`, bridge.WidgetCheckbox, false, bridge.ListAnswer(), []any{}},
	} {
		args := `{"question":"` + name + `?",` + x.args + "}"
		for n := 1; strings.Contains(args, "@"); n++ {
			args = strings.Replace(args, "@", string(rune('0'+n)), 1)
		}
		done := begin(t.Context(), t, s, "ask_human", args)
		rec := <-p.asked
		i := rec.Interaction
		if q := i.Questions[0]; i.Kind != bridge.KindAsk || i.Session != "s" || i.Route != "r" || i.Prompt != name+"?" || q.Widget != x.widget || q.AllowOther != x.other {
			t.Errorf("%s asks %+v", name, i)
		}
		timeout := time.Hour
		if strings.Contains(args, "5m") {
			timeout = 5 * time.Minute
		}
		if d := time.Until(i.Deadline); d > timeout || d < timeout-time.Minute {
			t.Errorf("%s leaves people %s", name, d)
		}
		r := by("ana", bridge.StateAnswered)
		r.Answers = map[string]bridge.Answer{"answer": x.given}
		p.respond(i.ID, r)
		got := <-done
		if d := cmp.Diff(x.want, got.Answer); d != "" || got.Status != "answered" || got.By != "ana" || got.ID != string(i.ID) {
			t.Errorf("%s: %+v, (-want +got):\n%s", name, got, d)
		}
	}
}

// TestRequestApproval checks that people see the exact input, and that the hint
// tells the model to do exactly what was approved.
func TestRequestApproval(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s"}, "", nil)
	session := by("ana", bridge.StateApproved)
	session.Scope = bridge.ScopeSession
	edited, denied := by("ana", bridge.StateApproved), by("ana", bridge.StateDenied)
	edited.Input, denied.Reason = json.RawMessage(`{"command":"ls"}`), "no"
	deny, once, edit := []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideOnce}, bridge.DecideOnce, bridge.DecideEdit
	for name, x := range map[string]struct {
		args, tool, input string
		offers            []bridge.Decision
		response          bridge.Response
		want              answer
		hint              string
	}{
		"a command":   {`"command":"rm <x>"`, "shell", `{"command":"rm <x>"}`, append(slices.Clone(deny), edit), by("ana", bridge.StateApproved), answer{Status: "approved", By: "ana"}, "exactly what was approved"},
		"a tool":      {`"tool":"drop","input":{"a":1}`, "drop", `{"a":1}`, append(slices.Clone(deny), edit), edited, answer{Status: "approved", By: "ana", Input: edited.Input}, "changed the input"},
		"words":       {`"tool":"deploy"`, "deploy", ``, deny, denied, answer{Status: "denied", By: "ana", Reason: "no"}, "Do not do it"},
		"a session":   {`"command":"ls","tool":"bash"`, "bash", `{"command":"ls"}`, append(slices.Clone(deny), edit), session, answer{Status: "approved", By: "ana"}, "for this session"},
		"no response": {`"timeout":"10m"`, "", ``, deny, bridge.Response{State: bridge.StateExpired}, answer{Status: "expired"}, "neither an approval nor a denial"},
	} {
		done := begin(t.Context(), t, s, "request_approval", `{"action":"`+name+`",`+x.args+`}`)
		rec := <-p.asked
		a := rec.Interaction.Approval
		if a.Tool != x.tool || string(a.Input) != x.input || !slices.Contains(a.Decisions, once) || cmp.Diff(x.offers, a.Decisions) != "" {
			t.Errorf("%s asks %+v with %s", name, a, a.Input)
		}
		p.respond(rec.Interaction.ID, x.response)
		got := <-done
		if !strings.Contains(got.Hint, x.hint) {
			t.Errorf("%s: the hint is %q", name, got.Hint)
		}
		got.Hint, x.want.ID = "", string(rec.Interaction.ID)
		if d := cmp.Diff(x.want, got, cmp.AllowUnexported(answer{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestScoped checks that an approval for the rest of the session is offered
// only if the session is a single run of an agent and the input is exact.
func TestScoped(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s", Scoped: true}, "", nil)
	for args, offered := range map[string]bool{`{"action":"a","command":"ls"}`: true, `{"action":"a"}`: false} {
		done := begin(t.Context(), t, s, "request_approval", args)
		rec := <-p.asked
		if slices.Contains(rec.Interaction.Approval.Decisions, bridge.DecideSession) != offered {
			t.Errorf("%s offers %q", args, rec.Interaction.Approval.Decisions)
		}
		p.respond(rec.Interaction.ID, by("ana", bridge.StateDenied))
		<-done
	}
}

// TestNotify checks that a notice returns when it is shown.
func TestNotify(t *testing.T) {
	t.Parallel()
	p := newPeople()
	done := begin(t.Context(), t, connect(t, mcp.Options{Asker: p, Session: "s"}, "", nil), "notify", `{"message":"It is done"}`)
	rec := <-p.asked
	if rec.Interaction.Kind != bridge.KindNotice || rec.Interaction.Prompt != "It is done" {
		t.Errorf("it shows %+v", rec.Interaction)
	}
	p.respond(rec.Interaction.ID, bridge.Response{State: bridge.StateAnswered})
	if got := <-done; got.Status != "shown" || got.Answer != nil {
		t.Errorf("%+v", got)
	}
}

// TestBadCalls checks that an invalid call sends no request, and that the model
// reads what is wrong.
func TestBadCalls(t *testing.T) {
	t.Parallel()
	p := newPeople()
	s := connect(t, mcp.Options{Asker: p, Session: "s"}, "", nil)
	for _, x := range []struct{ tool, args, says string }{
		{"ask_human", `{"question":" "}`, "invalid"},
		{"ask_human", `{"question":"?","timeout":"soon"}`, "timeout"},
		{"request_approval", `{"action":"a","timeout":"soon"}`, "timeout"},
		{"request_approval", `{"action":"a","command":"ls","input":{"a":1}}`, "command"},
		{"check", `{"id":"x"}`, "invalid"},
		{"check", `{"id":"0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03"}`, "not_found"},
		{"ask_human", `{}`, ""},
		{"unknown", `{}`, ""},
	} {
		if got := <-begin(t.Context(), t, s, x.tool, x.args); got.failure == "" || !strings.Contains(got.failure, x.says) {
			t.Errorf("%s with %s: %+v", x.tool, x.args, got)
		}
	}
	if len(p.asked) > 0 {
		t.Errorf("people were asked %+v", <-p.asked)
	}
}

// TestTools checks that each tool has a description for models, and that the
// tools for Claude Code are offered only to it.
func TestTools(t *testing.T) {
	t.Parallel()
	for claude, want := range map[bool][]string{
		false: {"ask_human", "check", "notify", "request_approval"}, true: {"ask_human", "check", "notify", "permission_prompt", "request_approval"},
	} {
		s := connect(t, mcp.Options{Asker: newPeople(), Session: "s", Claude: claude}, "", nil)
		all, err := s.ListTools(t.Context(), &sdk.ListToolsParams{})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range all.Tools {
			names = append(names, tool.Name)
			if tool.Description == "" || tool.Title == "" {
				t.Errorf("%s has no description", tool.Name)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("the tools are %q, want %q", names, want)
		}
	}
}
