package slack_test

import (
	"encoding/json"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
)

// form is a modal with an input of each kind.
func form() slackgo.ModalViewRequest {
	note := slackgo.NewPlainTextInputBlockElement(nil, "a")
	note.MinLength, note.MaxLength = 3, 5
	size := slackgo.NewNumberInputBlockElement(nil, "a", false)
	size.MinValue, size.MaxValue = "1", "9"
	date := slackgo.NewDatePickerBlockElement("a")
	date.InitialDate = "2026-01-01"
	v := modal(
		input("note", note), input("size", size), input("date", date),
		input("time", slackgo.NewTimePickerBlockElement("a")),
		input("mail", slackgo.NewEmailTextInputBlockElement(nil, "a")),
		input("link", slackgo.NewURLTextInputBlockElement(nil, "a")),
		input("one", slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, nil, "a", options("x", "y")...)),
		input("radio", slackgo.NewRadioButtonsBlockElement("a", options("x", "y")...)),
		input("many", slackgo.NewCheckboxGroupsBlockElement("a", options("x", "y")...)),
	)
	v.CallbackID = "form"
	return v
}

var formValues = [][]string{
	{"abcd"}, {"7"}, nil, {"12:30"}, {"ana@example.com"}, {"https://x.example"}, {"Label y"}, {"Label x"},
	{"Label x", "Label y"},
}

// openForm opens the form by a click. The app gives answers to submissions, one
// after the other. It returns the form, and the payloads that the app gets.
func (d *bench) openForm(answers ...any) (view string, got chan slackgo.InteractionCallback) {
	d.T.Helper()
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("open", "Open the form"))))
	got = make(chan slackgo.InteractionCallback, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		if err := json.Unmarshal(payload, &in); err != nil {
			d.T.Error(err)
		}
		got <- in
		if in.Type == slackgo.InteractionTypeViewSubmission {
			answer := answers[0]
			answers = answers[1:]
			return answer
		}
		if _, err := d.api.OpenViewContext(d.T.Context(), in.TriggerID, form()); err != nil {
			d.T.Error(err)
		}
		return nil
	})
	r, err := core.Press(d.T.Context(), d.e, "ana", at, "Open")
	if err != nil || !r.OK || r.Modal == "" {
		d.T.Fatalf("clicked: %+v %v", r, err)
	}
	return r.Modal, got
}

// fill submits the form.
func (d *bench) fill(view string, values [][]string) core.Reaction {
	d.T.Helper()
	r, err := core.Fill(d.T.Context(), d.e, "ana", view, values)
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

// TestForm checks that a click opens a modal, that the client checks it, and
// that the app gets what the member put in.
func TestForm(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	view, got := d.openForm(nil)
	if in := <-got; in.User.ID != ana || in.ActionCallback.BlockActions[0].Value != "value of open" {
		t.Errorf("the app got %+v", in)
	}
	early := d.fill(view, [][]string{{"ab"}, {"10"}, nil, {"12:30"}, {"ana"}, {"x"}})
	if len(early.Errors) != 7 {
		t.Errorf("the client finds %v", early)
	}
	if r := d.fill(view, formValues); !r.OK {
		t.Errorf("submitted: %+v", r)
	}
	if _, open := d.e.Inputs(view); open {
		t.Error("the modal is still open")
	}
	v := (<-got).View.State.Values
	if v["note"]["a"].Value != "abcd" || v["size"]["a"].Value != "7" || v["time"]["a"].SelectedTime != "12:30" ||
		v["date"]["a"].SelectedDate != "2026-01-01" || v["one"]["a"].SelectedOption.Value != "y" ||
		v["radio"]["a"].SelectedOption.Value != "x" || len(v["many"]["a"].SelectedOptions) != 2 {
		t.Errorf("the app got %+v", v)
	}
}

// TestFormAnswers checks what an app can answer to a submission.
func TestFormAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	view, _ := d.openForm(
		slackgo.NewErrorsViewSubmissionResponse(map[string]string{"note": "no"}),
		slackgo.NewErrorsViewSubmissionResponse(map[string]string{"none": "no"}),
		map[string]any{"response_action": "update", "view": modal()},
		map[string]any{"response_action": "dance"},
		slackgo.NewUpdateViewSubmissionResponse(func() *slackgo.ModalViewRequest { v := form(); return &v }()),
		slackgo.NewClearViewSubmissionResponse(),
	)
	if r := d.fill(view, formValues); r.Errors["note"] != "no" {
		t.Errorf("errors: %+v", r)
	}
	for range 3 {
		if r := d.fill(view, formValues); !strings.Contains(r.Warning, "trouble") {
			t.Errorf("a bad answer: %+v", r)
		}
	}
	if r := d.fill(view, formValues); !r.OK || r.Modal != view {
		t.Errorf("updated: %+v", r)
	}
	if r := d.fill(view, formValues); !r.OK || r.Modal != "" {
		t.Errorf("cleared: %+v", r)
	}
}

// TestImpossible checks that a member cannot do what the client does not offer.
func TestImpossible(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	at := d.post(slackgo.MsgOptionBlocks(slackgo.NewActionBlock("acts", button("go", "Go"))))
	press := core.Action{As: "ana", Do: "press", Channel: at.Channel, Message: at.Message, Control: "go"}
	for word, change := range map[string]func(*core.Action){
		"no member":           func(a *core.Action) { a.As = "zoe" },
		"cannot":              func(a *core.Action) { a.Do = "dance" },
		"no channel":          func(a *core.Action) { a.Channel = "C0NONE" },
		"no message":          func(a *core.Action) { a.Message = "1.1" },
		"no control":          func(a *core.Action) { a.Control = "stop" },
		"there is no input":   func(a *core.Action) { a.Values = map[string][]string{"none": {"x"}} },
		"is open":             func(a *core.Action) { a.Do = "close" },
		"is open for ana":     func(a *core.Action) { a.Do = "submit" },
		"no command \"mute\"": func(a *core.Action) { a.Do, a.Text = "command", "mute" },
	} {
		a := press
		change(&a)
		if _, err := d.e.Act(t.Context(), a); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got %v, want %q", err, word)
		}
	}
	if r := d.Act(press); !strings.Contains(r.Warning, "no bot is connected") {
		t.Errorf("without a socket: %+v", r)
	}
}

// TestPick checks that a select on a message is sent with the click.
func TestPick(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	at := d.post(slackgo.MsgOptionBlocks(
		input(
			"many",
			slackgo.NewCheckboxGroupsBlockElement("a", options("x", "y")...),
		),
		slackgo.NewActionBlock("acts", button("send", "Send")),
	))
	if got := labels(d.e.Controls(d.e.Message(at.Channel, at.Message))); strings.Join(got, ",") != "Field many,Send" {
		t.Errorf("controls %q", got)
	}
	got := make(chan slackgo.InteractionCallback, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any {
		var in slackgo.InteractionCallback
		_ = json.Unmarshal(payload, &in)
		got <- in
		return nil
	})
	if r, err := d.e.Pick(t.Context(), "bo", at, []string{"Label y"}, "Send"); err != nil || !r.OK {
		t.Fatalf("picked: %+v %v", r, err)
	}
	if s := (<-got).BlockActionState.Values["many"]["a"].SelectedOptions; len(s) != 1 || s[0].Value != "y" {
		t.Errorf("the app got %+v", s)
	}
	if _, err := d.e.Pick(t.Context(), "bo", at, []string{"Label z"}, "Send"); err == nil {
		t.Error("picked an option that is not there")
	}
}

// TestEnteredValues checks that a client keeps what a member entered in a
// message while its block has the same ID, and forgets it otherwise.
func TestEnteredValues(t *testing.T) {
	t.Parallel()
	d := newDesk(t, slack.Options{}, false)
	sent := make(chan json.RawMessage, 9)
	d.connect(func(_ socketmode.EventType, payload json.RawMessage) any { sent <- payload; return nil })
	blocks := func(id string) slackgo.MsgOption {
		choose := input(id, slackgo.NewRadioButtonsBlockElement("v", options("0", "1")...))
		return slackgo.MsgOptionBlocks(choose, slackgo.NewActionBlock("acts", button("go", "Go")))
	}
	at := d.post(blocks("q"))
	act := core.Action{Service: slack.Name, As: "ana", Do: "enter", Channel: at.Channel, Message: at.Message}
	act.Values = map[string][]string{"q": {"1"}}
	d.Act(act)
	chosen := func(id string) string {
		t.Helper()
		if _, _, _, err := d.api.UpdateMessageContext(t.Context(), at.Channel, at.Message, blocks(id)); err != nil {
			t.Fatal(err)
		}
		if _, err := core.Press(t.Context(), d.e, "ana", at, "Go"); err != nil {
			t.Fatal(err)
		}
		var in slackgo.InteractionCallback
		if err := json.Unmarshal(<-sent, &in); err != nil {
			t.Fatal(err)
		}
		return in.BlockActionState.Values[id]["v"].SelectedOption.Value
	}
	if got := chosen("q"); got != "1" {
		t.Errorf("after a redraw with the same block ID, %q is chosen", got)
	}
	if got := chosen("other"); got != "" {
		t.Errorf("after a redraw with another block ID, %q is chosen", got)
	}
}
