package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/toolinteraction"
)

// TestAgentKey checks that the key that an agent sends widens no grant.
func TestAgentKey(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byRule
	w.decided(run("git push origin"), bridge.DecideAlways, "ana")
	for _, key := range []string{"rule:push: `git push *`", "k-git push", "rule:k-git push"} {
		forged := ask("May I?", "db", `{"sql":"DROP TABLE users"}`)
		forged.Approval.Key = key
		w.mustAsk("a tool with the key "+key, forged)
	}
	for _, g := range w.grants() {
		forged := ask("May I?", "db", `{"sql":"DROP TABLE users"}`)
		forged.Approval.Key = g.Key
		w.mustAsk("a tool with the key of a grant", forged)
	}
	first := ask("Restart staging?", "ops", `{"do":"restart"}`)
	first.Approval.Key = "same"
	w.decided(first, bridge.DecideAlways, "ana")
	second := ask("Restart staging?", "ops", `{"do":"delete"}`)
	second.Approval.Key = "same"
	w.mustAsk("another input under the same key", second)
}

// TestExactGrant checks that a grant covers the exact same request and no
// request that differs in anything that people see.
func TestExactGrant(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	base := func() bridge.Request {
		r := ask("Restart staging?", "ops", `{"do":"restart","n":1}`)
		r.Approval.Where = "/repo"
		return r
	}
	w.decided(base(), bridge.DecideSession, "ana")
	w.mustPass("the same request", base())
	spelled := base()
	spelled.Approval.Input = json.RawMessage(`{ "n": 1, "do": "restart" }`)
	w.mustPass("the same input in another order", spelled)
	for what, change := range map[string]func(*bridge.Request){
		"prompt":    func(r *bridge.Request) { r.Prompt = "Delete prod-db?" },
		"tool":      func(r *bridge.Request) { r.Approval.Tool = "db" },
		"tool name": func(r *bridge.Request) { r.ToolName = "db" },
		"no tool":   func(r *bridge.Request) { r.Approval.Tool = "" },
		"input":     func(r *bridge.Request) { r.Approval.Input = json.RawMessage(`{"do":"restart","n":2}`) },
		"no input":  func(r *bridge.Request) { r.Approval.Input = nil },
		"location":  func(r *bridge.Request) { r.Approval.Where = "/other" },
		"nowhere":   func(r *bridge.Request) { r.Approval.Where = "" },
		"session":   func(r *bridge.Request) { r.Session = "other" },
		"error":     func(r *bridge.Request) { r.Error = "Delete prod-db instead." },
	} {
		r := base()
		change(&r)
		w.mustAsk("another "+what, r)
	}
	if rec := w.open(bridge.Agent{Name: "other"}, base()); rec.State != bridge.StatePending {
		t.Errorf("the same request of another agent is %s", rec.State)
	}
}

// TestPromptOnlyGrant checks that approvals that have only a prompt share
// nothing.
func TestPromptOnlyGrant(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.decided(ask("restart staging?", "", ""), bridge.DecideSession, "ana")
	w.mustAsk("another prompt", ask("delete prod-db?", "", ""))
	w.mustPass("the same prompt", ask("restart staging?", "", ""))
}

// TestMaskedGrant checks that two credentials that are masked alike are two
// requests.
func TestMaskedGrant(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	with := func(secret string) bridge.Request {
		return ask("Log in?", "http", `{"password":"`+secret+`","host":"db"}`)
	}
	rec := w.decided(with("first-secret-1"), bridge.DecideSession, "ana")
	if rec.Interaction.Redacted == 0 {
		t.Fatal("nothing was masked")
	}
	w.mustAsk("another secret", with("other-secret-2"))
	w.mustPass("the same secret", with("first-secret-1"))
}

// TestMaskedRounds checks that a later round, which asks with what nod kept of
// the first, cannot be granted if a part of that was masked.
func TestMaskedRounds(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	round := func(secret string) bridge.Record {
		rec := w.open(agentCI, ask("Log in?", "http", `{"password":"`+secret+`","host":"db"}`))
		next, err := w.engine.Reprompt(t.Context(), agentCI, rec.Interaction.ID, bridge.Request{Ask: bridge.Ask{
			Error: "Again.",
		}}, "")
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	waiting, rec := round("first-secret-1"), round("other-secret-2")
	if scopes := rec.Interaction.Approval.Scopes; len(scopes) != 1 || scopes[0] != bridge.ScopeOnce {
		t.Errorf("offers %v", scopes)
	}
	if rec, err := w.engine.Answer(t.Context(), rec.Interaction.ID, bridge.Actor{Platform: bridge.PlatformAPI, User: "ana", Person: "ana"}, bridge.Reply{Decision: bridge.DecideAlways}); err == nil {
		t.Errorf("it was granted: %+v", rec.Response)
	}
	if got, err := w.engine.Get(t.Context(), waiting.Interaction.ID); err != nil || got.State != bridge.StatePending {
		t.Errorf("the other is %s, %v", got.State, err)
	}
}

// TestMaskedLocation checks that a request whose location is masked can only be
// approved once: another location may be masked alike.
func TestMaskedLocation(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byRule
	r := run("git push")
	r.Approval.Where = "https://ci:first-secret-1@example.com/repo"
	rec, err := w.engine.Open(t.Context(), agentCI, r, "")
	if err != nil {
		t.Fatal(err)
	}
	a := rec.Interaction.Approval
	if strings.Contains(a.Where, "first-secret-1") || !slices.Equal(a.Scopes, []bridge.Scope{bridge.ScopeOnce}) {
		t.Errorf("%q offers %v", a.Where, a.Scopes)
	}
}

// TestRuleGrants checks that every part of a request has to be covered, and
// that a request that no rule covers whole passes on no rule.
func TestRuleGrants(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byRule
	w.decided(run("git push origin"), bridge.DecideSession, "ana")
	w.mustPass("what the rule matches", run("git push dev"))
	w.mustAsk("a part that no rule covers", run("git push; kubectl delete ns prod"))
	w.mustAsk("a part of another rule", run("git push; make clean"))
	rec := w.decided(run("git push; make"), bridge.DecideSession, "bo")
	if len(rec.Response.Covers) != 2 {
		t.Errorf("the response states %q", rec.Response.Covers)
	}
	w.mustPass("both rules", run("make all; git push"))
	w.mustPass("the second rule alone", run("make x"))
	if n := len(w.grants()); n != 2 {
		t.Errorf("%d grants", n)
	}
	// One of them can be revoked.
	for _, g := range w.grants() {
		if strings.Contains(g.Words(), `"make"`) {
			if _, err := w.engine.Grants.Revoke(t.Context(), "", g.ID(), "ana"); err != nil {
				t.Fatal(err)
			}
		}
	}
	// An agent that still waits for the answer does not bring it back.
	if _, err := w.engine.Await(t.Context(), rec.Interaction.ID); err != nil {
		t.Fatal(err)
	}
	w.mustPass("the rule that is left", run("git push x"))
	w.mustAsk("the rule that was revoked", run("git push; make"))
	elsewhere := run("git push dev")
	elsewhere.Approval.Where = "/other"
	w.mustAsk("another location", elsewhere)
}

// TestEditedRule checks that the grants of a rule end when its key changes, as
// it does when the rule is edited.
func TestEditedRule(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byRule
	w.decided(run("git push origin"), bridge.DecideAlways, "ana")
	w.rule = func(a bridge.Act) bridge.Ruling {
		r := byRule(a)
		for n := range r.Grants {
			r.Grants[n].Key += " edited"
		}
		return r
	}
	w.mustAsk("an edited rule", run("git push origin"))
	w.rule = func(a bridge.Act) bridge.Ruling { // as for a line that is not plain
		r := byRule(a)
		r.Grants = nil
		return r
	}
	w.mustAsk("a line that no rule grants", run("git push origin"))
}

// TestGrantRequirements checks that a grant never skips what the current policy
// requires and those who gave it did not meet.
func TestGrantRequirements(t *testing.T) {
	t.Parallel()
	for what, x := range map[string]struct {
		given, now bridge.Ruling
		by         []string
		want       bool
	}{
		"nothing changed":        {by: []string{"ana"}, want: true},
		"denied now":             {now: bridge.Ruling{Effect: bridge.EffectDeny}, by: []string{"ana"}},
		"one of two":             {now: bridge.Ruling{Quorum: 2}, by: []string{"ana"}},
		"two of two":             {given: bridge.Ruling{Quorum: 2}, now: bridge.Ruling{Quorum: 2}, by: []string{"ana", "bo"}, want: true},
		"more than needed":       {given: bridge.Ruling{Quorum: 2}, by: []string{"ana", "bo"}, want: true},
		"another route":          {now: bridge.Ruling{Routes: []string{"prod"}}, by: []string{"ana"}},
		"another route's person": {now: bridge.Ruling{Routes: []string{"prod"}}, by: []string{"bo"}},
		"a route more":           {given: bridge.Ruling{Routes: []string{"default"}}, now: bridge.Ruling{Routes: []string{"default", "prod"}}, by: []string{"bo"}},
		"a quorum of the route":  {now: bridge.Ruling{Routes: []string{"both"}}, by: []string{"ana"}},
		"a required approver":    {now: bridge.Ruling{Routes: []string{"must"}}, by: []string{"ana"}},
		"a typed confirmation":   {now: bridge.Ruling{Confirm: "prod"}, by: []string{"ana"}},
		"another confirmation":   {given: bridge.Ruling{Confirm: "dev"}, now: bridge.Ruling{Confirm: "prod"}, by: []string{"ana"}},
		"the same confirmation":  {given: bridge.Ruling{Confirm: "prod"}, now: bridge.Ruling{Confirm: "prod"}, by: []string{"ana"}, want: true},
		"a higher risk":          {given: bridge.Ruling{Risk: "low"}, now: bridge.Ruling{Risk: "high"}, by: []string{"ana"}},
		"a risk":                 {now: bridge.Ruling{Risk: "high"}, by: []string{"ana"}},
		"the same risk":          {given: bridge.Ruling{Risk: "high"}, now: bridge.Ruling{Risk: "high"}, by: []string{"ana"}, want: true},
		"a scope not on offer":   {now: bridge.Ruling{Scopes: []bridge.Scope{bridge.ScopeOnce}}, by: []string{"ana"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newGoverned(t)
			ruling := func(r bridge.Ruling) func(bridge.Act) bridge.Ruling {
				if r.Effect == "" {
					r.Effect = bridge.EffectAsk
				}
				return func(bridge.Act) bridge.Ruling { return r }
			}
			w.rule = ruling(x.given)
			if rec := w.decided(run("make x"), bridge.DecideAlways, x.by...); rec.State != bridge.StateApproved {
				t.Fatalf("%+v", rec)
			}
			w.rule = ruling(x.now)
			if got := w.passes(run("make x")); got != x.want {
				t.Errorf("covered: %v", got)
			}
		})
	}
}

// TestGrantForOwnRequest checks that a grant does not approve a request of the
// person who gave it, which that person could not approve.
func TestGrantForOwnRequest(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	r := run("make x")
	r.Requester = "bo"
	w.decided(r, bridge.DecideAlways, "ana")
	w.mustPass("the same requester", r)
	r.Requester = "ana"
	w.mustAsk("a request of the person who gave the grant", r)
}

// TestToolRemembers checks that nod gives and consults no grant where the tool
// keeps approvals itself, and that what a tool remembers lets nothing pass.
func TestToolRemembers(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	decode := func() bridge.Request {
		r, err := toolinteraction.DecodeRequest([]byte(`{"type":"approval","prompt":"Delete?","sessionId":"s","toolName":"files","input":{"path":"/x"},"approvalScopes":["once","session","always"]}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	rec := w.decided(decode(), bridge.DecideAlways, "ana")
	if rec.Response.Scope != bridge.ScopeAlways {
		t.Errorf("the choice is not passed back: %+v", rec.Response)
	}
	if all := w.grants(); len(all) != 0 {
		t.Errorf("nod gave %+v", all)
	}
	w.mustAsk("a request of a tool that remembers itself", decode())
	// A grant of the same request that came another way is not consulted.
	plain := decode()
	plain.Approval.AgentRemembers = false
	w.decided(plain, bridge.DecideAlways, "ana")
	w.mustPass("the same request where nod remembers", plain)
	w.mustAsk("a request of a tool that remembers itself, next to a grant", decode())
	if err := w.engine.Grants.Remember(t.Context(), "ci", "files:/y", bridge.ScopeAlways, ""); err != nil {
		t.Fatal(err)
	}
	advised := ask("Delete?", "files", `{"path":"/y"}`)
	advised.Approval.Key = "files:/y"
	w.mustAsk("what a tool remembers", advised)
	tool := bridge.ToolContext{Asker: w.engine.As(agentCI), Session: "s", ToolName: "files"}
	go func() {
		_, _ = tool.RequestInteraction(t.Context(), plain, bridge.Handlers{OnResponse: func(context.Context, bridge.UserResponse) (bridge.Outcome, error) { return bridge.Complete{}, nil }})
	}()
	w.eventually("the handler's request is asked", func() bool {
		ids, err := w.store.Pending(t.Context(), "ci", "s")
		if err != nil {
			t.Fatal(err)
		}
		return len(ids) == 1
	})
}

// TestRelease checks that a new grant approves a pending request only if it
// covers the request under the current policy.
func TestRelease(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	w.rule = byRule
	same, other, mixed := w.open(agentCI, run("git push a")), w.open(agentCI, run("make a")), w.open(agentCI, run("git push; make"))
	strict := run("git push b")
	waiting, denied := w.open(agentCI, strict), w.open(agentCI, run("git push d"))
	masked := w.open(agentCI, ask("May I?", "bash", `{"command":"git push c","password":"hunter2-hunter2"}`))
	w.rule = func(a bridge.Act) bridge.Ruling {
		r := byRule(a)
		if strings.Contains(string(a.Input), "push b") {
			r.Confirm = "prod"
		}
		if strings.Contains(string(a.Input), "push d") {
			r.Effect = bridge.EffectDeny
		}
		return r
	}
	w.decided(run("git push x"), bridge.DecideSession, "ana")
	state := func(r bridge.Record) bridge.State {
		got, err := w.engine.Get(t.Context(), r.Interaction.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.State
	}
	if s := state(same); s != bridge.StateApproved {
		t.Errorf("a pending request that is covered is %s", s)
	}
	for what, r := range map[string]bridge.Record{"another rule": other, "a part more": mixed, "a confirmation that is required now": waiting, "an input that nod does not hold whole": masked, "what is denied now": denied} {
		if s := state(r); s != bridge.StatePending {
			t.Errorf("%s is %s", what, s)
		}
	}
}
