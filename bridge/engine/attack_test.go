package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/redact"
)

var allScopes = []bridge.Scope{bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways}

// always is a request for which every scope is on offer.
func always(command string) bridge.Request {
	r := shell(command)
	r.Session, r.Approval.Decisions, r.Approval.Scopes = "s", nil, allScopes
	return r
}

// TestGrantAfterChangedRules checks that a grant that is given after the
// requirements changed covers the same request as before, with its note.
func TestGrantAfterChangedRules(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.agents["ci"] = bridge.Agent{Name: "ci"}
	w := newWorld(t, s)
	noted := always("make prune")
	noted.Error = "this is a dry run"
	rec := w.open(s.agents["ci"], noted)
	key := rec.Interaction.GrantKey

	s.routes["default"] = routeTo("C1", "ana")
	w.reload(s)
	w.press("ana", rec.Interaction.ID, "C1", "always", "") // is told that the rules changed
	if got := w.get(rec.Interaction.ID).Interaction; got.Terms != 1 || got.GrantKey != key {
		t.Errorf("after %d changes the key is %s, was %s", got.Terms, got.GrantKey, key)
	}
	if v := w.press("ana", rec.Interaction.ID, "C1", "always", ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	if got := w.open(s.agents["ci"], always("make prune")); got.State != bridge.StatePending {
		t.Errorf("a request without the note is %s: %v", got.State, got.Response.Covers)
	}
	if got := w.open(s.agents["ci"], noted); got.State != bridge.StateApproved {
		t.Errorf("the same request is %s", got.State)
	}
}

// TestHiddenGrantAfterChangedRules checks that what a grant covers does not
// become the masked text when the requirements change.
func TestHiddenGrantAfterChangedRules(t *testing.T) {
	t.Parallel()
	s := newSetup()
	masks, err := redact.New(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.hide, s.agents["ci"] = masks, bridge.Agent{Name: "ci"}
	s.policy = ruledBy(bridge.Ruling{GrantFor: bridge.Duration(time.Hour)})
	w := newWorld(t, s)
	r := always("make prune")
	r.Approval.Input = json.RawMessage(`{"command":"make prune","password":"hunter2-hunter2"}`)
	rec := w.open(s.agents["ci"], r)
	was := rec.Interaction

	s.routes["default"] = routeTo("C1", "ana")
	w.reload(s)
	w.press("ana", was.ID, "C1", "always", "")
	got := w.get(was.ID).Interaction
	if got.Terms != 1 || got.GrantKey != was.GrantKey || got.GrantFor != was.GrantFor {
		t.Errorf("after %d changes: %s for %v, was %s for %v", got.Terms, got.GrantKey, got.GrantFor, was.GrantKey, was.GrantFor)
	}
	w.press("ana", was.ID, "C1", "always", "")
	masked := always("make prune")
	masked.Approval.Input = got.Approval.Input
	if now := w.open(s.agents["ci"], masked); now.State != bridge.StatePending {
		t.Errorf("the masked text is %s", now.State)
	}
}

// TestTermsEnd checks that a control never approves under requirements that
// changed as often as the count in its token has values.
func TestTermsEnd(t *testing.T) {
	t.Parallel()
	s := newSetup()
	w := newWorld(t, s)
	rec := w.open(bridge.Agent{Name: "ci"}, shell("make"))
	id := rec.Interaction.ID
	first := w.drawn(id, "C1")
	for n := range 256 {
		s.routes["default"] = routeTo("C1", "ana", []string{"cy", "bo"}[n%2]) // each lacks one of those before
		w.reload(s)
		_ = w.answer("ana", id, bridge.Reply{Decision: "once", Terms: new(w.get(id).Interaction.Terms)})
		if w.get(id).State.Final() {
			break
		}
	}
	w.pressOn("ana", first, "C1", "once", "")
	if got := w.get(id); got.State == bridge.StateApproved {
		t.Errorf("the first card approved after %d changes", got.Interaction.Terms)
	}
}

// TestReplyOfFormerTerms checks that a reply that does not state the terms it
// read counts as a reply to the request as it was opened.
func TestReplyOfFormerTerms(t *testing.T) {
	t.Parallel()
	s := newSetup()
	w := newWorld(t, s)
	rec := w.open(bridge.Agent{Name: "ci"}, shell("make"))
	s.routes["default"] = routeTo("C1", "ana")
	w.reload(s)
	for range 2 {
		if err := w.answer("ana", rec.Interaction.ID, bridge.Reply{Decision: "once"}); err == nil {
			t.Error("was taken")
		}
	}
	if err := w.answer("ana", rec.Interaction.ID, bridge.Reply{Decision: "deny"}); err != nil {
		t.Error(err)
	}
}

// TestSilenceApprovesNoPlan checks that no request can turn a deadline into
// the approval of a plan.
func TestSilenceApprovesNoPlan(t *testing.T) {
	t.Parallel()
	plan := func(decision string) bridge.Request {
		a := bridge.JSONAnswer(`{"decision":"` + decision + `"}`)
		if decision == bridge.PlanRequestChanges {
			a = bridge.JSONAnswer(`{"decision":"` + decision + `","feedback":"nobody read it"}`)
		}
		return bridge.Request{Ask: bridge.Ask{
			Prompt: "?", OnTimeout: bridge.OnTimeoutDefault, Questions: []bridge.Question{
				{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: "rm -rf /", Default: &a},
			},
		}}
	}
	r := plan(bridge.PlanApprove)
	if err := r.Normalize(); err == nil {
		t.Error("silence approves a plan")
	}
	r = plan(bridge.PlanRequestChanges)
	if err := r.Normalize(); err != nil {
		t.Error(err)
	}
}

// TestSecretsInSecrets checks that what is nested in a field with a secret name
// is hidden too.
func TestSecretsInSecrets(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for _, in := range []string{
		`{"tokens":["short",{"note":"` + token + `"}]}`,
		`{"token":["some-value",{"note":"` + token + `","password":"hunter2-hunter2"}]}`,
		`{"name":"DB_PASSWORD","value":{"note":"` + token + `","password":"hunter2-hunter2"}}`,
		`{"credentials":[["x",[{"password":"hunter2-hunter2","deep":"` + token + `"}]]]}`,
	} {
		got := string(w.open(agentCI, ask("?", "tool", in)).Interaction.Approval.Input)
		if strings.Contains(got, token) || strings.Contains(got, "hunter2-hunter2") {
			t.Errorf("%s is shown as %s", in, got)
		}
	}
}

// TestCommandInText checks that a mask in a command is guarded wherever the
// command is.
func TestCommandInText(t *testing.T) {
	t.Parallel()
	w := newGoverned(t)
	for in, want := range map[string]bool{
		`{"message":{"command":"curl -u a:hunter2hunter2 x"}}`: true, `{"env":{"cmd":["curl","-u","a:hunter2hunter2"]}}`: true,
		`{"command":"curl -u a:hunter2hunter2 x"}`: true, `{"env":{"DATABASE_URL":"postgres://a:hunter2hunter2@h/d"}}`: false,
		`{"message":"curl -u a:hunter2hunter2 x"}`: false,
	} {
		i := w.open(agentCI, ask("?", "tool", in)).Interaction
		if i.Redacted == 0 || i.RedactedCommand != want || want != (i.Approval.Confirm != "") {
			t.Errorf("%s: %d hidden, guarded %v, confirm %q", in, i.Redacted, i.RedactedCommand, i.Approval.Confirm)
		}
	}
}

// TestGrantsArePrivate checks that people see and end the grants of the routes
// they respond on, and no others.
func TestGrantsArePrivate(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.agents["ci"] = bridge.Agent{Name: "ci", Owners: []string{"eve"}}
	w := newWorld(t, s)
	r := always("make secret-project")
	r.Route = "prod"
	rec := w.open(s.agents["ci"], r)
	if v := w.press("cy", rec.Interaction.ID, "C2", "always", ""); v.Kind != bridge.VerdictSettled {
		t.Fatalf("%+v", v)
	}
	all, err := w.engine.Grants.List(t.Context(), "")
	if err != nil || len(all.Items) != 1 {
		t.Fatal(all, err)
	}
	say := func(who, text string) string {
		out, err := w.engine.Command(t.Context(), bridge.Command{Text: text, Channels: []string{"C1", "C2"},
			Actor: bridge.Actor{Platform: "chat", User: "U-" + who}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	id := all.Items[0].ID()
	if got := say("ana", "grants"); strings.Contains(got, "secret-project") || strings.Contains(got, id) {
		t.Errorf("ana reads %s", got)
	}
	if got := say("ana", "revoke "+id); strings.Contains(got, "secret-project") || strings.Contains(got, "Revoked") {
		t.Errorf("ana ends it: %s", got)
	}
	for _, who := range []string{"cy", "di"} {
		if got := say(who, "grants"); !strings.Contains(got, "secret-project") {
			t.Errorf("%s reads %s", who, got)
		}
	}
	for who, want := range map[string]int{"ana": 0, "cy": 1, "di": 1, "eve": 1} {
		got, err := w.engine.Grants.ListFor(t.Context(), bridge.Actor{Platform: bridge.PlatformAPI, User: who, Person: who})
		if err != nil || len(got.Items) != want {
			t.Errorf("%s: %v %v", who, got, err)
		}
	}
	if got := say("di", "revoke "+id); !strings.Contains(got, "Revoked") {
		t.Errorf("di: %s", got)
	}
}

// TestEscalationKeepsChanges checks that a request that escalates at its timeout
// keeps requirements that have changed twice: it ends without the people of the
// first route.
func TestEscalationKeepsChanges(t *testing.T) {
	t.Parallel()
	s := newSetup()
	boss := s.routes["default"]
	boss.Steps = []bridge.Step{{After: bridge.Duration(time.Hour), Route: "boss"}}
	s.routes["default"], s.routes["boss"], s.routes["sec"] = boss, routeTo("C4", "di"), routeTo("C3", "eve")
	w := newWorld(t, s)
	r := shell("make")
	r.OnTimeout, r.Timeout = bridge.OnTimeoutEscalate, bridge.Duration(time.Minute)
	rec := w.open(bridge.Agent{Name: "ci"}, r)
	id := rec.Interaction.ID
	for _, routes := range [][]string{{"prod"}, {"prod", "sec"}} {
		s.policy = ruledBy(bridge.Ruling{Routes: routes})
		w.reload(s)
		_ = w.answer(map[int]string{1: "ana", 2: "cy"}[len(routes)], id, bridge.Reply{Decision: "once", Terms: new(w.get(id).Interaction.Terms)})
	}
	before := w.get(id).Interaction
	if before.Terms != 2 {
		t.Fatalf("changed %d times", before.Terms)
	}
	w.pass(2 * time.Minute)
	w.eventually("it has expired", func() bool { return w.get(id).State == bridge.StateExpired })
	after := w.get(id)
	if after.Interaction.Terms != before.Terms || len(after.Interaction.Requirements) != len(before.Requirements) {
		t.Errorf("terms %d, was %d: %+v", after.Interaction.Terms, before.Terms, after.Interaction.Requirements)
	}
	if spent := after.Response.At.Sub(after.Interaction.Created); spent < 2*time.Minute {
		t.Errorf("it expired after %s, want twice its timeout", spent)
	}
	if slices.ContainsFunc(after.Interaction.Responders, func(r bridge.Responder) bool { return r.Person == "ana" }) {
		t.Error("the people of the first route may approve again")
	}
}
