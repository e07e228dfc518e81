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

func never(bridge.Question) bool { return false }

func always(bridge.Question) bool { return true }

// card returns the complete text of a card.
func card(v bridge.View) (render.Card, string) {
	c := render.NewCard(v, always)
	text := strings.Join([]string{
		c.HeadText(), c.From, render.PlainText(c.Body), render.PlainText(c.Questions),
		render.PlainText(c.Closing), render.Card{Head: c.Due}.HeadText(),
		strings.Join(render.Notes(v), "\n"),
	}, "\n")
	return c, text
}

// TestEveryCard checks the properties of every card, of any kind and in any
// state.
func TestEveryCard(t *testing.T) {
	t.Parallel()
	for _, s := range rendertest.Samples() {
		t.Run(s.Name, func(t *testing.T) { checkCard(t, s.View) })
	}
}

func checkCard(t *testing.T, v bridge.View) {
	t.Helper()
	c, text := card(v)
	i := v.Record.Interaction
	if c.Notice == "" || strings.Contains(c.Notice, "\n") || c.HeadText() == "" {
		t.Errorf("the notification is %q, the headline %q", c.Notice, c.HeadText())
	}
	if !strings.Contains(c.From, i.Agent) || !strings.Contains(c.FullText(), i.Agent) {
		t.Errorf("it does not say who asks: %s", text)
	}
	if strings.Contains(text, "\u202e") {
		t.Error("it changes the direction of writing")
	}
	if i.Kind != bridge.KindNotice {
		checkState(t, v, c)
	}
}

// checkState checks how a card shows its state.
func checkState(t *testing.T, v bridge.View, c render.Card) {
	t.Helper()
	if over := v.Record.State.Final(); c.Closed != over {
		t.Errorf("closed %t, over %t", c.Closed, over)
	}
	if c.Closed && c.Whole {
		t.Error("it is closed and must be delivered in full")
	}
	if c.Closed != (len(c.Due) == 0) {
		t.Errorf("closed %t, with the deadline %v", c.Closed, c.Due)
	}
}

// TestCardSays checks that a card names the outcome of a request.
func TestCardSays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"approval":               {"Run rm -rf /tmp/<x> && echo '@here'?", "deploy-bot says:", "/srv", "Expires Nov 21, 14:05 UTC"},
		"approval-approved":      {"Approved by ana, also for identical requests in this session", "To revoke it: /nod grants", "in Telegram", "14:00:10 UTC", "was told"},
		"approval-denied":        {"Denied by ana", "Reason: not <now>"},
		"approval-expired":       {"Expired: no one answered in 5 min", "not approved"},
		"approval-cancelled":     {"Cancelled by deploy-bot", "Reason:"},
		"approval-superseded":    {"Replaced by a newer request"},
		"approval-undeliverable": {"Not delivered: no one was asked", "Cause:"},
		"approval-stopped":       {"Denied by ana, session stopped", "To resume: /nod resume"},
		"approval-edited":        {"with changes", "Changed before it was approved", "+", "/tmp/<y>"},
		"approval-rule-given":    {"Covers:"},
		"several":                {"3 fields, all required", "Region, Region, Region"},
		"several-answered":       {"ana answered", "Europe", "something else", "because <@U1>"},
		"notice":                 {"Notice from deploy-bot", "no answer needed"},
		"reprompt":               {"that *version* does not exist", "round 2", "tool collect"},
		"unfinished":             {render.NoteWaiting},
		"withheld":               {render.HeadWithheld, "Run a command?", "does not accept the text of this request", "administrator of nod: give nod a right."},
		"withheld-denied":        {"Denied by ana", "Run a command", "does not accept the text of this request"},
		"queued":                 {"stopped waiting"},
		"escalated":              {"on <call>"},
		"completed":              {"(not shown)", "Result", "deployed"},
		"handler-error":          {"could not use this", "disk *full*"},
		"preview":                {"region: eu"},
	} {
		_, text := card(find(t, name))
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q:\n%s", name, w, text)
			}
		}
	}
}

// TestAnswersAreSaidOnce checks that a closed card does not repeat the answer
// that its headline gives.
func TestAnswersAreSaidOnce(t *testing.T) {
	t.Parallel()
	answered := func(q bridge.Question, fields bridge.Answer) string {
		q.ID = "q"
		ask := bridge.Ask{Prompt: "Where to?", Questions: []bridge.Question{q}}
		if err := ask.Normalize(); err != nil {
			t.Fatal(err)
		}
		_, text := card(bridge.View{Record: bridge.Record{
			Interaction: bridge.Interaction{Ask: ask, Agent: "ci"}, State: bridge.StateAnswered,
			Response: &bridge.Response{State: bridge.StateAnswered, Actor: &bridge.Actor{Person: "ana"},
				Answers: map[string]bridge.Answer{"q": fields}},
		}})
		return text
	}
	eu, us := bridge.Option{Value: "eu", Label: "Europe"}, bridge.Option{Value: "us", Label: "Ohio"}
	text := answered(bridge.Question{Widget: bridge.WidgetButtons, Options: []bridge.Option{eu, us}}, bridge.TextAnswer("eu"))
	if strings.Count(text, "Europe") != 1 || !strings.Contains(text, "ana chose Europe") {
		t.Errorf("the card of a choice says\n%s", text)
	}
	plan := bridge.Question{Widget: bridge.WidgetPlanReview, Plan: "1. stop it"}
	text = answered(plan, bridge.Answer{JSON: []byte(`{"decision":"approve"}`)})
	if !strings.Contains(text, "Plan approved by ana") || strings.Contains(text, "(no answer)") || strings.Contains(text, "2. ") {
		t.Errorf("the card of an approved plan says\n%s", text)
	}
	text = answered(plan, bridge.Answer{JSON: []byte(`{"decision":"request_changes","feedback":"start it again"}`)})
	if strings.Count(text, "start it again") != 1 || !strings.Contains(text, "ana asked for changes") {
		t.Errorf("the card of a plan to change says\n%s", text)
	}
}

// TestCardOfVotes checks that a card names who has voted and which votes are
// missing.
func TestCardOfVotes(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	i := &v.Record.Interaction
	i.Quorum, i.Must, i.Risk, i.Requester, i.Called = 2, []string{"cy"}, "high", "dee", []string{"eve"}
	i.Redacted, i.RedactedCommand = 2, true
	v.Record.Joined = 3
	v.Record.Votes = []bridge.Vote{
		{State: bridge.StateApproved, Actor: bridge.Actor{Person: "ana"}},
		{State: bridge.StateDenied, Actor: bridge.Actor{Person: "bo"}},
	}
	_, text := card(v)
	for _, w := range []string{
		"●○ 1 of 2 approved: ana", "Still needed:", "cy", "Denied by bo", "⚠️ High", "on behalf of dee", "eve",
		"4 identical", "Redacted credentials: 2", "typed confirmation",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
	over := find(t, "approval-approved")
	over.Record.Votes = append(v.Record.Votes, bridge.Vote{State: bridge.StateApproved, Actor: bridge.Actor{Person: "cy"}})
	if _, text := card(over); !strings.Contains(text, "Approved by ana, cy") || !strings.Contains(text, "denied by bo") {
		t.Errorf("the closed card says\n%s", text)
	}
}

// TestCardOfProof checks that a card says which proof it requires, and that a
// closed one says who gave which.
func TestCardOfProof(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	i := &v.Record.Interaction
	i.StepUp = bridge.AssurancePasskey
	want := "🔑 Requires a passkey. The page to sign shows the code " + i.SignCode() + "."
	if _, text := card(v); !strings.Contains(text, want) {
		t.Errorf("it does not say %q:\n%s", want, text)
	}
	over := find(t, "approval-approved")
	over.Record.Response.Assurance = bridge.AssurancePasskey
	who := over.Record.Response.Actor.Display()
	if _, text := card(over); !strings.Contains(text, "✅ Approved by "+who+" with a passkey") {
		t.Errorf("the closed card says\n%s", text)
	}
	over.Record.Votes = []bridge.Vote{
		{State: bridge.StateApproved, Actor: bridge.Actor{Person: "ana"}, Assurance: bridge.AssurancePasskey},
		{State: bridge.StateApproved, Actor: bridge.Actor{Person: "bo"}},
	}
	if _, text := card(over); !strings.Contains(text, "Approved by ana with a passkey, bo") {
		t.Errorf("the closed card says\n%s", text)
	}
}

// TestDecisions checks the labels and inputs of decisions.
func TestDecisions(t *testing.T) {
	t.Parallel()
	v := find(t, "approval-confirm")
	i := v.Record.Interaction
	if got := render.DecisionLabel(i, bridge.DecideOnce); got != render.LabelRun+"…" {
		t.Errorf("one that opens an input says %q", got)
	}
	once := slices.Index(i.Decisions(), bridge.DecideOnce)
	for option, want := range map[int]string{
		bridge.OptionConfirm: "delete prod", bridge.OptionReason: "reason", bridge.OptionEdit: "JSON",
	} {
		in := render.Typed(bridge.Form{View: v, Control: bridge.Control{Option: option, Question: once}})
		if !strings.Contains(in.Ask+in.Exact, want) || in.Title == "" || in.Submit == "" || in.MaxLength == 0 {
			t.Errorf("%d: %+v", option, in)
		}
		if option == bridge.OptionEdit && !json.Valid([]byte(in.Initial)) {
			t.Errorf("the input to edit is %q", in.Initial)
		}
	}
}

// TestLongSubject checks that the length of a notification is limited.
func TestLongSubject(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	for _, prompt := range []string{strings.Repeat("long ", 200), "```\n```", "---"} {
		v.Record.Interaction.Prompt = prompt
		if c := render.NewCard(v, never); render.Runes(c.Notice) > 200 || c.Notice == "" {
			t.Errorf("%.20q: the notification is %q", prompt, c.Notice)
		}
	}
}

func TestSnoozeLabel(t *testing.T) {
	t.Parallel()
	sign := func(bridge.Control) string { return "" }
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10 min", time.Hour: "1 h", 90 * time.Second: "1 min 30 s", 30 * time.Second: "30 s", 100 * time.Minute: "1 h 40 min",
	} {
		i := bridge.Interaction{Schedule: bridge.Schedule{Snooze: bridge.Duration(d)}}
		extras := render.Extras(bridge.NewView(bridge.Record{Interaction: i}, 0, nil, sign))
		if len(extras) != 1 || !strings.HasSuffix(extras[0].Label, " in "+want) {
			t.Errorf("%s: %v", d, extras)
		}
	}
}

// TestLongOrigin checks that no part of the request is cut from the line
// that says who asks: a long location is part of the body, and a long session
// does not push the tool or the account out of sight.
func TestLongOrigin(t *testing.T) {
	t.Parallel()
	v := find(t, "approval")
	i := &v.Record.Interaction
	long := strings.Repeat("deep/", 100)
	i.Session = strings.Repeat("s", 200)
	i.Approval = &bridge.Approval{Tool: "run", Where: "/" + long, Input: json.RawMessage(
		`{"argv":["ls"],"program":"/bin/ls","directory":"/` + long + `","host":"` + strings.Repeat("h", 90) + `","user":"root"}`)}
	c := render.NewCard(v, never)
	body := render.PlainText(c.Body)
	for _, want := range []string{"Where  /" + long, `"directory": "/` + long, `"host": "hhh`} {
		if !strings.Contains(body, want) {
			t.Errorf("the body lacks %.40q:\n%s", want, body)
		}
	}
	if !strings.Contains(c.From, "runs as root") || !strings.Contains(c.From, "tool run") || render.Runes(c.From) > render.MaxFrom {
		t.Errorf("it is from %q", c.From)
	}
}

// TestStruck checks that a closed card strikes its action through unless the
// action was approved, or may have been approved at the terminal.
func TestStruck(t *testing.T) {
	t.Parallel()
	v := find(t, "approval-cancelled")
	v.Record.Response.Actor = nil
	for reason, want := range map[string]bool{
		bridge.ReasonAllowed: false, bridge.ReasonAnswered: false, bridge.ReasonDismissed: true, "another": true,
		bridge.ReasonAllowedEditor: false, bridge.ReasonSettledEditor: false, bridge.ReasonDismissedEditor: true, bridge.ReasonSettled: false,
	} {
		v.Record.Response.Reason = reason
		if c := render.NewCard(v, never); c.Body[0].Spans[0].Strike != want {
			t.Errorf("%s: struck through %t, want %t", reason, !want, want)
		}
	}
}
