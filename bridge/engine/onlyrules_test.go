package engine_test

import (
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestOnlyRules checks that a request whose agent decides on its own afterward
// asks people only if a rule says so, and that no caller can pretend that it was
// left to the agent.
func TestOnlyRules(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byWord(map[string]bridge.Ruling{"ask": {}, "deny": {Effect: bridge.EffectDeny}, "allow": {Effect: bridge.EffectAllow}})
	ruled := w.rule
	w.rule = func(a bridge.Act) bridge.Ruling {
		r := ruled(a)
		if r.Rule == "none" {
			r.Rule = "" // no rule matches
		}
		return r
	}
	only := func(command string) bridge.Request {
		r := run(command)
		r.OnlyRules = true
		return r
	}
	for command, want := range map[string]bridge.State{
		"none x": bridge.StateCancelled, "allow x": bridge.StateCancelled, "ask x": bridge.StatePending, "deny x": bridge.StateDenied,
	} {
		rec := w.open(agentCI, only(command))
		if rec.State != want || want == bridge.StateCancelled && (rec.Response.Reason != bridge.ReasonLeft || len(rec.Messages) > 0) {
			t.Errorf("%s: %s, %+v", command, rec.State, rec.Response)
		}
	}
	if rec := w.open(agentCI, run("none y")); rec.State != bridge.StatePending {
		t.Errorf("a request of an agent that waits for people: %s", rec.State)
	}
	rec := w.open(agentCI, only("ask y"))
	if _, err := w.engine.Cancel(t.Context(), rec.Interaction.ID, bridge.ReasonLeft); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a caller cancelled with a reserved reason: %v", err)
	}
	if _, err := w.engine.Sessions.Stop(t.Context(), person("bo"), agentCI.Name, rec.Interaction.Session); err != nil {
		t.Fatal(err)
	}
	if rec := w.open(agentCI, only("none z")); rec.State != bridge.StateDenied || !rec.Response.Stops() {
		t.Errorf("in a stopped session: %s, %+v", rec.State, rec.Response)
	}
}
