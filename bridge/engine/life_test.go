package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// confirm is a question with the answers yes and no.
var confirm = bridge.Question{ID: "q", Widget: bridge.WidgetConfirm}

// TestDeferred checks that a late answer of a deferred question becomes a
// message to its session, once, until the agent acknowledges it.
func TestDeferred(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w := newWorld(t, s)
	ci := w.engine.As(bridge.Agent{Name: "ci"})
	id := w.asked(nil, confirm).Interaction.ID
	if _, err := ci.Queue(t.Context(), id, bridge.Duration(time.Hour), ""); err != nil {
		t.Fatal(err)
	}
	if rec, err := ci.Wait(t.Context(), id); err != nil || rec.State.Final() || rec.Queued.IsZero() {
		t.Fatalf("the caller of a deferred question: %s, %v", rec.State, err)
	}
	if v := w.use("ana", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
		t.Fatalf("the answer: %+v", v)
	}
	all, err := w.engine.Sessions.Messages(t.Context(), "ci", "s")
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Text, "Which release?") {
		t.Fatalf("the messages are %+v, %v", all, err)
	}
	if err := w.engine.Sessions.Acknowledge(t.Context(), "ci", "s", all[0].ID); err != nil {
		t.Fatal(err)
	}
	if all, err = w.engine.Sessions.Messages(t.Context(), "ci", "s"); err != nil || len(all) != 0 {
		t.Errorf("after it was acknowledged, there are %d messages: %v", len(all), err)
	}
	if w.get(id).Delivered.IsZero() {
		t.Error("the answer does not count as delivered")
	}
	r := bridge.Request{}
	r.Prompt = "Without a session?"
	alone, err := ci.Open(t.Context(), r, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ci.Queue(t.Context(), alone.Interaction.ID, 0, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("to defer a question without a session: %v", err)
	}
}

// TestFollowUp checks that a follow-up has the earlier values filled in, takes
// over the card, and is bounded; and what is noted of a response.
func TestFollowUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	ci := w.engine.As(bridge.Agent{Name: "ci"})
	first := w.asked(func(r *bridge.Request) { r.MaxRounds = 2 }, versions, note).Interaction.ID
	old := w.control("bo", first, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{0: {Options: []int{0}}, 1: {Text: "x"}})
	if _, err := ci.Complete(t.Context(), first, bridge.Completion{Result: "done"}); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("a result before the answer: %v", err)
	}
	w.use("ana", first, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{0: {Options: []int{1}}, 1: {Text: "a fix"}})
	again := bridge.Request{}
	again.Error = "1.1 is not built yet"
	second, err := ci.Reprompt(t.Context(), first, again, "")
	if err != nil || second.Interaction.Round != 2 || second.Interaction.Initial["version"].Text != "1.1" {
		t.Fatalf("the follow-up: %+v, %v", second.Interaction.Initial, err)
	}
	id := second.Interaction.ID
	if v, err := w.engine.Click(t.Context(), old); err != nil || v.Kind != bridge.VerdictLate || !strings.Contains(v.Note, "asked again") {
		t.Errorf("a click on the former round: %+v, %v", v, err)
	}
	w.use("ana", id, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{0: {Options: []int{0}}})
	if got := w.get(id); got.Response == nil || got.Response.Answers["note"].Text != "a fix" {
		t.Fatalf("the answers are %+v", got.Response)
	}
	if _, err := ci.Reprompt(t.Context(), id, again, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("a third round: %v", err)
	}
	if rec, err := ci.Complete(t.Context(), id, bridge.Completion{Result: "released"}); err != nil || rec.Completion.Result != "released" {
		t.Errorf("the result: %+v, %v", rec.Completion, err)
	}
	long := bridge.Completion{Result: strings.Repeat("x", bridge.MaxPrompt+1)}
	if _, err := ci.Complete(t.Context(), id, long); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a result that is too long: %v", err)
	}
	other := w.engine.As(bridge.Agent{Name: "other"})
	for what, err := range map[string]error{
		"wait": errorOf(other.Wait(t.Context(), id)), "reprompt": errorOf(other.Reprompt(t.Context(), id, again, "")),
		"defer": errorOf(other.Queue(t.Context(), id, 0, "")), "cancel": errorOf(other.Cancel(t.Context(), id, "")),
		"complete": errorOf(other.Complete(t.Context(), id, bridge.Completion{})),
	} {
		if bridge.ErrorCode(err) != bridge.CodeNotFound {
			t.Errorf("another agent's %s: %v", what, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestMemory checks what is remembered for a tool that keeps its own approvals,
// and for how long.
func TestMemory(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	w := newWorld(t, s)
	mem := w.engine.As(bridge.Agent{Name: "ci"}).Approvals()
	for _, c := range []struct {
		key, session string
		scope        bridge.Scope
		want         bridge.Code
	}{
		{"k", "s", bridge.ScopeSession, ""}, {"a", "", bridge.ScopeAlways, ""}, {"o", "s", bridge.ScopeOnce, ""},
		{"", "s", bridge.ScopeSession, bridge.CodeInvalid}, {"k", "s", "forever", bridge.CodeInvalid},
		{"k", "", bridge.ScopeSession, bridge.CodeInvalid},
	} {
		if err := mem.Set(t.Context(), c.key, c.scope, c.session); bridge.ErrorCode(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
	expect := func(key, session string, want bridge.Scope) {
		t.Helper()
		if got, err := mem.Get(t.Context(), key, session); err != nil || got != want {
			t.Errorf("%s in session %s is %q, %v; want %q", key, session, got, err, want)
		}
	}
	expect("k", "s", bridge.ScopeSession)
	expect("k", "other", "")
	expect("a", "other", bridge.ScopeAlways)
	expect("o", "s", bridge.ScopeOnce)
	expect("o", "s", "")
	if err := mem.ClearSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	expect("k", "s", "")
	expect("a", "s", bridge.ScopeAlways)
}

// TestDecidedElsewhere checks that a request that was decided at the agent's
// terminal is withdrawn, and no other request.
func TestDecidedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	covered, other := w.asked(nil, confirm).Interaction.ID, w.asked(nil, versions).Interaction.ID
	covers := func(all []bridge.Interaction) ([]bridge.Interaction, bool) {
		return slices.DeleteFunc(all, func(i bridge.Interaction) bool { return i.ID != covered }), false
	}
	for _, session := range []string{"", "s"} {
		if err := w.engine.DecidedElsewhere(t.Context(), "ci", session, "at the terminal", covers); err != nil {
			t.Fatal(err)
		}
	}
	w.state(covered, bridge.StateCancelled)
	w.state(other, bridge.StatePending)
	if _, err := w.engine.Cancel(t.Context(), other, strings.Repeat("x", bridge.MaxText+1)); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a reason that is too long: %v", err)
	}
}

// TestFrontEnds checks that a session's front ends count among who can answer.
func TestFrontEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	ci := bridge.Agent{Name: "ci"}
	if err := w.engine.Sessions.Join(t.Context(), "s", "browser", true); err != nil {
		t.Fatal(err)
	}
	a, err := w.engine.Availability(t.Context(), ci, "", "s")
	if err != nil || a.Clients != 1 || a.Enabled != 1 {
		t.Errorf("available: %+v, %v", a, err)
	}
	if err := w.engine.Sessions.Leave(t.Context(), "s", "browser"); err != nil {
		t.Fatal(err)
	}
	if a, err = w.engine.Availability(t.Context(), ci, "", "s"); err != nil || a.Clients != 0 {
		t.Errorf("after it left: %+v, %v", a, err)
	}
	for who, want := range map[string]bool{"ana": true, "cy": true, "eve": false} {
		if got := w.engine.People.Responds(who); got != want {
			t.Errorf("%s responds: %v", who, got)
		}
	}
}
