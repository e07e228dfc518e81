package engine_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// confirm is a question with the answers yes and no.
var confirm = bridge.Question{ID: "q", Widget: bridge.WidgetConfirm}

// say types a command in channel C1, and returns the reply.
func (w *world) say(who, text string) string {
	w.t.Helper()
	said, err := w.engine.Command(w.t.Context(), bridge.Command{
		Actor:    bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
		Channels: []string{"C1"}, Text: text,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return said
}

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

// TestMemory checks what a tool's own approvals remember, and for how long.
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

// TestBatch checks that the requests of a batch share a card, that all of them
// are decided at once, and what people are told.
func TestBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	var ids []bridge.ID
	for _, command := range []string{"make a", "make b", "make c"} {
		r := shell(command)
		r.Session, r.Batch, r.Approval.Decisions = "s", bridge.Duration(300*time.Millisecond), nil
		rec, err := w.engine.Open(t.Context(), bridge.Agent{Name: "ci"}, r, "")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rec.Interaction.ID)
	}
	first := w.posted(ids[0])
	if len(first.Members) != 3 {
		t.Fatalf("the card shows %d requests; want 3", len(first.Members))
	}
	v := w.drawn(ids[0], "C1")
	all := func(who string, v bridge.View, option int) bridge.Verdict {
		t.Helper()
		got, err := w.engine.Click(t.Context(), bridge.Click{
			Token: v.Token(bridge.ActionAll, 0, option), Ref: first.Messages[0],
			Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := all("eve", v, 1); got.Kind != bridge.VerdictForbidden {
		t.Errorf("eve decides all: %+v", got)
	}
	if got := all("ana", v, 9); got.Kind != bridge.VerdictUnknown {
		t.Errorf("a decision that does not exist: %+v", got)
	}
	if got := all("ana", v, 1); got.Kind != bridge.VerdictSettled || !strings.Contains(got.Note, "3 decided") {
		t.Fatalf("all: %+v", got)
	}
	for _, id := range ids {
		w.state(id, bridge.StateApproved)
	}
	if got := all("bo", v, 1); got.Kind != bridge.VerdictLate {
		t.Errorf("all again: %+v", got)
	}
}

// TestSnoozeAndHandOver checks that a person is reminded later, and that
// another person is asked as well.
func TestSnoozeAndHandOver(t *testing.T) {
	t.Parallel()
	s := newSetup()
	route := s.routes["default"]
	route.Snooze, route.HandOver = time.Hour, []string{"cy", "di"}
	s.routes["default"] = route
	w := newWorld(t, s)
	id := w.asked(func(r *bridge.Request) { r.Requester = "di" }, confirm).Interaction.ID
	if v := w.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictNoted || len(w.get(id).Reminders) != 1 {
		t.Errorf("snooze: %+v", v)
	}
	if v := w.use("cy", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictForbidden {
		t.Fatalf("cy answers before: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 1, nil); v.Kind != bridge.VerdictForbidden {
		t.Errorf("a hand-over to the requester: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 5, nil); v.Kind != bridge.VerdictUnknown {
		t.Errorf("a hand-over to no one: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionHandOver, 0, 0, nil); v.Kind != bridge.VerdictNoted {
		t.Fatalf("hand over: %+v", v)
	}
	if v := w.use("cy", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
		t.Errorf("cy answers: %+v", v)
	}
	if v := w.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictLate {
		t.Errorf("snooze of what is answered: %+v", v)
	}
	plain := newWorld(t, newSetup())
	id = plain.asked(nil, confirm).Interaction.ID
	if v := plain.use("ana", id, bridge.ActionSnooze, 0, 0, nil); v.Kind != bridge.VerdictUnknown {
		t.Errorf("snooze where it is not offered: %+v", v)
	}
}

// TestMute checks that nobody answers in a channel that is read-only, and that
// only its responders change that.
func TestMute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.asked(nil, confirm).Interaction.ID
	if said := w.say("eve", "mute"); !strings.Contains(said, "Nothing was changed") {
		t.Errorf("eve mutes: %s", said)
	}
	if said := w.say("ana", "mute"); !strings.Contains(said, "read-only now") {
		t.Fatalf("ana mutes: %s", said)
	}
	if v := w.use("ana", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictForbidden || v.View == nil || !v.View.ReadOnly {
		t.Errorf("a click: %+v", v)
	}
	if said := w.say("ana", "who"); !strings.Contains(said, "read-only now") || !strings.Contains(said, "You are ana") {
		t.Errorf("who: %s", said)
	}
	if rec, err := w.engine.Open(t.Context(), bridge.Agent{Name: "ci"}, shell("make x"), ""); err != nil || rec.State != bridge.StateUndeliverable {
		t.Errorf("a new request is %s, %v", rec.State, err)
	}
	if said := w.say("bo", "unmute"); !strings.Contains(said, "answer again") {
		t.Fatalf("bo unmutes: %s", said)
	}
	if v := w.use("ana", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
		t.Errorf("a click afterwards: %+v", v)
	}
	err := w.engine.Channels.SetMuted(t.Context(), onAPI("eve"), "chat", []string{"C1"}, true)
	if bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("eve mutes by the API: %v", err)
	}
}

// TestCommands checks what the words of a channel tell.
func TestCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	if said := w.say("ana", "mine"); said != "Nothing waits for you." {
		t.Errorf("mine: %s", said)
	}
	id := w.asked(nil, confirm).Interaction.ID
	for text, want := range map[string]string{
		"mine": string(id), "pending": string(id), "show " + string(id): "Which release?", "show x": "no such request",
		"grants": "There are no grants.", "revoke x": "There is no grant", "help": "pending:", "": "pending:",
		"link abc": "Accounts are not linked here.", "who": "You may answer here.",
	} {
		if said := w.say("ana", text); !strings.Contains(said, want) {
			t.Errorf("%q: %s", text, said)
		}
	}
	for text, want := range map[string]string{
		"mine": "Nothing waits", "pending": "Only those", "show " + string(id): "no such request", "grants": "Only those",
		"who": "You may not answer here.",
	} {
		if said := w.say("eve", text); !strings.Contains(said, want) {
			t.Errorf("eve's %q: %s", text, said)
		}
	}
	w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
	if said := w.say("ana", "show "+string(id)); !strings.Contains(said, "by ana on chat") {
		t.Errorf("show, after the answer: %s", said)
	}
	all, more, err := w.engine.Waiting(t.Context(), onAPI("ana"), 5)
	if err != nil || len(all) != 0 || more {
		t.Errorf("%d wait for ana: %v", len(all), err)
	}
}

// TestLinking checks that a click of an unknown account counts once its person
// has entered the code, and that the link can be removed.
func TestLinking(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.linking, s.signer = true, newSigner(t)
	w := newWorld(t, s)
	id := w.asked(nil, confirm).Interaction.ID
	c := w.control("ana", id, bridge.ActionChoose, 0, 0, nil)
	c.Actor = bridge.Actor{Platform: "chat", User: "U-new", Name: "Ana's phone"}
	v, err := w.engine.Click(t.Context(), c)
	_, after, ok := strings.Cut(v.Note, "/nod link ")
	if err != nil || v.Kind != bridge.VerdictForbidden || !ok {
		t.Fatalf("an unknown account: %+v, %v", v, err)
	}
	code, _, _ := strings.Cut(after, " ")
	if said := w.say("ana", "link wrong"); !strings.Contains(said, "no such code") {
		t.Errorf("a wrong code: %s", said)
	}
	if _, err := w.engine.Links.Link(t.Context(), bridge.Actor{Platform: "chat", User: "U-eve"}, code, true); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("a person that nod does not know: %v", err)
	}
	if said := w.say("ana", "link "+code); !strings.Contains(said, "answers as you, ana") || w.get(id).State.Final() {
		t.Fatalf("before it is confirmed: %s", said)
	}
	if said := w.say("ana", "link "+code+" yes"); !strings.Contains(said, "Linked") {
		t.Fatalf("linked: %s", said)
	}
	if said := w.say("ana", "link "+code+" yes"); !strings.Contains(said, "no such code") {
		t.Errorf("the same code again: %s", said)
	}
	links, err := w.engine.Links.List(t.Context())
	if err != nil || len(links) != 1 || links[0].Person != "ana" {
		t.Fatalf("the links are %+v, %v", links, err)
	}
	for _, want := range []bridge.Code{"", bridge.CodeNotFound} {
		if err := w.engine.Links.Unlink(t.Context(), onAPI("ana"), "chat", "U-new"); bridge.ErrorCode(err) != want {
			t.Errorf("unlink: %v; want %q", err, want)
		}
	}
}

// TestDecidedElsewhere checks that what its person decided at the agent's own
// terminal is withdrawn, and nothing else.
func TestDecidedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	covered, other := w.asked(nil, confirm).Interaction.ID, w.asked(nil, versions).Interaction.ID
	covers := func(i bridge.Interaction) bool { return i.ID == covered }
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

// TestExport checks that the audit log is exported with seals that verify, and
// that what outlived its retention goes.
func TestExport(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer, s.kept = newSigner(t), time.Nanosecond
	w := newWorld(t, s)
	id := w.asked(nil, confirm).Interaction.ID
	w.use("eve", id, bridge.ActionChoose, 0, 0, nil)
	w.use("ana", id, bridge.ActionChoose, 0, 0, nil)
	var log bytes.Buffer
	sealed := func() bool {
		log.Reset()
		if err := w.engine.Audit.Export(t.Context(), &log); err != nil {
			t.Fatal(err)
		}
		return strings.Count(log.String(), `"type":"seal"`) > 0
	}
	for range 100 {
		if sealed() {
			break
		}
		bridge.Pause(t.Context(), 50*time.Millisecond)
	}
	report, err := proof.VerifyAudit(bytes.NewReader(log.Bytes()), w.engine.Audit.PublicKeys())
	if err != nil || len(report.Problems) != 0 || report.Entries == 0 || report.Seals == 0 {
		t.Fatalf("the log: %+v, %v", report, err)
	}
	if h := w.engine.Audit.Health(); h.State != bridge.HealthUp || w.engine.Audit.Refusals() != 0 {
		t.Errorf("its health is %+v", h)
	}
	if err := w.engine.Audit.Trim(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := w.asked(nil, confirm).Interaction.ID // so that the log goes on after what was trimmed
	w.use("ana", later, bridge.ActionChoose, 0, 0, nil)
	sealed()
	report, err = proof.VerifyAudit(bytes.NewReader(log.Bytes()), w.engine.Audit.PublicKeys())
	if err != nil || len(report.Problems) != 0 || report.Entries == 0 || strings.Contains(log.String(), string(id)) {
		t.Errorf("after it was trimmed: %+v, %v", report, err)
	}
}

// TestEvents checks that readers get the events and lists that verify.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSetup()
	s.signer = newSigner(t)
	route := s.routes["default"]
	route.Quorum = 2
	s.routes["default"] = route
	w := newWorld(t, s)
	id := w.open(bridge.Agent{Name: "ci"}, shell("make x")).Interaction.ID
	w.press("ana", id, "C1", bridge.DecideOnce, "")
	w.press("bo", id, "C1", bridge.DecideOnce, "")
	w.state(id, bridge.StateApproved)
	list, err := w.store.List(t.Context(), bridge.ListFilter{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("the list: %+v, %v", list, err)
	}
	list = w.engine.Evidence.CheckList(list, false)
	if r := list.Items[0]; r.Unverified != "" || r.Receipt == "" {
		t.Errorf("the record is %q", r.Unverified)
	}
	list.Items[0].Response.Reason = "forged"
	if r := w.engine.Evidence.CheckList(list, false).Items[0]; r.Unverified == "" || r.State == bridge.StateApproved {
		t.Errorf("a forged record is %s, %q", r.State, r.Unverified)
	}
	rec, err := w.engine.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	cursor := w.store.CursorAt(time.Now().Add(-time.Hour))
	events, _, err := w.store.Events(t.Context(), cursor, bridge.EventFilter{})
	if err != nil || len(events) < 4 {
		t.Fatalf("%d events: %v", len(events), err)
	}
	good, err := w.engine.Evidence.CheckEvents(t.Context(), events)
	if err != nil || len(good) != len(events) {
		t.Errorf("%d of %d events are good: %v", len(good), len(events), err)
	}
	forged := rec.Votes[0]
	forged.Actor.Person = "eve"
	good, err = w.engine.Evidence.CheckEvents(t.Context(), []bridge.Event{
		{Type: bridge.EventVoted, InteractionID: id, Agent: "ci", Data: proof.Stable(forged)},
		{Type: bridge.EventResponse, InteractionID: id, Agent: "ci", State: bridge.StateDenied, Data: proof.Stable(rec.Response)},
		{Type: bridge.EventRequest, InteractionID: id, Agent: "other", Data: proof.Stable(rec.Interaction)},
	})
	if err != nil || len(good) != 0 {
		t.Errorf("%d forged events are good: %v", len(good), err)
	}
	if got, err := w.engine.Evidence.Show(t.Context(), id); err != nil || got.Receipt == "" {
		t.Errorf("as stored, it is %q, %v", got.Unverified, err)
	}
	if token, err := w.engine.Evidence.StateAnswer([]bridge.Record{rec}, []byte("{}")); err != nil || token == "" {
		t.Errorf("the statement: %q, %v", token, err)
	}
}
