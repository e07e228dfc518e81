package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// asked opens a request with questions, and waits for its card.
func (w *world) asked(change func(*bridge.Request), questions ...bridge.Question) bridge.Record {
	w.t.Helper()
	r := bridge.Request{}
	r.Prompt, r.Session, r.Questions, r.Timeout = "Which release?", "s", questions, bridge.Duration(10*time.Minute)
	if change != nil {
		change(&r)
	}
	return w.open(bridge.Agent{Name: "ci"}, r)
}

// use clicks a control of the card in channel C1 with what its inputs hold.
func (w *world) use(who string, id bridge.ID, a bridge.Action, question, option int, inputs map[int]bridge.Input) bridge.Verdict {
	w.t.Helper()
	v, err := w.engine.Click(w.t.Context(), w.control(who, id, a, question, option, inputs))
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w *world) control(who string, id bridge.ID, a bridge.Action, question, option int, inputs map[int]bridge.Input) bridge.Click {
	w.t.Helper()
	v := w.drawn(id, "C1")
	ref := w.get(id).Messages[0]
	return bridge.Click{
		Token: v.Token(a, question, option), Inputs: inputs, Ref: ref,
		Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who},
	}
}

func options(values ...string) []bridge.Option {
	var out []bridge.Option
	for _, v := range values {
		out = append(out, bridge.Option{Value: v})
	}
	return out
}

var (
	versions = bridge.Question{ID: "version", Text: "Which version?", Widget: bridge.WidgetSelect, Options: options("1.0", "1.1")}
	regions  = bridge.Question{ID: "regions", Text: "Where?", Widget: bridge.WidgetCheckbox, Options: options("eu", "us"), AllowOther: true}
	note     = bridge.Question{ID: "note", Text: "Why?", Widget: bridge.WidgetText, MaxLength: 10}
)

// TestForm checks that a form opens, keeps the entered values while some of
// them need correction, and is submitted with the kept and the sent values.
func TestForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	rec := w.asked(nil, versions, regions, note)
	id := rec.Interaction.ID
	f, v, err := w.engine.Form(t.Context(), w.control("ana", id, bridge.ActionInput, 0, bridge.OptionForm, nil))
	if err != nil || v.Kind != "" || f.View.Draft != nil || f.Control.Action != bridge.ActionInput {
		t.Fatalf("the form: %+v, %+v, %v", f.Control, v, err)
	}
	v = w.use("ana", id, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{
		0: {Options: []int{1}}, 1: {Options: []int{0}, Other: "asia"}, 2: {Text: "much too long a reason"},
	})
	if v.Kind != bridge.VerdictInvalid || v.Problems[2] == "" || !strings.HasPrefix(v.Note, "Why?: ") {
		t.Fatalf("a reason that is too long: %+v", v)
	}
	f, _, err = w.engine.Form(t.Context(), w.control("ana", id, bridge.ActionInput, 0, bridge.OptionForm, nil))
	if err != nil || f.View.Draft == nil || f.View.Draft.Answers["version"].Text != "1.1" {
		t.Fatalf("the draft is %+v, %v", f.View.Draft, err)
	}
	v = w.use("ana", id, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{2: {Text: "a fix"}})
	if v.Kind != bridge.VerdictSettled {
		t.Fatalf("the answer: %+v", v)
	}
	got := w.get(id)
	answers := got.Response.Answers
	if got.State != bridge.StateAnswered || answers["version"].Text != "1.1" || answers["note"].Text != "a fix" ||
		strings.Join(answers["regions"].Values(), " ") != "eu asia" {
		t.Errorf("the answers are %+v", answers)
	}
	v = w.use("bo", id, bridge.ActionSubmit, 0, bridge.OptionForm, map[int]bridge.Input{2: {Text: "late"}})
	if v.Kind != bridge.VerdictLate || !strings.Contains(v.Note, "ana") {
		t.Errorf("a second answer: %+v", v)
	}
	_, v, err = w.engine.Form(t.Context(), w.control("bo", id, bridge.ActionInput, 0, bridge.OptionForm, nil))
	if err != nil || v.Kind != bridge.VerdictLate {
		t.Errorf("the form of what is answered: %+v, %v", v, err)
	}
}

// TestDraft checks the controls that change a draft and settle nothing.
func TestDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	rec := w.asked(nil, versions, regions, note)
	id := rec.Interaction.ID
	draft := func(who string, a bridge.Action, question, option int, in map[int]bridge.Input) *bridge.Draft {
		t.Helper()
		v := w.use(who, id, a, question, option, in)
		if v.Kind != bridge.VerdictDraft || v.View == nil {
			t.Fatalf("action %d: %+v", a, v)
		}
		return v.View.Draft
	}
	if d := draft("ana", bridge.ActionChoose, 0, 1, nil); d.Answers["version"].Text != "1.1" {
		t.Errorf("the draft is %+v", d)
	}
	if d := draft("ana", bridge.ActionToggle, 1, 0, nil); strings.Join(d.Answers["regions"].Values(), " ") != "eu" {
		t.Errorf("the draft is %+v", d)
	}
	draft("ana", bridge.ActionToggle, 1, 1, nil)
	if d := draft("ana", bridge.ActionToggle, 1, 0, nil); strings.Join(d.Answers["regions"].Values(), " ") != "us" {
		t.Errorf("after toggling twice, the draft is %+v", d)
	}
	if d := draft("ana", bridge.ActionPage, 1, 1, nil); d.Step != 1 || d.Page != 1 {
		t.Errorf("the draft is at %d, %d", d.Step, d.Page)
	}
	if d := draft("ana", bridge.ActionStep, 2, 0, nil); d.Step != 2 {
		t.Errorf("the draft is at %d", d.Step)
	}
	if d := draft("ana", bridge.ActionPick, 0, 0, map[int]bridge.Input{0: {Options: []int{0}}}); d.Answers["version"].Text != "1.0" {
		t.Errorf("the draft is %+v", d)
	}
	// Bo clicks the button that submits what the card shows, which is ana's.
	v := w.use("bo", id, bridge.ActionSubmit, 0, bridge.OptionShown, nil)
	if v.Kind != bridge.VerdictInvalid || !strings.Contains(v.Note, "ana") || w.get(id).State.Final() {
		t.Fatalf("bo submits ana's draft: %+v", v)
	}
	if d := draft("bo", bridge.ActionChoose, 0, 1, nil); len(d.Answers) != 1 {
		t.Errorf("bo's draft has the answers %v, want bo's only", d.Answers)
	}
	if d := draft("ana", bridge.ActionStep, 1, 0, nil); d.Answers["version"].Text != "1.0" || len(d.Answers) != 2 {
		t.Errorf("ana's draft has the answers %v, want version 1.0 and a region", d.Answers)
	}
	if v := w.use("ana", id, bridge.ActionPick, 0, 0, map[int]bridge.Input{2: {Text: "much too long a reason"}}); v.Kind != bridge.VerdictInvalid {
		t.Errorf("a picked value that is wrong: %+v", v)
	}
	if v := w.use("eve", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictForbidden {
		t.Errorf("eve may not answer: %+v", v)
	}
}

// TestForgedControls checks that controls that a card never had are refused.
func TestForgedControls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.asked(nil, versions, regions, note).Interaction.ID
	for _, c := range []struct {
		what             string
		action           bridge.Action
		question, option int
		inputs           map[int]bridge.Input
	}{
		{"an option that does not exist", bridge.ActionChoose, 0, 7, nil},
		{"a toggle of one choice", bridge.ActionToggle, 0, 0, nil},
		{"a question that does not exist", bridge.ActionChoose, 9, 0, nil},
		{"an input that does not exist", bridge.ActionPick, 0, 0, map[int]bridge.Input{9: {Text: "x"}}},
		{"an input of an option that does not exist", bridge.ActionPick, 0, 0, map[int]bridge.Input{0: {Options: []int{9}}}},
		{"an action that does not exist", 99, 0, 0, nil},
	} {
		if v := w.use("ana", id, c.action, c.question, c.option, c.inputs); v.Kind != bridge.VerdictUnknown {
			t.Errorf("%s: %+v", c.what, v)
		}
	}
	c := w.control("ana", id, bridge.ActionChoose, 0, 0, nil)
	for what, change := range map[string]func(*bridge.Click){
		"a token of another key": func(c *bridge.Click) { c.Token = "x" + c.Token[1:] },
		"another channel":        func(c *bridge.Click) { c.Ref.Channel = "C2" },
		"another platform":       func(c *bridge.Click) { c.Actor.Platform = "other" },
	} {
		forged := c
		change(&forged)
		if v, err := w.engine.Click(t.Context(), forged); err != nil || v.Kind != bridge.VerdictUnknown {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
	}
	unknown, _ := bridge.NewID()
	c.Token = w.keys.Sign(bridge.Control{Interaction: unknown, Action: bridge.ActionChoose})
	if v, err := w.engine.Click(t.Context(), c); err != nil || v.Kind != bridge.VerdictUnknown {
		t.Errorf("an unknown request: %+v, %v", v, err)
	}
}

// TestOneTap checks questions that one click answers.
func TestOneTap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	confirm := bridge.Question{ID: "q", Widget: bridge.WidgetConfirm}
	plan := bridge.Question{ID: "plan", Widget: bridge.WidgetPlanReview, Plan: "1. Stop. 2. Start."}
	t.Run("confirm", func(t *testing.T) {
		id := w.asked(nil, confirm).Interaction.ID
		if v := w.use("ana", id, bridge.ActionChoose, 0, 9, nil); v.Kind != bridge.VerdictUnknown {
			t.Errorf("an option that does not exist: %+v", v)
		}
		if v := w.use("ana", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
			t.Fatalf("yes: %+v", v)
		}
		if v := w.use("ana", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
			t.Errorf("the same click again: %+v", v)
		}
		if v := w.use("ana", id, bridge.ActionChoose, 0, 1, nil); v.Kind != bridge.VerdictLate || !strings.Contains(v.Note, "You already") {
			t.Errorf("another press: %+v", v)
		}
	})
	t.Run("plan", func(t *testing.T) {
		id := w.asked(nil, plan).Interaction.ID
		if v := w.use("ana", id, bridge.ActionSubmit, 1, bridge.OptionForm, map[int]bridge.Input{1: {Text: "Start first."}}); v.Kind != bridge.VerdictSettled {
			t.Fatalf("changes: %+v", v)
		}
		if got := w.get(id).Response.Answers["plan"].String(); !strings.Contains(got, bridge.PlanRequestChanges) {
			t.Errorf("the answer is %s", got)
		}
		id = w.asked(nil, plan).Interaction.ID
		if v := w.use("ana", id, bridge.ActionChoose, 0, 0, nil); v.Kind != bridge.VerdictSettled {
			t.Errorf("approve: %+v", v)
		}
	})
	t.Run("decline", func(t *testing.T) {
		id := w.asked(nil, confirm).Interaction.ID
		if v := w.use("ana", id, bridge.ActionDecline, 0, 0, nil); v.Kind == bridge.VerdictSettled {
			t.Errorf("a question that cannot be declined: %+v", v)
		}
		declinable := func(r *bridge.Request) { r.Declinable = true }
		id = w.asked(declinable, confirm).Interaction.ID
		if v := w.use("ana", id, bridge.ActionDecline, 0, 0, nil); v.Kind != bridge.VerdictSettled || w.get(id).State != bridge.StateCancelled {
			t.Errorf("decline: %+v", v)
		}
		if why := w.get(id).Response.Reason; why != "" {
			t.Errorf("the reason is %q, although no one gave one", why)
		}
		if v := w.use("bo", id, bridge.ActionDecline, 0, 0, nil); v.Kind != bridge.VerdictLate || !strings.Contains(v.Note, "ana already closed this without an answer") {
			t.Errorf("decline again: %+v", v)
		}
	})
}

// TestAnswer checks whole answers, as the API sends them.
func TestAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	text := func(s string) map[string]bridge.Answer {
		return map[string]bridge.Answer{"version": bridge.TextAnswer(s), "note": bridge.TextAnswer("a fix")}
	}
	id := w.asked(nil, versions, note).Interaction.ID
	for name, c := range map[string]struct {
		who   string
		reply bridge.Reply
		want  bridge.Code
	}{
		"unknown question": {"ana", bridge.Reply{Answers: map[string]bridge.Answer{"nope": bridge.TextAnswer("x")}}, bridge.CodeInvalid},
		"unknown option":   {"ana", bridge.Reply{Answers: text("9.9")}, bridge.CodeInvalid},
		"not a responder":  {"eve", bridge.Reply{Answers: text("1.0")}, bridge.CodeForbidden},
		"decline":          {"ana", bridge.Reply{Decline: true}, bridge.CodeInvalid},
		"reason":           {"ana", bridge.Reply{Answers: text("1.0"), Reason: "it is stable"}, bridge.CodeInvalid},
	} {
		if err := w.answer(c.who, id, c.reply); bridge.ErrorCode(err) != c.want {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
	if err := w.answer("ana", id, bridge.Reply{Answers: text("1.0")}); err != nil {
		t.Fatal(err)
	}
	if err := w.answer("bo", id, bridge.Reply{Answers: text("1.1")}); bridge.ErrorCode(err) != bridge.CodeConflict {
		t.Errorf("a second answer: %v", err)
	}
	id = w.asked(func(r *bridge.Request) { r.Declinable = true }, versions).Interaction.ID
	if err := w.answer("ana", id, bridge.Reply{Decline: true, Reason: "not today"}); err != nil || w.get(id).Response.Reason != "not today" {
		t.Errorf("decline: %v", err)
	}
	notice := bridge.Request{}
	notice.Kind, notice.Prompt = bridge.KindNotice, "Deployed."
	rec, err := w.engine.Open(t.Context(), bridge.Agent{Name: "ci"}, notice, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.answer("ana", rec.Interaction.ID, bridge.Reply{}); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("an answer to a notice: %v", err)
	}
}

// TestParts checks that a question whose options are on several pages keeps
// what was chosen on the others, even when a page is filled in again.
func TestParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	few := bridge.Question{ID: "zones", Text: "Where?", Widget: bridge.WidgetCheckbox, Options: options("a", "b", "c", "d"), AllowOther: true, MinChoices: 2}
	one := bridge.Question{ID: "one", Text: "Which?", Widget: bridge.WidgetSelect, Options: options("a", "b", "c", "d")}
	id := w.asked(nil, few, one).Interaction.ID
	first := func(chosen ...int) bridge.Input {
		return bridge.Input{Part: true, To: 2, KeepOther: true, Options: chosen}
	}
	last := func(other string, chosen ...int) bridge.Input {
		return bridge.Input{Part: true, From: 2, To: 50, Other: other, Options: chosen}
	}
	for _, step := range []struct {
		in         map[int]bridge.Input
		zones, one string
		other      string
	}{
		{map[int]bridge.Input{0: first(1), 1: first()}, "b", "", ""},
		{map[int]bridge.Input{0: last("moon", 2)}, "c b", "", "moon"},
		{map[int]bridge.Input{0: first(0)}, "a c", "", "moon"},
		{map[int]bridge.Input{1: last("", 3)}, "a c", "d", "moon"},
		{map[int]bridge.Input{1: first()}, "a c", "d", "moon"},
		{map[int]bridge.Input{1: first(1)}, "a c", "b", "moon"},
		{map[int]bridge.Input{1: first()}, "a c", "", "moon"},
		{map[int]bridge.Input{0: last("", 3), 1: first(0)}, "d a", "a", ""},
	} {
		v := w.use("ana", id, bridge.ActionPick, 0, bridge.OptionPage, step.in)
		if v.Kind != bridge.VerdictDraft {
			t.Fatalf("%+v: %+v", step.in, v)
		}
		d := v.View.Draft
		if got := strings.Join(d.Answers["zones"].Values(), " "); got != step.zones || d.Answers["one"].Text != step.one || d.Others["zones"] != step.other {
			t.Errorf("%+v: the draft is %+v", step.in, d)
		}
	}
	v := w.use("ana", id, bridge.ActionSubmit, 0, bridge.OptionForm, nil)
	if got := w.get(id); v.Kind != bridge.VerdictSettled || strings.Join(got.Response.Answers["zones"].Values(), " ") != "a d" {
		t.Errorf("the answer is %+v", got.Response)
	}
}

// TestInitialKept checks that a refused answer does not remove the initial values from a
// request whose requirements it changes.
func TestInitialKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.asked(func(r *bridge.Request) { r.Initial = map[string]bridge.Answer{"version": bridge.TextAnswer("1.1")} }, versions).Interaction.ID
	next := newSetup()
	next.routes["default"] = routeTo("C1", "bo")
	w.reload(next)
	reply := bridge.Reply{Answers: map[string]bridge.Answer{"version": bridge.TextAnswer("1.0")}}
	if err := w.answer("bo", id, reply); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("the answer under other requirements: %v", err)
	}
	if i := w.state(id, bridge.StatePending).Interaction; i.Terms != 1 || i.Initial["version"].Text != "1.1" {
		t.Errorf("terms %d, initial values %v", i.Terms, i.Initial)
	}
}
