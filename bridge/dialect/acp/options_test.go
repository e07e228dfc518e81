package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
	"github.com/nodbridge/nod/bridge/dialect/acp"
	"github.com/nodbridge/nod/bridge/dialect/dialecttest"
	"github.com/nodbridge/nod/render"
)

// permission returns a request with options, each as KIND NAME, whose IDs are
// their numbers.
func permission(t *testing.T, options ...string) []byte {
	t.Helper()
	list := []map[string]string{}
	for n, o := range options {
		kind, name, _ := strings.Cut(o, " ")
		list = append(list, map[string]string{"optionId": fmt.Sprint(n), "kind": kind, "name": name})
	}
	raw, err := json.Marshal(map[string]any{"id": 1, "method": "session/request_permission", "params": map[string]any{
		"sessionId": "s", "toolCall": map[string]any{"toolCallId": "c", "kind": "execute", "rawInput": map[string]string{"command": "git push"}}, "options": list,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestOptions checks that people can choose each option of an agent by its name,
// and that the agent gets exactly the chosen one.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{
		"two of always":   {"allow_once Yes", "allow_always For this session", "allow_always And don't ask again for `git`", "reject_once No"},
		"Gemini CLI":      {"allow_always Allow all server tools for this session", "allow_always Allow tool for this session", "allow_always Allow tool for all future sessions", "allow_once Allow", "reject_once Reject"},
		"plan":            {"allow_always Yes, and accept edits", "allow_once Yes, and approve edits", "reject_once Revise", "reject_once Reject and exit"},
		"two of each":     {"allow_once A", "allow_once B", "reject_once C", "reject_once D", "reject_always E", "reject_always F"},
		"one of each":     {"allow_once A", "allow_always B", "reject_once C", "reject_always D"},
		"unknown kind":    {"allow_once A", "allow_twice B", "reject_once C"},
		"only for always": {"allow_always A", "allow_always B"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr, err := acp.Request(permission(t, options...))
			if err != nil {
				t.Fatal(err)
			}
			x := tr.Exchanges[0]
			r := x.Request
			if err := r.Normalize(); err != nil {
				t.Fatal(err)
			}
			i := bridge.Interaction{Ask: r.Ask, Agent: "agent"}
			shown, chosen, refusal := map[string]bool{}, map[string]bool{}, strings.Contains(strings.Join(options, "\n"), "reject")
			for _, n := range render.Ordered(i) {
				d := i.Decisions()[n]
				label := render.DecisionLabel(i, d)
				if shown[label] {
					t.Errorf("two controls say %q", label)
				}
				shown[label] = true
				resp, problem, err := i.Decide(d, bridge.Given{})
				if err != nil || problem != "" {
					t.Fatalf("%s: %q, %v", d, problem, err)
				}
				out, err := x.Answer(dialecttest.Record(t, x.Request, resp))
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := dialect.Encode(out)
				var got struct {
					Outcome struct {
						Option string `json:"optionId"`
					} `json:"outcome"`
				}
				if err := json.Unmarshal(raw, &got); err != nil || chosen[got.Outcome.Option] {
					t.Errorf("%s selects %s, which another control selects", d, raw)
				}
				if rejects := strings.Contains(strings.Join(options, "\n"), "reject"); got.Outcome.Option == "" && d == bridge.DecideDeny && !rejects {
					refusal = true
					continue
				}
				chosen[got.Outcome.Option] = true
				if option := options[got.Outcome.Option[0]-'0']; strings.HasPrefix(option, "allow") != d.Approves() {
					t.Errorf("%s selects %q", d, option)
				} else if name := strings.SplitN(option, " ", 2)[1]; i.OptionName(d) != "" && !strings.Contains(label, name) {
					t.Errorf("%q does not name %q", label, name)
				}
			}
			known := 0
			for _, o := range options {
				if !strings.HasPrefix(o, "allow_twice") {
					known++
				}
			}
			if len(chosen) != known {
				t.Errorf("%d of %d options can be chosen", len(chosen), known)
			}
			if !refusal {
				t.Error("no one can refuse")
			}
		})
	}
	many := []string{"allow_once A"}
	for range 10 {
		many = append(many, "reject_once B")
	}
	if _, err := acp.Request(permission(t, many...)); err == nil || !strings.Contains(bridge.PublicError(err).Message, "options[10]") {
		t.Errorf("too many options: %v", err)
	}
}

// TestOptionsOfNod checks that only an agent that remembers approvals itself can
// offer several options of one kind.
func TestOptionsOfNod(t *testing.T) {
	t.Parallel()
	for _, d := range []bridge.Decision{"always:2", "always:1", "always:10", "edit:2", "always:x", "always:"} {
		for _, remembers := range []bool{false, true} {
			r := bridge.Ask{Prompt: "?", Approval: &bridge.Approval{Tool: "t", AgentRemembers: remembers, Decisions: []bridge.Decision{bridge.DecideOnce, bridge.DecideAlways, d}}}
			if err := r.Normalize(); (err == nil) != (remembers && d == "always:2") {
				t.Errorf("%s, agent remembers: %t: %v", d, remembers, err)
			}
		}
	}
}

// TestOptionsNeedIDs checks that no one is asked in chat if the answer could select
// another option.
func TestOptionsNeedIDs(t *testing.T) {
	t.Parallel()
	for _, options := range []string{
		`{"optionId":"x","kind":"allow_once"},{"optionId":"x","kind":"reject_once"}`,
		`{"optionId":"x","kind":"reject_once"},{"optionId":"x","kind":"future"},{"optionId":"y","kind":"allow_once"}`,
		`{"optionId":"","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}`,
		`{"kind":"allow_once"}`,
	} {
		in := `{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t","rawInput":{"command":"ls"}},"options":[` + options + `]}}`
		if _, err := acp.Request([]byte(in)); bridge.ErrorCode(err) != bridge.CodeUnsupported {
			t.Errorf("%s: %v", options, err)
		}
	}
}
