package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/platforms/slack"
)

// TestOptions checks which options make a workspace.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]slack.Options{
		"no token": {AppToken: "a"}, "no mode": {BotToken: "b"},
		"both modes": {BotToken: "b", AppToken: "a", SigningSecret: "s"},
	} {
		if _, err := slack.New(o); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDirectFindings checks that a destination is known as a person by either
// form of a person's ID: nod doctor then asks for the scope that it needs.
func TestDirectFindings(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Sandbox.AddFault(sandbox.Fault{Service: "slack", Kind: "missing_scope", Method: "im:write"})
	for id, want := range map[string]bridge.FindingStatus{
		"U0ANA00001": bridge.FindingFailed, "W0GRID0001": bridge.FindingFailed, sandbox.SlackChannel: bridge.FindingOK,
	} {
		found := map[string]bridge.FindingStatus{}
		needs := bridge.Needs{Destinations: []bridge.Destination{{Platform: "slack", Channel: id}}}
		for _, f := range s.slack.Diagnose(t.Context(), needs) {
			found[f.Check] = f.Status
		}
		channel := bridge.FindingSkipped
		if want == bridge.FindingOK {
			channel = want
		}
		if found["slack.scopes"] != want || found["slack.channel."+id] != channel {
			t.Errorf("%s: %v", id, found)
		}
	}
}

// TestEmail checks the addresses of accounts, and their standing.
func TestEmail(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for who, fault := range map[bridge.Standing]string{
		"": "", bridge.StandingOutsider: "foreign", bridge.StandingGuest: "guest", bridge.StandingUnconfirmed: "unconfirmed",
		bridge.StandingBot: "robot",
	} {
		if fault != "" {
			s.Fault(sandbox.Fault{Kind: fault, Method: "U0ANA00001"})
		}
		if got, is, err := s.slack.Email(t.Context(), "U0ANA00001"); err != nil || !strings.Contains(got, "@") || is != who {
			t.Errorf("%s: ana has %q and is %q, %v", fault, got, is, err)
		}
		s.Sandbox.ClearFaults()
	}
	if got, _, err := s.slack.Email(t.Context(), "U0NOBODY99"); err == nil {
		t.Errorf("an unknown account has %q", got)
	}
	s.Sandbox.AddFault(sandbox.Fault{Service: "slack", Kind: "error", Status: 502})
	if got, _, err := s.slack.Email(t.Context(), "U0ANA00001"); got != "" || bridge.ErrorCode(err) != bridge.CodeUnavailable {
		t.Errorf("during an outage, ana has %q, %v", got, err)
	}
}

// TestProblemsAtTheirFields checks that a form says what is wrong at the field
// that is wrong.
func TestProblemsAtTheirFields(t *testing.T) {
	t.Parallel()
	s := newStage(t).connect()
	i := bridge.Interaction{
		ID: "0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03", Agent: "tester",
		Ask: bridge.Ask{Kind: bridge.KindAsk, Prompt: "Two things", Questions: []bridge.Question{
			{ID: "a", Text: "Where?", Widget: bridge.WidgetText}, {ID: "b", Text: "Why?", Widget: bridge.WidgetText},
		}},
		Schedule: bridge.Schedule{Deadline: time.Now().Add(time.Hour)},
	}
	v := bridge.NewView(bridge.Record{State: bridge.StatePending, Interaction: i}, 0, nil, s.Keys.Sign)
	ref, err := s.slack.Post(t.Context(), bridge.Destination{Channel: sandbox.SlackChannel}, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.sink.Shows(bridge.Form{View: v, Control: bridge.Control{Interaction: i.ID, Option: bridge.OptionForm}}, nil)
	s.sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		problems := map[int]string{1: "the second is wrong"}
		return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "something is wrong", Problems: problems}, nil
	})
	ana := s.Sandbox.Person("ana")
	opened, err := ana.Press(t.Context(), s.Place(ref), "Answer")
	if err != nil {
		t.Fatal(err)
	}
	refused, err := ana.Fill(t.Context(), "slack", opened.Modal, []string{"here"}, []string{"there"})
	if err != nil || len(refused.Errors) != 1 {
		t.Fatalf("%+v, %v", refused, err)
	}
	for field, said := range refused.Errors {
		if said != "the second is wrong" || !strings.HasPrefix(field, "q1") {
			t.Errorf("the field %s says %q", field, said)
		}
	}
}
