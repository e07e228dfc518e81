package slack_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// pressIn clicks a control of an open dialog, and returns what Slack does.
func (s *stage) pressIn(view, label string) sandbox.Reaction {
	s.Helper()
	var labels []string
	for _, v := range s.Sandbox.Modals() {
		for _, c := range sandbox.Controls("slack", v.View) {
			labels = append(labels, c.Label)
			if v.ID == view && strings.Contains(c.Label, label) {
				got, err := s.Sandbox.Act(s.Context(), sandbox.Action{Service: "slack", As: "ana", Do: "press", View: view, Control: c.ID})
				if err != nil {
					s.Fatal(err)
				}
				return got
			}
		}
	}
	s.Fatalf("the dialog has no %q; it has %q", label, labels)
	return sandbox.Reaction{}
}

// dialog returns the text of an open dialog.
func (s *stage) dialog(view string) string {
	for _, v := range s.Sandbox.Modals() {
		if v.ID == view {
			return sandbox.Texts(v.View)
		}
	}
	return ""
}

// TestPrivateDialog checks that the dialog which shows a private request tells the outcome
// of each click on it, even of one that nod could not record, and that a form
// opens on top of it and closes both once its decision counts.
func TestPrivateDialog(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := approval("make deploy")
	r.Interaction.Private = true
	r.Interaction.Approval.Decisions = []bridge.Decision{bridge.DecideDenyReason, bridge.DecideOnce}
	at := s.Place(s.posts(r, ""))
	opens := func() string {
		v := s.view(r)
		v.Revealed = true
		s.sink.Shows(bridge.Form{View: v, Control: render.ReviewControl(r.Interaction)}, nil)
		got, err := s.Sandbox.Person("ana").Press(t.Context(), at, render.LabelReview)
		if err != nil || got.Modal == "" {
			t.Fatal(got, err)
		}
		return got.Modal
	}
	shows := func(view, text string) {
		t.Helper()
		s.Eventually("the dialog says "+text, func() bool { return strings.Contains(s.dialog(view), text) })
	}
	fails := errors.New("no store")
	for note, answer := range map[string]func(bridge.Click) (bridge.Verdict, error){
		"the rules changed": func(bridge.Click) (bridge.Verdict, error) {
			return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "the rules changed"}, nil
		},
		bridge.NotRecorded(fails): func(bridge.Click) (bridge.Verdict, error) { return bridge.Verdict{}, fails },
	} {
		view := opens()
		s.sink.Answers(answer)
		s.pressIn(view, render.LabelRun)
		shows(view, note)
	}
	view := opens()
	s.sink.Shows(bridge.Form{}, fails)
	s.pressIn(view, render.LabelDenyReason)
	shows(view, bridge.NotRecorded(fails))

	view = opens()
	action, question, option := r.Interaction.DecisionControl(slices.Index(r.Interaction.Decisions(), bridge.DecideDenyReason))
	s.sink.Shows(bridge.Form{View: s.view(r), Control: bridge.Control{Action: action, Question: question, Option: option}}, nil)
	form := s.pressIn(view, render.LabelDenyReason).Modal
	if form == "" || s.dialog(view) == "" {
		t.Fatalf("the form %q does not open on top of the dialog", form)
	}
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return bridge.Verdict{Kind: bridge.VerdictSettled}, nil })
	if got, err := s.Sandbox.Person("ana").Fill(t.Context(), "slack", form, []string{"not today"}); err != nil || got.Warning != "" {
		t.Fatal(got, err)
	}
	s.Eventually("both dialogs are closed", func() bool { return s.dialog(view) == "" && s.dialog(form) == "" })
}
