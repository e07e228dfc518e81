package slack_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
	"github.com/nodbridge/nod/render"
)

// longer is an approval that offers more decisions than a menu can hold.
func longer(command string) bridge.Record {
	r := approval(command)
	r.Interaction.Session, r.Interaction.GrantKey = "s", "exact:1"
	r.Interaction.Approval.Decisions = []bridge.Decision{bridge.DecideDeny, bridge.DecideDenyReason, bridge.DecideDenyAlways,
		bridge.DecideDenyStop, bridge.DecideOnce, bridge.DecideSession, bridge.DecideAlways, bridge.DecideEdit}
	return r
}

// opens chooses a decision from the menu of a card and returns its modal.
func (s *stage) opens(who string, r bridge.Record, at sandbox.Place, d bridge.Decision) string {
	s.Helper()
	i := r.Interaction
	action, question, option := i.DecisionControl(slices.Index(i.Decisions(), d))
	s.sink.Shows(bridge.Form{View: s.view(r), Control: bridge.Control{Action: action, Question: question, Option: option}}, nil)
	opened, err := s.Sandbox.Person(who).Press(s.Context(), at, render.EntryLabel(i, d))
	if err != nil || opened.Modal == "" {
		s.Fatal(opened, err)
	}
	return opened.Modal
}

// TestMenuHoldsAll checks that every decision can be reached, although a menu
// has at most five entries: the dialog that asks for a reason denies always too.
func TestMenuHoldsAll(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := longer("make deploy")
	at := s.Place(s.posts(r, ""))
	entries := 0
	for _, c := range sandbox.Controls("slack", s.Sandbox.Message(at)) {
		if strings.Contains(c.ID, "#") {
			entries++
		}
	}
	if entries != 5 {
		t.Errorf("the menu has %d entries", entries)
	}
	for _, box := range [][]string{nil, {render.LabelDenyAlways}} {
		modal := s.opens("ana", r, at, bridge.DecideDenyReason)
		if _, err := s.Sandbox.Person("ana").Fill(t.Context(), "slack", modal, []string{"not today"}, box); err != nil {
			t.Fatal(err)
		}
		clicks := s.sink.Clicks()
		c := clicks[len(clicks)-1]
		want := bridge.OptionReason
		if box != nil {
			want = bridge.OptionDecide
		}
		if c.Typed != "not today" || bridge.PeekOption(c.Token) != want {
			t.Errorf("with the box %v: %q with option %d", box, c.Typed, bridge.PeekOption(c.Token))
		}
		if always := slices.Index(r.Interaction.Decisions(), bridge.DecideDenyAlways); box != nil && bridge.PeekQuestion(c.Token) != always {
			t.Errorf("it denies with decision %d", bridge.PeekQuestion(c.Token))
		}
	}
}

// TestDialogWithoutInputs checks that a refusal is shown in a dialog that has no
// input at which to show it.
func TestDialogWithoutInputs(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := longer("make deploy")
	at := s.Place(s.posts(r, ""))
	for note, answer := range map[string]func(bridge.Click) (bridge.Verdict, error){
		"not shown yet": func(bridge.Click) (bridge.Verdict, error) {
			return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "not shown yet"}, nil
		},
		"the rules changed": func(bridge.Click) (bridge.Verdict, error) {
			return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: "the rules changed"}, nil
		},
		bridge.NoteNotRecorded: func(bridge.Click) (bridge.Verdict, error) { return bridge.Verdict{}, errors.New("no store") },
	} {
		modal := s.opens("ana", r, at, bridge.DecideSession)
		s.sink.Answers(answer)
		if got, err := s.Sandbox.Person("ana").Fill(t.Context(), "slack", modal); err != nil || got.Warning != "" {
			t.Fatal(got, err)
		}
		views := s.Sandbox.Modals()
		if len(views) == 0 || !strings.Contains(sandbox.Texts(views[len(views)-1].View), note) {
			t.Errorf("%q is not shown", note)
		}
	}
}

// TestDialogTooLarge checks that a person reads why no dialog opens for a form
// that became too large for one, and that nod refuses such a request unless people
// can answer it in the console.
func TestDialogTooLarge(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	r := longer("make deploy")
	at := s.Place(s.posts(r, ""))
	r.Interaction.Kind, r.Interaction.Approval = bridge.KindAsk, nil
	r.Interaction.Prompt = strings.Repeat("far too long ", 25_000)
	r.Interaction.Questions = []bridge.Question{{ID: "q", Widget: bridge.WidgetText}}
	s.sink.Shows(bridge.Form{View: s.view(r), Control: bridge.Control{Interaction: r.Interaction.ID, Option: bridge.OptionForm}}, nil)
	if opened, err := s.Sandbox.Person("ana").Press(t.Context(), at, render.LabelDenyReason); err != nil || opened.Modal != "" {
		t.Fatal(opened, err)
	}
	s.Eventually("ana reads why", func() bool {
		return strings.Contains(strings.Join(s.Sandbox.Person("ana").Notes("slack"), " "), "too large for a dialog in Slack")
	})
	for console, want := range map[bool]bridge.Code{false: bridge.CodeUnsupported, true: ""} {
		p, err := slack.New(slack.Options{Name: "slack", BotToken: sandbox.SlackBotToken, AppToken: sandbox.SlackAppToken, Console: console})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(r.Interaction); bridge.ErrorCode(err) != want {
			t.Errorf("with a console %t, the request is refused with %v", console, err)
		}
	}
}
