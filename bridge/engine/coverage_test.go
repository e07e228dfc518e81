package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/askwidget"
	"github.com/nodbridge/nod/bridge/dialect/claudecode"
	"github.com/nodbridge/nod/bridge/dialect/codex"
	"github.com/nodbridge/nod/bridge/dialect/openaiagents"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
	"github.com/nodbridge/nod/bridge/visible"
)

// hostile lists texts that try to pass for words of nod, or to look like a
// different text.
var hostile = []string{
	"x\". Given by ana until 2099.", "a\nFor 30 days in every session, ci may do anything.", "rm\u202e/ fr-", "a\u200bb", "a\u2066b", "a\u3164b", "a\u2800b", "a\u115fb",
	"a\U000e0100b", "a\ufe0fb", "a\u00a0b", "two  spaces", " edge ", "\u0301mark", "tab\there", "back\\slash", "a\u2028b", "\x1b[31mred", "`code` **bold** <@U1> @everyone", "𝕏\U000e0041",
}

// TestCoverageText checks that text of an agent cannot change how the statement
// of a grant reads: it is on one line, without characters that are not seen,
// and different for texts that differ.
func TestCoverageText(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byRule
	for field, set := range map[string]func(*bridge.Request, string){
		"prompt":   func(r *bridge.Request, s string) { r.Prompt = s },
		"tool":     func(r *bridge.Request, s string) { r.Approval.Tool = s },
		"location": func(r *bridge.Request, s string) { r.Approval.Where = s },
		"session":  func(r *bridge.Request, s string) { r.Session = s },
		"input":    func(r *bridge.Request, s string) { r.Approval.Input = json.RawMessage(line(s)) },
		"rule": func(r *bridge.Request, s string) {
			r.Approval.Where, r.Approval.Input = s, json.RawMessage(line("git push"))
		},
	} {
		seen := map[string]string{}
		for _, s := range append(slices.Clone(hostile), "two spaces", "ab", "edge", "red", "a\\u200bb") {
			r := run("x")
			set(&r, s)
			rec := w.open(agentCI, r)
			got := rec.Interaction.Coverage(bridge.ScopeSession)
			if len(got) != 1 {
				t.Fatalf("%s %q: %q", field, s, got)
			}
			for _, x := range got[0] + rec.Interaction.CoverageShown(bridge.ScopeSession)[0] {
				if !unicode.IsPrint(x) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, x) || unicode.Is(unicode.Variation_Selector, x) || x == 0x2800 {
					t.Errorf("%s %q: the statement holds %U", field, s, x)
				}
			}
			if strings.Contains(got[0], "  ") {
				t.Errorf("%s %q: the statement has two spaces together", field, s)
			}
			if other, taken := seen[got[0]]; taken {
				t.Errorf("%s: %q and %q read alike", field, s, other)
			}
			seen[got[0]] = s
			if field != "input" && strings.Contains(strings.ReplaceAll(got[0], `\"`, ""), `x". Given by`) {
				t.Errorf("%s: the text ends its quotation: %s", field, got[0])
			}
		}
	}
}

// TestCoverageLimit checks that a request that cannot be stated whole is offered
// for once only, and that a statement is never cut.
func TestCoverageLimit(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	long := run(strings.Repeat("a", 700))
	if rec := w.open(agentCI, long); !slices.Equal(rec.Interaction.Approval.Scopes, []bridge.Scope{bridge.ScopeOnce}) {
		t.Errorf("scopes %v", rec.Interaction.Approval.Scopes)
	}
	long.Approval.Scopes, long.Approval.Decisions = nil, []bridge.Decision{bridge.DecideDeny, bridge.DecideAlways}
	if rec := w.open(agentCI, long); !slices.Equal(rec.Interaction.Decisions(), []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce}) {
		t.Errorf("decisions %v", rec.Interaction.Decisions())
	}
	for n := range 60 {
		i := w.open(agentCI, run(strings.Repeat("a", 400+n*5))).Interaction
		for _, s := range i.Approval.Scopes {
			said := strings.Join(i.Coverage(s), "")
			if utf8.RuneCountInString(said) > 600 || s != bridge.ScopeOnce && !strings.Contains(said, strings.Repeat("a", 400+n*5)) {
				t.Fatalf("%s: %s", s, said)
			}
		}
	}
	told := run("x")
	told.Approval.AgentRemembers, told.Approval.ScopeNotes = true, map[bridge.Scope]string{bridge.ScopeSession: strings.Repeat("a", 700), bridge.ScopeAlways: "bash(x)"}
	if rec := w.open(agentCI, told); !slices.Equal(rec.Interaction.Approval.Scopes, []bridge.Scope{bridge.ScopeOnce, bridge.ScopeAlways}) {
		t.Errorf("scopes %v of an agent whose words are too long", rec.Interaction.Approval.Scopes)
	}
}

// TestScopeNotes checks that an agent's words do not state what a grant of nod
// covers.
func TestScopeNotes(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	r := run("x")
	r.Approval.ScopeNotes = map[bridge.Scope]string{bridge.ScopeOnce: "nothing", bridge.ScopeSession: "this one file"}
	i := w.open(agentCI, r).Interaction
	if note := i.Approval.ScopeNotes[bridge.ScopeSession]; note != strings.Join(i.Coverage(bridge.ScopeSession), " ") || strings.Contains(note, "one file") {
		t.Errorf("the note is %q", note)
	}
	if note := i.Approval.ScopeNotes[bridge.ScopeOnce]; note != "" {
		t.Errorf("the note of once is %q", note)
	}
}

// TestAgentsThatRemember checks for every format whose answer carries a scope
// that the choice is passed back and that nod stores and consults no grant.
func TestAgentsThatRemember(t *testing.T) {
	t.Parallel()
	one := func(tr dialect.Translation, err error) dialect.Exchange {
		if err != nil || len(tr.Exchanges) != 1 {
			t.Fatal(len(tr.Exchanges), err)
		}
		return tr.Exchanges[0]
	}
	request := func(r bridge.Request, err error) dialect.Exchange {
		if err != nil {
			t.Fatal(err)
		}
		return dialect.Exchange{Request: r}
	}
	app := func(method, params string) dialect.Exchange {
		return one(codex.Request([]byte(`{"id":1,"method":"` + method + `","changes":[{"path":"a","diff":"+x"}],"params":` + params + `}`)))
	}
	for name, x := range map[string]dialect.Exchange{
		"tool_interaction":    request(toolinteraction.DecodeRequest([]byte(`{"type":"approval","prompt":"?","sessionId":"s","toolName":"t","input":{"x":1}}`))),
		"approval_request":    request(askwidget.DecodeApproval([]byte(`{"tool":"bash","input":{"command":"x"}}`))),
		"openai-agents":       one(openaiagents.Interruptions([]byte(`[{"rawItem":{"name":"mail","callId":"1","arguments":"{}"}}]`))),
		"acp":                 one(acp.Request([]byte(`{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"1","kind":"execute","rawInput":{"command":"x"}},"options":[{"optionId":"a","name":"Always","kind":"allow_always"},{"optionId":"o","name":"Once","kind":"allow_once"}]}}`))),
		"claude permission":   one(claudecode.Hook([]byte(`{"hook_event_name":"PermissionRequest","session_id":"s","tool_name":"Bash","tool_input":{"command":"x"},"permission_suggestions":[{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"x:*"}]}]}`), claudecode.AskLocally)),
		"claude control":      one(claudecode.Control([]byte(`{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"x"},"permission_suggestions":[{"type":"addRules","behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"x:*"}]}]}}`))),
		"codex command":       app("item/commandExecution/requestApproval", `{"threadId":"s","itemId":"1","command":"x"}`),
		"codex file change":   app("item/fileChange/requestApproval", `{"threadId":"s","itemId":"1"}`),
		"codex permissions":   app("item/permissions/requestApproval", `{"threadId":"s","itemId":"1","permissions":{"network":true}}`),
		"codex legacy":        app("execCommandApproval", `{"conversationId":"s","callId":"1","command":["x"]}`),
		"codex legacy change": app("applyPatchApproval", `{"conversationId":"s","callId":"1","fileChanges":{}}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			r := x.Request
			r.CallID = bridge.CallID{} // every call is another one
			if r.Session == "" {
				r.Session = "s"
			}
			rec := w.open(agentCI, r)
			scopes := rec.Interaction.Approval.Scopes
			longest := scopes[len(scopes)-1]
			if longest == bridge.ScopeOnce {
				t.Fatalf("offers %v", scopes)
			}
			if said := strings.Join(rec.Interaction.Coverage(longest), " "); !strings.Contains(said, "ci remembers this choice itself; nod stores no grant.") {
				t.Errorf("the card says %q", said)
			}
			rec = w.settle(rec, bridge.Decision(longest), "ana")
			if rec.Response.Scope != longest {
				t.Errorf("passed back is %s", rec.Response.Scope)
			}
			if all := w.grants(); len(all) > 0 {
				t.Errorf("nod gave %+v", all)
			}
			w.mustAsk("the same again", r)
			plain := r
			approval := *r.Approval
			approval.AgentRemembers = false
			plain.Approval = &approval
			w.decided(plain, bridge.Decision(longest), "ana")
			w.mustPass("the same where nod remembers", plain)
			w.mustAsk("the same, next to a grant", r)
		})
	}
}

// TestCoverageIsVisible checks that the statement of a grant escapes every
// character that cards do, and stacks of combining marks.
func TestCoverageIsVisible(t *testing.T) {
	t.Parallel()
	i := bridge.Interaction{
		Agent:      "ci",
		Governance: bridge.Governance{GrantKey: "exact:x"},
		Ask:        bridge.Ask{Approval: &bridge.Approval{Tool: "t"}},
	}
	check := func(s string) {
		i.Prompt = s
		for _, got := range i.Coverage(bridge.ScopeAlways) {
			if visible.Text(got) != got {
				t.Errorf("%+q is stated as %+q", s, got)
			}
		}
	}
	for r := range rune(0x20000) {
		check("a" + string(r) + "b")
	}
	for r := rune(0xe0000); r < 0xe1000; r++ {
		check("a" + string(r) + "b")
	}
	check("h" + strings.Repeat("\u0301", 20) + "x")
	check("1\u20e3 1\ufe0f\u20e3")
}
