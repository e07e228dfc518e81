package engine_test

import (
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/directory"
)

var agentCI = bridge.Agent{Name: "ci"}

func (w *world) state(id bridge.ID, want bridge.State) bridge.Record {
	w.t.Helper()
	rec := w.get(id)
	if rec.State != want {
		w.t.Fatalf("state %s, want %s (votes %+v, response %+v)", rec.State, want, rec.Votes, rec.Response)
	}
	return rec
}

func (w *world) said(v bridge.Verdict, kind bridge.VerdictKind, word string) {
	w.t.Helper()
	if v.Kind != kind || !strings.Contains(v.Note, word) {
		w.t.Fatalf("verdict %s %q, want %s with %q", v.Kind, v.Note, kind, word)
	}
}

// TestJoinedRoutes checks that a request whose ruling names two routes is shown
// to the people of both, and needs an approval from each.
func TestJoinedRoutes(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = byWord(map[string]bridge.Ruling{"both": {Routes: []string{"", "prod"}}})
	prod := s.routes["prod"]
	prod.Must = []string{"di"}
	s.routes["prod"] = prod
	w := newWorld(t, s)
	rec := w.open(bridge.Agent{Name: "ci", Routes: []string{"default"}}, shell("both"))
	id := rec.Interaction.ID
	if len(rec.Interaction.Destinations) != 2 {
		t.Fatalf("destinations: %+v", rec.Interaction.Destinations)
	}
	w.said(w.press("ana", id, "C1", bridge.DecideOnce, ""), bridge.VerdictSettled, "still needed: prod")
	w.said(w.press("bo", id, "C1", bridge.DecideOnce, ""), bridge.VerdictSettled, "still needed: prod")
	w.said(w.press("cy", id, "C2", bridge.DecideOnce, ""), bridge.VerdictSettled, "still needed: prod: di")
	w.state(id, bridge.StatePending)
	w.press("di", id, "C2", bridge.DecideOnce, "")
	w.state(id, bridge.StateApproved)

	id = w.open(agentCI, shell("both")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	w.press("cy", id, "C2", bridge.DecideDeny, "")
	w.state(id, bridge.StateDenied)
}

// TestFollowUpIsNew checks that a follow-up goes to the people that its own
// ruling names.
func TestFollowUpIsNew(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = byWord(map[string]bridge.Ruling{"kubectl": {Routes: []string{"prod"}, Confirm: "yes", Quorum: 2,
		Risk: "high"}, "rm": {Effect: bridge.EffectDeny, Reason: "never"}})
	w := newWorld(t, s)
	first := w.open(agentCI, shell("make x")).Interaction.ID
	w.press("ana", first, "C1", bridge.DecideDeny, "")
	next, err := w.engine.Reprompt(t.Context(), agentCI, first, shell("kubectl delete ns prod"), "")
	if err != nil {
		t.Fatal(err)
	}
	id := next.Interaction.ID
	rec := w.posted(id)
	if d := rec.Interaction.Destinations; len(d) != 1 || d[0].Channel != "C2" {
		t.Fatalf("the follow-up is shown in %+v", d)
	}
	if err := w.answer("ana", id, bridge.Reply{Decision: bridge.DecideOnce,
		Confirm: "yes"}); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Fatalf("the first round's person approves: %v", err)
	}
	w.press("cy", id, "C2", bridge.DecideOnce, "yes")
	w.state(id, bridge.StatePending)
	w.press("di", id, "C2", bridge.DecideOnce, "yes")
	w.state(id, bridge.StateApproved)
	if v := w.drawn(first, "C1"); v.Record.Next == "" {
		t.Error("the earlier card is not drawn again")
	}
	moved := w.open(agentCI, shell("make x")).Interaction.ID
	if _, err := w.engine.Reprompt(t.Context(), agentCI, moved, shell("kubectl get"), ""); err != nil {
		t.Fatal(err)
	}
	w.state(moved, bridge.StateSuperseded)
	if v := w.drawn(moved, "C1"); v.Record.State != bridge.StateSuperseded {
		t.Error("the earlier card is not closed")
	}
	w.eventually("the earlier card links to the newer one", func() bool {
		v := w.drawn(moved, "C1")
		return strings.HasPrefix(v.Newer, "https://chat.example/C2/")
	})
	if v := w.use("ana", moved, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictLate || v.View == nil || v.View.Newer == "" {
		t.Errorf("a late click draws the card without its link: %+v", v)
	}

	again := w.open(agentCI, shell("make x")).Interaction.ID
	if _, err := w.engine.Reprompt(t.Context(), agentCI, again, shell("rm -rf /srv"),
		""); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a follow-up that the policy denies: %v", err)
	}
	w.state(again, bridge.StatePending)
	// The same route: the follow-up takes the message over.
	same, err := w.engine.Reprompt(t.Context(), agentCI, again, shell("make y"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.get(same.Interaction.ID).Messages; got[0] != w.get(again).Messages[0] {
		t.Errorf("messages %v and %v", got, w.get(again).Messages)
	}
	w.press("bo", same.Interaction.ID, "C1", bridge.DecideOnce, "")
	w.state(same.Interaction.ID, bridge.StateApproved)
}

// TestEditIsEvaluated checks that an edited input is evaluated as if it were new.
func TestEditIsEvaluated(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = byWord(map[string]bridge.Ruling{
		"rm": {Effect: bridge.EffectDeny,
			Reason: "nobody deletes trees"}, "kubectl": {Routes: []string{"prod"}}, "two": {Quorum: 2},
		"risky": {Risk: "critical"},
		"typed": {Confirm: "yes"}, "hidden": {Redact: []string{"command"}},
	})
	w := newWorld(t, s)
	for edit, word := range map[string]string{
		"rm -rf /srv": "nobody deletes trees", "kubectl x": "prod", "two": "2 approvals",
		"risky": "critical", "typed": "typed confirmation", "hidden": "hidden fields",
	} {
		id := w.open(agentCI, shell("make x")).Interaction.ID
		raw := string(shell(edit).Approval.Input)
		v := w.press("ana", id, "C1", bridge.DecideEdit, raw)
		w.said(v, bridge.VerdictInvalid, word)
		if !strings.Contains(v.Note, "Nothing was approved") {
			t.Errorf("%s: %q", edit, v.Note)
		}
		if err := w.answer("bo", id, bridge.Reply{Decision: bridge.DecideEdit,
			Input: []byte(raw)}); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s by API: %v", edit, err)
		}
		w.state(id, bridge.StatePending)
		w.press("ana", id, "C1", bridge.DecideEdit, string(shell("make y").Approval.Input))
		if rec := w.state(id, bridge.StateApproved); !strings.Contains(string(rec.Response.Input), "make y") {
			t.Errorf("approved %s", rec.Response.Input)
		}
	}
}

// TestReload checks that a request is evaluated with the policy and the routes
// at the time when it is approved.
func TestReload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]reloaded{
		"denied": {change: func(s *setup) {
			s.policy = ruledBy(bridge.Ruling{Effect: bridge.EffectDeny, Reason: "frozen"})
		}, word: "frozen", denied: true},
		"quorum": {change: func(s *setup) { s.policy = ruledBy(bridge.Ruling{Quorum: 2}) },
			word: "2 approvals", then: []string{"ana", "bo"}},
		"route": {change: func(s *setup) { s.policy = ruledBy(bridge.Ruling{Routes: []string{"prod"}}) },
			word: "prod", then: []string{"cy"}},
		"both": {change: func(s *setup) {
			s.policy = ruledBy(bridge.Ruling{Routes: []string{"default", "prod"}})
		}, word: "prod", then: []string{"ana", "cy"}},
		"risk": {change: func(s *setup) { s.policy = ruledBy(bridge.Ruling{Risk: "critical"}) },
			word: "critical", then: []string{"ana"}},
		"confirm": {change: func(s *setup) { s.policy = ruledBy(bridge.Ruling{Confirm: "yes"}) },
			word: "typed confirmation", typed: "yes", then: []string{"ana"}},
		"removed": {change: func(s *setup) { s.routes["default"] = routeTo("C1", "bo") }, word: "responders",
			then: []string{"bo"}},
		"must": {change: func(s *setup) {
			r := routeTo("C1", "ana", "bo")
			r.Must = []string{"bo"}
			s.routes["default"] = r
		}, word: "bo", then: []string{"bo"}},
		"milder": {change: func(s *setup) {
			s.policy = ruledBy(bridge.Ruling{Effect: bridge.EffectAllow})
			s.routes["default"] = routeTo("C1", "ana", "bo", "cy")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// reloaded is a config that changes while a request is pending.
type reloaded struct {
	change func(*setup)
	word   string // of what the first approver is told
	denied bool
	typed  string
	then   []string // who has to approve after that, each in the channel of their route
}

func (c reloaded) check(t *testing.T) {
	s := newSetup()
	s.policy = byWord(nil)
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	stale := w.drawn(id, "C1")
	next := newSetup()
	next.policy = byWord(nil)
	c.change(&next)
	w.reload(next)
	v := w.pressOn("ana", stale, "C1", bridge.DecideOnce, "")
	if c.word == "" {
		w.state(id, bridge.StateApproved)
		return
	}
	if !strings.Contains(v.Note, c.word) {
		t.Fatalf("ana is told %q, want %q", v.Note, c.word)
	}
	if c.denied {
		if rec := w.state(id, bridge.StateDenied); rec.Response.Rule != "make" || rec.Response.Actor != nil {
			t.Errorf("denied by %+v", rec.Response)
		}
		return
	}
	w.state(id, bridge.StatePending)
	// The old card no longer approves.
	w.pressOn("bo", stale, "C1", bridge.DecideOnce, "")
	w.state(id, bridge.StatePending)
	w.posted(id)
	for n, who := range c.then {
		w.state(id, bridge.StatePending)
		channel := map[bool]string{true: "C2", false: "C1"}[who == "cy" || who == "di"]
		if v := w.press(who, id, channel, bridge.DecideOnce, c.typed); v.Kind != bridge.VerdictSettled {
			t.Fatalf("%d %s: %+v", n, who, v)
		}
	}
	w.state(id, bridge.StateApproved)
}

// TestVotesBeforeReload checks that votes which were given under milder
// requirements do not count.
func TestVotesBeforeReload(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = ruledBy(bridge.Ruling{Quorum: 2})
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	next := newSetup()
	next.policy = ruledBy(bridge.Ruling{Quorum: 2, Confirm: "yes"})
	w.reload(next)
	w.said(w.press("bo", id, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "typed confirmation")
	w.said(w.press("bo", id, "C1", bridge.DecideOnce, "yes"), bridge.VerdictSettled, "1 of 2")
	w.state(id, bridge.StatePending)
	w.press("ana", id, "C1", bridge.DecideOnce, "yes")
	w.state(id, bridge.StateApproved)
}

// TestOneAccountOneVote checks that one account counts once, whatever person it
// belongs to at the time.
func TestOneAccountOneVote(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = ruledBy(bridge.Ruling{Quorum: 2})
	w := newWorld(t, s)
	id := w.open(agentCI, shell("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	next := newSetup()
	next.policy = s.policy
	next.swap("ana", "bo")
	w.reload(next)
	w.press("ana", id, "C1", bridge.DecideOnce, "") // the same account, bo's now
	w.state(id, bridge.StatePending)

	shared := newSetup()
	shared.policy = s.policy
	shared.people["bo"] = shared.people["ana"]
	w.reload(shared)
	id = w.open(agentCI, shell("make x")).Interaction.ID
	card := w.drawn(id, "C1")
	for range 8 {
		action, question, option := card.Record.Interaction.DecisionControl(2)
		click := bridge.Click{Token: card.Token(action, question, option), Actor: bridge.Actor{Platform: "chat",
			User: "U-ana"}, Ref: bridge.MessageRef{Channel: "C1"}}
		if v, err := w.engine.Click(t.Context(), click); err != nil || v.Kind != bridge.VerdictForbidden {
			t.Fatalf("an account of two people decides: %+v, %v", v, err)
		}
	}
	w.state(id, bridge.StatePending)
}

// TestRequesterMayDeny checks that naming a person as the requester takes the
// approval from them, and not the denial.
func TestRequesterMayDeny(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	for _, d := range []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason} {
		req := shell("make x")
		req.Requester = "ana"
		id := w.open(agentCI, req).Interaction.ID
		w.said(w.press("ana", id, "C1", bridge.DecideOnce, ""), bridge.VerdictForbidden, "your own request")
		w.said(w.press("ana", id, "C1", bridge.DecideEdit, string(req.Approval.Input)), bridge.VerdictForbidden,
			"your own request")
		if err := w.answer("ana", id,
			bridge.Reply{Decision: bridge.DecideOnce}); bridge.ErrorCode(err) != bridge.CodeForbidden {
			t.Errorf("by API: %v", err)
		}
		w.state(id, bridge.StatePending)
		w.press("ana", id, "C1", d, "because")
		w.state(id, bridge.StateDenied)
	}
}

// TestAddedPeople checks that people who were added by a step or by a hand-over
// may approve on the route that added them, and on no other.
func TestAddedPeople(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = byWord(map[string]bridge.Ruling{"both": {Routes: []string{"", "prod"}}, "prod": {Routes: []string{"prod"}}})
	first := s.routes["default"]
	first.HandOver, first.Steps = []string{"eve"}, []bridge.Step{{After: bridge.Duration(2e7), Ask: []string{"di"}}}
	s.routes["default"] = first
	only := s.routes["prod"]
	only.Responders = only.Responders[:1] // cy
	s.routes["prod"] = only
	w := newWorld(t, s)
	called := func(id bridge.ID) {
		w.eventually("the step is done", func() bool { return w.get(id).Step == 1 })
	}
	for _, who := range []string{"di", "eve"} {
		one := w.open(agentCI, shell("make x")).Interaction.ID
		called(one)
		w.said(w.click("ana", "C1", w.drawn(one, "C1").Token(bridge.ActionHandOver, 0, 0), "", one),
			bridge.VerdictNoted, "eve")
		w.press(who, one, "C1", bridge.DecideOnce, "")
		w.state(one, bridge.StateApproved)

		both := w.open(agentCI, shell("both")).Interaction.ID
		called(both)
		w.said(w.click("cy", "C2", w.drawn(both, "C2").Token(bridge.ActionHandOver, 0, 0), "", both),
			bridge.VerdictForbidden, "not a responder")
		w.said(w.click("bo", "C1", w.drawn(both, "C1").Token(bridge.ActionHandOver, 0, 0), "", both),
			bridge.VerdictNoted, "eve")
		w.said(w.press(who, both, "C1", bridge.DecideOnce, ""), bridge.VerdictSettled, "still needed: prod")
		w.press("cy", both, "C2", bridge.DecideOnce, "")
		w.state(both, bridge.StateApproved)

		// After a reload that sends it elsewhere, they have no say.
		moved := w.open(agentCI, shell("make x")).Interaction.ID
		called(moved)
		next := s
		next.policy = ruledBy(bridge.Ruling{Routes: []string{"prod"}})
		w.reload(next)
		w.press("di", moved, "C1", bridge.DecideOnce, "")
		if err := w.answer("di", moved, bridge.Reply{Decision: bridge.DecideOnce}); err == nil {
			t.Fatal("di approves for a route that is not hers")
		}
		w.posted(moved)
		w.press("cy", moved, "C2", bridge.DecideOnce, "")
		w.state(moved, bridge.StateApproved)
		w.reload(s)
	}
}

// TestApprovalWithUnreadGroup checks that a person reads that an approval does not count yet
// for a group that nod cannot read.
func TestApprovalWithUnreadGroup(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.policy = byWord(map[string]bridge.Ruling{"both": {Routes: []string{"", "prod"}}})
	s.groups = map[string]directory.Group{"sre": {OnCall: "unknown"}}
	s.routes["prod"] = bridge.Route{Destinations: []bridge.Destination{{Platform: "chat", Channel: "C2"}}, Groups: []string{"sre"}}
	w := newWorld(t, s)
	id := w.open(agentCI, shell("both")).Interaction.ID
	w.said(w.press("ana", id, "C1", bridge.DecideOnce, ""), bridge.VerdictNoted, "does not count for them yet. Click again later.")
	if rec := w.state(id, bridge.StatePending); len(rec.Votes) != 1 {
		t.Errorf("the votes are %+v", rec.Votes)
	}
}
