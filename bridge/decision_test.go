package bridge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
)

// asked returns a normalized approval in its stored form.
func asked(t *testing.T, a bridge.Approval) bridge.Interaction {
	t.Helper()
	var r bridge.Request
	r.Prompt, r.Session, r.Approval = "May I?", "s", &a
	if err := r.Normalize(); err != nil {
		t.Fatal(err)
	}
	i := bridge.Interaction{ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Agent: "ci", Ask: r.Ask}
	i.Created = time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	return i
}

func all() bridge.Approval {
	return bridge.Approval{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Decisions: []bridge.Decision{
		bridge.DecideOnce, bridge.DecideDeny, bridge.DecideEdit, bridge.DecideAlways, bridge.DecideSession, bridge.DecideDenyReason,
		bridge.DecideDenyAlways, bridge.DecideDenyStop}}
}

// TestDecide checks the response of each decision, and that a decision that is
// not offered is rejected.
func TestDecide(t *testing.T) {
	t.Parallel()
	i := asked(t, all())
	given := bridge.Given{Reason: "no", Input: json.RawMessage(`{ "command": "pwd" }`)}
	for d, want := range map[bridge.Decision]bridge.Response{
		bridge.DecideOnce:       {State: bridge.StateApproved, Scope: bridge.ScopeOnce},
		bridge.DecideSession:    {State: bridge.StateApproved, Scope: bridge.ScopeSession},
		bridge.DecideAlways:     {State: bridge.StateApproved, Scope: bridge.ScopeAlways},
		bridge.DecideEdit:       {State: bridge.StateApproved, Scope: bridge.ScopeOnce, Input: json.RawMessage(`{"command":"pwd"}`)},
		bridge.DecideDeny:       {State: bridge.StateDenied, Reason: "no"},
		bridge.DecideDenyReason: {State: bridge.StateDenied, Reason: "no"},
		bridge.DecideDenyAlways: {State: bridge.StateDenied, Reason: "no", Scope: bridge.ScopeAlways},
		bridge.DecideDenyStop:   {State: bridge.StateDenied, Reason: "no", Stop: true},
	} {
		got, problem, err := i.Decide(d, given)
		if diff := cmp.Diff(want, got); err != nil || problem != "" || diff != "" {
			t.Errorf("%s: %q, %v, (-want +got):\n%s", d, problem, err, diff)
		}
		if d.Approves() != (want.State == bridge.StateApproved) {
			t.Errorf("%s approves: %t", d, d.Approves())
		}
	}
	if _, _, err := i.Decide("maybe", given); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a decision that is not offered: %v", err)
	}
}

// TestEdited checks which edited inputs a person may approve.
func TestEdited(t *testing.T) {
	t.Parallel()
	i := asked(t, all())
	for input, accepted := range map[string]bool{
		`{"command":"ls"}`: true, `{}`: true, `[]`: false, `"ls"`: false, `{`: false, "": false, "{\"a\":\"\xff\"}": false,
		`{"a":1,"a":2}`: false, `{"a":"` + strings.Repeat("x", bridge.MaxInput) + `"}`: false,
	} {
		r, problem, err := i.Decide(bridge.DecideEdit, bridge.Given{Input: json.RawMessage(input)})
		if err != nil || (problem == "") != accepted || (r.State == bridge.StateApproved) != accepted {
			t.Errorf("%.40q: %s, %q, %v", input, r.State, problem, err)
		}
	}
	if r, _, _ := i.Decide(bridge.DecideEdit, bridge.Given{Input: json.RawMessage(`{"command":"ls"}`)}); r.Input != nil {
		t.Errorf("an unchanged input counts as a change: %s", r.Input)
	}
	if got := i.Approval.EditText(); got != "{\n  \"command\": \"ls\"\n}" {
		t.Errorf("people edit %q", got)
	}
	if got := (bridge.Approval{Input: json.RawMessage(`{`)}).EditText(); got != "{" {
		t.Errorf("people edit %q", got)
	}
}

// TestConfirm checks that an approval with typed confirmation requires the
// exact text, and that a denial does not.
func TestConfirm(t *testing.T) {
	t.Parallel()
	a := all()
	a.Confirm, a.Decisions = "prod", []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce}
	i := asked(t, a)
	for typed, approved := range map[string]bool{"prod": true, " prod\n": true, "Prod": false, "": false} {
		r, problem, err := i.Decide(bridge.DecideOnce, bridge.Given{Confirm: typed})
		if err != nil || (r.State == bridge.StateApproved) != approved || (problem == "") != approved {
			t.Errorf("%q: %s, %q, %v", typed, r.State, problem, err)
		}
	}
	if r, _, err := i.Decide(bridge.DecideDeny, bridge.Given{}); err != nil || r.State != bridge.StateDenied {
		t.Errorf("a denial: %s, %v", r.State, err)
	}
}

// TestOnCard checks which decisions have a control on the card, and the order of
// the others.
func TestOnCard(t *testing.T) {
	t.Parallel()
	i := asked(t, all())
	var card, more []bridge.Decision
	for _, n := range i.OnCard() {
		card = append(card, i.Decisions()[n])
	}
	for _, n := range i.More() {
		more = append(more, i.Decisions()[n])
	}
	if !slices.Equal(card, []bridge.Decision{bridge.DecideOnce, bridge.DecideDeny}) || !slices.Equal(more, []bridge.Decision{bridge.DecideSession,
		bridge.DecideAlways, bridge.DecideEdit, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideDenyStop}) {
		t.Errorf("on the card: %q, behind More: %q", card, more)
	}
	i.Approval.Decisions = []bridge.Decision{bridge.DecideDenyReason, bridge.DecideSession, bridge.DecideEdit}
	if got := i.OnCard(); !slices.Equal(got, []int{1, 0}) || !slices.Equal(i.More(), []int{2}) {
		t.Errorf("without the plain decisions, the card has %v, and More %v", got, i.More())
	}
	i.Approval.Decisions = []bridge.Decision{bridge.DecideOnce}
	if got := i.OnCard(); !slices.Equal(got, []int{0}) || len(i.More()) > 0 {
		t.Errorf("with one decision, the card has %v, and More %v", got, i.More())
	}
}

// TestOnOffer checks which decisions an agent can offer, their display order,
// and which controls open an input.
func TestOnOffer(t *testing.T) {
	t.Parallel()
	i := asked(t, all())
	want := []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways, bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways, bridge.DecideEdit}
	got := slices.Clone(i.Decisions())
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("offered: %q, want %q", got, want)
	}
	for n, d := range i.Decisions() {
		action, question, option := i.DecisionControl(n)
		typed := d == bridge.DecideDenyReason || d == bridge.DecideEdit
		direct := d == bridge.DecideOnce || d == bridge.DecideDeny
		if (action == bridge.ActionChoose) != direct || d.OnePress(i.Approval) == typed || direct && option != n || !direct && d != bridge.DecideDenyReason && question != n {
			t.Errorf("%s: %v %d %d", d, action, question, option)
		}
		below, _, _ := i.StatedControl(n)
		if want := map[bool]bridge.Action{true: bridge.ActionInput, false: bridge.ActionSubmit}[typed]; !direct && below != want {
			t.Errorf("%s below its text: %v", d, below)
		}
		c := bridge.Control{Action: action, Question: question, Option: option}
		if c.Denies(i) == d.Approves() || c.Declines(i) == d.Approves() {
			t.Errorf("%s: %+v denies %t", d, c, c.Denies(i))
		}
	}
	for name, change := range map[string]func(*bridge.Approval){
		"unknown":       func(a *bridge.Approval) { a.Decisions = append(a.Decisions, "maybe") },
		"duplicate":     func(a *bridge.Approval) { a.Decisions = append(a.Decisions, bridge.DecideDeny) },
		"no approval":   func(a *bridge.Approval) { a.Decisions = []bridge.Decision{bridge.DecideDeny} },
		"two inputs":    func(a *bridge.Approval) { a.Confirm = "prod" },
		"other scopes":  func(a *bridge.Approval) { a.Scopes = []bridge.Scope{bridge.ScopeOnce} },
		"several lines": func(a *bridge.Approval) { a.Confirm, a.Decisions = "a\nb", nil },
		"unknown scope": func(a *bridge.Approval) { a.ScopeNotes = map[bridge.Scope]string{"forever": "x"} },
		"long statement": func(a *bridge.Approval) {
			a.ScopeNotes = map[bridge.Scope]string{bridge.ScopeOnce: strings.Repeat("x", bridge.MaxText+1)}
		},
	} {
		var r bridge.Request
		a := all()
		change(&a)
		r.Prompt, r.Session, r.Approval = "?", "s", &a
		if err := r.Normalize(); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := all()
	long.Input = json.RawMessage(`{"command":"` + strings.Repeat("x", bridge.DefaultMaxLength) + `"}`)
	if got := asked(t, long).Decisions(); slices.Contains(got, bridge.DecideEdit) {
		t.Errorf("an input that no native input can hold can be edited: %q", got)
	}
	a := all()
	a.Input = nil
	var r bridge.Request
	r.Prompt, r.Approval = "?", &a
	if err := r.Normalize(); err != nil || slices.Contains(r.Approval.Decisions, bridge.DecideEdit) || slices.Contains(r.Approval.Decisions, bridge.DecideSession) {
		t.Errorf("without input and session: %q, %v", r.Approval.Decisions, err)
	}
}

// TestCoverage checks that a statement lists everything that a grant covers,
// its duration and its location, and makes invisible characters visible.
func TestCoverage(t *testing.T) {
	t.Parallel()
	a := all()
	a.Where, a.Input = "/srv", json.RawMessage("{\"command\":\"ls \u200b\U000e0061\"}")
	i := asked(t, a)
	i.Grantable(bridge.Ruling{}, i, "d1")
	for s, want := range map[bridge.Scope][]string{
		bridge.ScopeSession: {`in session "s"`, "ci", `tool "Bash"`, `location "/srv"`, `\u200b\udb40\udc61`, `prompt "May I?"`, "hour"},
		bridge.ScopeAlways:  {"in every session", "days"},
	} {
		got := strings.Join(i.Coverage(s), "\n")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in %s", s, w, got)
			}
		}
		if i.Approval.ScopeNotes[s] != got {
			t.Errorf("%s: the note is %q", s, i.Approval.ScopeNotes[s])
		}
	}
	if got := i.Coverage(bridge.ScopeOnce); got != nil {
		t.Errorf("once covers %q", got)
	}
	i.Grantable(bridge.Ruling{GrantFor: bridge.Duration(90 * time.Minute), Grants: []bridge.RuleGrant{{Key: "1", Rule: "a\"b", Covers: "command `ls *`"}}}, i, "d1")
	rule := strings.Join(i.Coverage(bridge.ScopeAlways), "\n")
	for _, w := range []string{`rule "a\"b"`, "90 minutes", "command `ls *`", `location "/srv"`} {
		if !strings.Contains(rule, w) {
			t.Errorf("%q is not in %s", w, rule)
		}
	}
	long := asked(t, func() bridge.Approval {
		b := all()
		b.Input = json.RawMessage(`{"a":"` + strings.Repeat("x", 700) + `"}`)
		return b
	}())
	long.Grantable(bridge.Ruling{}, long, "d1")
	if slices.Contains(long.Approval.Scopes, bridge.ScopeAlways) {
		t.Error("a scope whose coverage does not fit on the card is offered")
	}
	own := asked(t, func() bridge.Approval { b := all(); b.AgentRemembers = true; return b }())
	own.Grantable(bridge.Ruling{}, own, "d1")
	if got := strings.Join(own.Coverage(bridge.ScopeAlways), ""); !strings.Contains(got, "stores no grant") {
		t.Errorf("an agent that remembers: %q", got)
	}
}

// TestGiven checks which grants an approval creates, and when they expire.
func TestGiven(t *testing.T) {
	t.Parallel()
	i := asked(t, all())
	i.Route, i.Quorum = "default", 2
	i.Grantable(bridge.Ruling{Routes: []string{"prod", "default"}}, i, "d1")
	at := time.Date(2026, 11, 21, 14, 1, 0, 0, time.UTC)
	ana, bo := bridge.Actor{Platform: "chat", User: "1", Person: "ana"}, bridge.Actor{Platform: "chat", User: "2", Person: "bo"}
	r := bridge.Record{Interaction: i, State: bridge.StateApproved, Response: &bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeSession, Actor: &bo, At: at},
		Votes: []bridge.Vote{{Actor: ana, State: bridge.StateApproved}, {Actor: bo, State: bridge.StateApproved}}}
	got := r.Given()
	if len(got) != 1 || got[0].Session != "s" || !got[0].Expires.Equal(at.Add(bridge.SessionGrantTTL)) || len(got[0].Givers) != 2 ||
		got[0].Scope() != bridge.ScopeSession || !slices.Equal(got[0].Routes, []string{"default", "prod"}) || got[0].Quorum != 2 || got[0].Covers == "" {
		t.Fatalf("for the session: %+v", got)
	}
	r.Response.Scope, r.Votes = bridge.ScopeAlways, nil
	r.Interaction.RuleGrants = []bridge.RuleGrant{{Key: "1", Rule: "a"}, {Key: "2", Rule: "b"}}
	got = r.Given()
	if len(got) != 2 || got[0].Key == got[1].Key || got[1].Rule != "b" || got[0].Session != "" || got[0].Scope() != bridge.ScopeAlways || got[0].Givers[0] != bo {
		t.Errorf("by rule: %+v", got)
	}
	for name, change := range map[string]func(*bridge.Record){
		"once": func(r *bridge.Record) { r.Response.Scope = bridge.ScopeOnce }, "denied": func(r *bridge.Record) { r.State = bridge.StateDenied },
		"by a rule": func(r *bridge.Record) { r.Response.Actor = nil }, "by a grant": func(r *bridge.Record) { r.Response.Grant = "x" },
		"without a key": func(r *bridge.Record) { r.Interaction.GrantKey = "" },
	} {
		c := r
		resp := *r.Response
		c.Response = &resp
		change(&c)
		if g := c.Given(); len(g) > 0 {
			t.Errorf("an approval %s creates %+v", name, g)
		}
	}
}
