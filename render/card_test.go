package render_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
	"github.com/nodbridge/nod/render/rendertest"
)

// cardOf builds the card of a view whose controls have short labels.
func cardOf(v bridge.View) render.Card {
	return render.NewCard(v, func(q bridge.Question) bool {
		return !render.LabelsFit(q, 10, render.Runes) || render.HasDescriptions(q)
	})
}

// TestCards checks what the cards of all samples share. The golden files of the
// platforms' packages show the cards.
func TestCards(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		c := cardOf(s.View)
		if c.Notice == "" || strings.Contains(c.Notice, "\n") || render.Runes(c.Notice) > 200 {
			t.Errorf("%s: the notification is %q", s.Name, c.Notice)
		}
		if c.HeadText() == "" || !strings.HasPrefix(c.From, "deploy-bot") {
			t.Errorf("%s: %q from %q", s.Name, c.HeadText(), c.From)
		}
		if full := c.FullText(); !strings.HasPrefix(full, c.From+"\n\n") || !strings.HasSuffix(full, "\n") {
			t.Errorf("%s: the full text is %.200q", s.Name, full)
		}
		if c.Closed != s.View.Record.State.Final() && s.View.Record.Interaction.Kind != bridge.KindNotice {
			t.Errorf("%s: closed %t in state %s", s.Name, c.Closed, s.View.Record.State)
		}
	}
}

// find returns the view of a sample.
func find(t *testing.T, name string) bridge.View {
	t.Helper()
	for _, s := range rendertest.Samples() {
		if s.Name == name {
			return s.View
		}
	}
	t.Fatalf("there is no sample %q", name)
	return bridge.View{}
}

func closing(v bridge.View) string {
	return render.PlainText(render.NewCard(v, func(bridge.Question) bool { return false }).Closing)
}

// TestOutcomes checks that no two outcomes have the same headline, because
// people act on it.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	check := func(name string, v bridge.View) {
		c := cardOf(v)
		if other := seen[c.HeadText()]; other != "" {
			t.Errorf("%s and %s are both %q", name, other, c.HeadText())
		}
		seen[c.HeadText()] = name
	}
	once, always := find(t, "approval-approved"), find(t, "approval-approved")
	once.Record.Response = &bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeOnce}
	always.Record.Response = &bridge.Response{State: bridge.StateApproved, Scope: bridge.ScopeAlways}
	never, declined, withdrawn := find(t, "approval-denied"), find(t, "approval-cancelled"), find(t, "approval-cancelled")
	never.Record.Response = &bridge.Response{State: bridge.StateDenied, Scope: bridge.ScopeAlways}
	declined.Record.Response = &bridge.Response{Actor: &bridge.Actor{Person: "ana"}}
	withdrawn.Record.Response = &bridge.Response{WithdrawnBy: &bridge.Actor{Person: "ana"}}
	unverified := find(t, "approval")
	unverified.Record.Unverified = "its proof is missing"
	for name, v := range map[string]bridge.View{"once": once, "always": always, "never": never, "declined": declined, "withdrawn": withdrawn, "unverified": unverified} {
		check(name, v)
	}
	for _, name := range []string{"approval", "several", "notice", "several-answered", "approval-approved", "approval-edited", "approval-denied", "approval-stopped",
		"approval-expired", "approval-cancelled", "approval-superseded", "approval-undeliverable"} {
		check(name, find(t, name))
	}
}

// TestClosing checks that a closed card names who decided, where, when and why,
// and whether the agent has the response.
func TestClosing(t *testing.T) {
	t.Parallel()
	v := find(t, "approval-denied")
	for _, want := range []string{"in Telegram", "Nov 21, 14:00:10 UTC", "not <now> & not *here*"} {
		if got := closing(v); !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	said := map[string]bool{}
	for n, change := range []func(*bridge.Record){
		func(r *bridge.Record) { r.Delivered = time.Now() }, func(r *bridge.Record) { r.Delivered, r.Queued = time.Time{}, time.Now() },
		func(r *bridge.Record) { r.Delivered = time.Time{} },
	} {
		r := v.Record
		change(&r)
		w := v
		w.Record = r
		if said[closing(w)] {
			t.Errorf("delivery %d reads like another one", n)
		}
		said[closing(w)] = true
	}
	hidden := find(t, "completed")
	if c := cardOf(hidden); strings.Contains(render.PlainText(c.Questions), "eu") {
		t.Errorf("hidden answers are shown: %s", render.PlainText(c.Questions))
	}
	edited := closing(find(t, "approval-edited"))
	for _, want := range []string{"-rm -rf /tmp/<x> && echo", "+rm -rf /tmp/<y>"} {
		if !strings.Contains(edited, want) {
			t.Errorf("the change lacks %q:\n%s", want, edited)
		}
	}
	for _, header := range []string{"---", "+++", "@@", `"cwd"`} {
		if strings.Contains(edited, header) {
			t.Errorf("the change has %q:\n%s", header, edited)
		}
	}
}

// TestVotes checks that a card counts approvals and denials by name, and that
// one that needs a single approval does not.
func TestVotes(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	if notes := render.Notes(v); len(notes) > 0 {
		t.Errorf("notes %q", notes)
	}
	i := &v.Record.Interaction
	i.Quorum, i.DenyCounts = 2, true
	by := func(who string, s bridge.State) bridge.Vote {
		return bridge.Vote{Actor: bridge.Actor{Platform: "chat", User: who, Person: who}, State: s}
	}
	v.Record.Votes = []bridge.Vote{by("ana", bridge.StateApproved), by("bo", bridge.StateDenied)}
	notes := strings.Join(render.Notes(v), "\n")
	for _, want := range []string{"1 of 2", "ana", "bo"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is not in %q", want, notes)
		}
	}
	closed := find(t, "approval-denied")
	closed.Record.Votes = v.Record.Votes
	if got := closing(closed); !strings.Contains(got, "bo") {
		t.Errorf("the closed card does not name who voted: %s", got)
	}
}

// TestNotes checks the notes below an open card: duplicates, redactions,
// delegates, and the reason that it has no controls.
func TestNotes(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	v.Record.Joined = 2
	v.Record.Interaction.Redacted, v.Record.Interaction.RedactedCommand = 3, true
	v.Record.Interaction.Called = []string{"cy", "@ops"}
	notes := render.Notes(v)
	all := strings.Join(notes, "\n")
	for _, want := range []string{"3 identical", "Redacted credentials: 3", "typed confirmation", "cy, @ops"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %q", want, notes)
		}
	}
	if n := render.Notes(v.Unfinished()); n[len(n)-1] != render.NoteWaiting {
		t.Errorf("while the text is on its way: %q", n)
	}
	closed := find(t, "approval-approved")
	closed.Record.Queued = time.Now()
	if s := render.Standing(closed.Record); s != "" {
		t.Errorf("a closed request has the note %q", s)
	}
}

// TestExtras checks the controls for reminders and delegates, and that there is
// at most one row of them.
func TestExtras(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	if e := render.Extras(v); len(e) > 0 {
		t.Errorf("extras %+v", e)
	}
	v.Record.Interaction.Snooze = bridge.Duration(10 * time.Minute)
	v.Record.Interaction.HandOver = []string{"ana", "bo", "cy", "di", "eve"}
	e := render.Extras(v)
	if len(e) != 5 || !strings.Contains(e[1].Label, "ana") || e[0].Token == e[1].Token || e[1].Token == e[2].Token {
		t.Errorf("extras %+v", e)
	}
	f := bridge.Form{View: v, Control: bridge.Control{Action: bridge.ActionMore}}
	if m := render.NewMenu(f); len(m.Later) == 0 {
		t.Errorf("the menu has no place for them: %+v", m)
	}
	f.DenyOnly = true
	if m := render.NewMenu(f); len(m.Later) > 0 {
		t.Errorf("a person who may only deny reads %+v", m.Later)
	}
	v.Record.Interaction.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideOnce}
	if !render.ExtrasInMore(v) || !render.HasMore(v.Record.Interaction) || render.ExtrasInMore(find(t, "form")) {
		t.Error("an approval has them behind More, and a question on its card")
	}
}

// TestTyped checks the native text input of each control.
func TestTyped(t *testing.T) {
	t.Parallel()
	form := func(sample string, option, question int) render.TypedInput {
		return render.Typed(bridge.Form{View: find(t, sample), Control: bridge.Control{Option: option, Question: question}})
	}
	edit := form("approval-able", bridge.OptionEdit, 0)
	if !edit.Lines || !json.Valid([]byte(edit.Initial)) || !strings.Contains(edit.Initial, "rm -rf") {
		t.Errorf("to edit: %+v", edit)
	}
	v := find(t, "approval-confirm")
	once := slices.Index(v.Record.Interaction.Decisions(), bridge.DecideOnce)
	confirm := form("approval-confirm", bridge.OptionConfirm, once)
	if confirm.Lines || !strings.Contains(confirm.Label, "delete prod") || confirm.Exact != "delete prod" || confirm.Submit != render.LabelRun || strings.Contains(confirm.Title, "…") {
		t.Errorf("to confirm: %+v", confirm)
	}
	if reason := form("approval", bridge.OptionReason, 0); !reason.Lines || reason.Initial != "" || reason.Submit != render.LabelDeny {
		t.Errorf("to deny: %+v", reason)
	}
}

// TestTones checks that the narrowest approval is highlighted only if the agent
// allows it.
func TestTones(t *testing.T) {
	t.Parallel()
	i := find(t, "approval").Record.Interaction
	no := find(t, "approval-able").Record.Interaction
	confirm := find(t, "approval-confirm").Record.Interaction
	if render.DecisionTone(i, bridge.DecideDeny) != render.Plain || render.DecisionTone(i, bridge.DecideOnce) != render.Good ||
		render.DecisionTone(i, bridge.DecideAlways) != render.Plain || render.DecisionTone(no, bridge.DecideOnce) != render.Plain ||
		render.DecisionTone(confirm, bridge.DecideOnce) != render.Bad {
		t.Error("the tones are wrong")
	}
	labels := map[string]bool{}
	for _, w := range []bridge.Widget{bridge.WidgetSelect, bridge.WidgetActionSelection, bridge.WidgetRadio} {
		labels[render.SubmitLabel(bridge.Question{Widget: w})] = true
	}
	if len(labels) != 3 || !labels[render.LabelOK] || !labels[render.LabelSubmit] || !labels[render.LabelContinue] {
		t.Errorf("the buttons that send a choice are %v", labels)
	}
}

// TestReview checks that the summary before submitting shows each field with
// its draft, including free text, and marks fields without one.
func TestReview(t *testing.T) {
	t.Parallel()
	v := find(t, "several")
	v.Draft = &bridge.Draft{Answers: map[string]bridge.Answer{"where": bridge.TextAnswer("eu"), "what": bridge.ListAnswer("eu", "us")}, Others: map[string]string{"what": "the\u200bmoon"}}
	got := render.PlainText(render.Review(v))
	for _, want := range []string{"1/3", "Europe", "3/3", "America <east>", "the⟨U+200B⟩moon", render.NothingYet} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := render.Moment(time.Date(2026, 1, 2, 3, 4, 0, 0, time.FixedZone("", 3600))); got != "Jan 2, 02:04 UTC" {
		t.Errorf("a deadline reads %q", got)
	}
}

// TestOptionLabel checks that a label that does not fit keeps its start after
// its number, by which people find it in the list.
func TestOptionLabel(t *testing.T) {
	t.Parallel()
	q := bridge.Question{Options: []bridge.Option{{Value: "short"}, {Value: "x", Label: "a label that is too long", Preview: "p"}}}
	if s := render.OptionLabel(q, 0, 10, render.Runes); s != "short" {
		t.Errorf("%q", s)
	}
	if s := render.OptionLabel(q, 1, 10, render.Runes); !strings.HasPrefix(s, "2. a") || render.Runes(s) > 10 {
		t.Errorf("%q", s)
	}
	if render.LabelsFit(q, 10, render.Runes) || !render.LabelsFit(q, 100, render.UTF16) || !render.HasDescriptions(q) || !render.HasPreviews(q) {
		t.Error("what fits or is described is wrong")
	}
	if list := render.PlainText([]render.Block{render.OptionList(q)}); !strings.HasPrefix(list, "1. short\n2. a label") {
		t.Errorf("the list is %q", list)
	}
}

// TestClosedOptions checks that a closed card and a card without controls name
// the options.
func TestClosedOptions(t *testing.T) {
	t.Parallel()
	none := func(bridge.Question) bool { return false }
	options := []bridge.Option{{Value: "a", Label: "Apple"}, {Value: "b", Label: "Banana"}}
	v := bridge.View{Record: bridge.Record{State: bridge.StateAnswered, Interaction: bridge.Interaction{Ask: bridge.Ask{
		Kind: bridge.KindAsk, Prompt: "Which?", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetRadio, Options: options}},
	}}, Response: &bridge.Response{State: bridge.StateAnswered, Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("a")}}}}
	text := func() string { return render.PlainText(render.NewCard(v, none).Questions) }
	if got := text(); !strings.Contains(got, "Not chosen: Banana") {
		t.Errorf("the answered card shows %q", got)
	}
	v.Record.State, v.Record.Response = bridge.StateExpired, &bridge.Response{State: bridge.StateExpired}
	if got := text(); !strings.Contains(got, "Options: Apple · Banana") {
		t.Errorf("the expired card shows %q", got)
	}
	v.Record.State, v.Record.Response, v.Waiting = bridge.StatePending, nil, true
	if got := text(); !strings.Contains(got, "Apple") || !strings.Contains(got, "Banana") {
		t.Errorf("the card without controls shows %q", got)
	}
	v.Waiting = false
	if got := text(); strings.Contains(got, "Apple") {
		t.Errorf("the card repeats the options of its controls: %q", got)
	}
}
