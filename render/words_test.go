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
	var c render.Card
	if len(v.Batch) > 0 {
		c, _ = render.NewBatch(v, false)
	} else {
		c = render.NewCard(v, always)
	}
	text := strings.Join([]string{
		c.Icon, c.Headline, c.From, render.PlainText(c.Body), render.PlainText(c.Questions),
		render.PlainText(c.Closing), c.Digest,
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
	if c.Notice == "" || strings.Contains(c.Notice, "\n") || c.Icon == "" || c.Headline == "" {
		t.Errorf("the notification is %q, the headline %q", c.Notice, c.Headline)
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
	i, alone := v.Record.Interaction, len(v.Batch) == 0
	if over := v.Record.State.Final(); alone && c.Closed != over {
		t.Errorf("closed %t, over %t", c.Closed, over)
	}
	if c.Closed && c.Whole {
		t.Error("it is closed and must be delivered in full")
	}
	if alone && i.Approval != nil && !strings.HasPrefix(c.Digest, "sha256:") {
		t.Errorf("the digest is %q", c.Digest)
	}
}

// sample returns the view with a name.
func sample(t *testing.T, name string) bridge.View {
	t.Helper()
	all := rendertest.Samples()
	n := slices.IndexFunc(all, func(s rendertest.Sample) bool { return s.Name == name })
	if n < 0 {
		t.Fatalf("no sample %q", name)
	}
	return all[n].View
}

// TestCardSays checks that a card names the outcome of a request.
func TestCardSays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"approval":               {"Permission wanted", "tool bash", "rm -rf /tmp/<x>", "/srv"},
		"approval-approved":      {"Approved for this session by ana", "on telegram", "14:00:10 UTC", "has received this"},
		"approval-denied":        {"Denied by", "Reason: not <now>"},
		"approval-expired":       {"Expired"},
		"approval-cancelled":     {"Withdrawn by the agent", "Reason:"},
		"approval-superseded":    {"Asked again"},
		"approval-undeliverable": {"Could not be delivered"},
		"approval-stopped":       {"the agent stopped"},
		"approval-edited":        {"Approved with changes", "Changed before it was approved", "+", "/tmp/<y>"},
		"approval-rule":          {"clean", "rm *"},
		"approval-rule-given":    {"Covers:"},
		"several":                {"1. [Region] Which", "3. [Region] Which", "Frankfurt & Dublin"},
		"several-answered":       {"Answered by", "Europe", "something else", "because <@U1>"},
		"notice":                 {"For your information"},
		"reprompt":               {"that *version* does not exist", "round 2", "tool collect"},
		"read-only":              {render.NoteReadOnly},
		"queued":                 {"has moved on"},
		"escalated":              {"on <call>"},
		"completed":              {"(not shown)", "Result", "deployed"},
		"handler-error":          {"could not use this", "disk *full*", "no longer waiting"},
		"preview":                {"region: eu"},
		"batch":                  {"3 permissions wanted", "1. Step", "3. Step", "step 3 --force"},
		"batch-partly":           {"1 of 3 permissions", "Approved for this session", "Denied"},
		"batch-closed":           {"all decided", "Expired"},
	} {
		_, text := card(sample(t, name))
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q:\n%s", name, w, text)
			}
		}
	}
}

// TestCardOfVotes checks that a card names who has voted and which votes are
// missing.
func TestCardOfVotes(t *testing.T) {
	t.Parallel()
	v := sample(t, "approval")
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
		"1 of 2 have approved: ana", "Still needed:", "cy", "Denied by bo", "high risk", "for dee", "eve",
		"4 identical", "Redacted credentials: 2", "typed confirmation",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
	over := sample(t, "approval-approved")
	over.Record.Votes = append(v.Record.Votes, bridge.Vote{State: bridge.StateApproved, Actor: bridge.Actor{Person: "cy"}})
	if _, text := card(over); !strings.Contains(text, "Approved by ana, cy") || !strings.Contains(text, "denied by bo") {
		t.Errorf("the closed card says\n%s", text)
	}
}

// TestBatchControls checks which decisions a batch offers for one approval and
// for all.
func TestBatchControls(t *testing.T) {
	t.Parallel()
	v := sample(t, "batch")
	_, items := render.NewBatch(v, false)
	_, short := render.NewBatch(v, true)
	label := items[1].Label(items[1].Decisions[0])
	if len(short[0].Decisions) >= len(items[0].Decisions) || label != "2 · "+render.LabelDeny {
		t.Errorf("%v and %v, %q", items[0].Decisions, short[0].Decisions, label)
	}
	var labels []string
	for _, a := range render.ForAll(items) {
		labels = append(labels, a.Label)
	}
	if got := strings.Join(labels, ", "); got != "Deny all, Allow all once, Allow all for this session" {
		t.Errorf("for all: %s", got)
	}
	_, partly := render.NewBatch(sample(t, "batch-partly"), false)
	if len(render.ForAll(partly)) > 0 || len(partly[0].Decisions) > 0 {
		t.Error("what is decided is offered again")
	}
}

// TestDecisions checks the labels, tones and inputs of decisions.
func TestDecisions(t *testing.T) {
	t.Parallel()
	v := sample(t, "approval-confirm")
	i := v.Record.Interaction
	if got := render.DecisionLabel(i, bridge.DecideOnce); got != render.LabelOnce+"…" {
		t.Errorf("one that opens an input says %q", got)
	}
	careful := sample(t, "approval-able").Record.Interaction
	if render.DecisionTone(i, bridge.DecideDeny) != render.Bad ||
		render.DecisionTone(i, bridge.DecideOnce) != render.Good ||
		render.DecisionTone(careful, bridge.DecideOnce) != render.Plain {
		t.Error("the tones are wrong")
	}
	once := slices.Index(i.Decisions(), bridge.DecideOnce)
	for option, want := range map[int]string{
		bridge.OptionConfirm: "delete prod", bridge.OptionReason: "reason", bridge.OptionEdit: "JSON",
	} {
		in := render.Typed(bridge.Form{View: v, Control: bridge.Control{Option: option, Question: once}})
		if !strings.Contains(in.Ask, want) || in.Title == "" || in.Submit == "" || in.MaxLength == 0 {
			t.Errorf("%d: %+v", option, in)
		}
		if option == bridge.OptionEdit && !json.Valid([]byte(in.Initial)) {
			t.Errorf("the input to edit is %q", in.Initial)
		}
	}
}

// TestOptions checks how options are listed and labeled.
func TestOptions(t *testing.T) {
	t.Parallel()
	q := sample(t, "select").Record.Interaction.Questions[0]
	if !render.HasDescriptions(q) || render.HasPreviews(q) {
		t.Error("the options have descriptions and no previews")
	}
	if !render.LabelsFit(q, 20, render.Runes) || render.LabelsFit(q, 5, render.Runes) {
		t.Error("the labels fit 20 characters, and not 5")
	}
	if got := render.OptionLabel(q, 1, 80, render.Runes); got != "America <east>" {
		t.Errorf("a label that fits is %q", got)
	}
	if got := render.OptionLabel(q, 1, 8, render.Runes); !strings.HasPrefix(got, "2. Ame") || render.Runes(got) > 8 {
		t.Errorf("a label that does not fit is %q", got)
	}
	if got := render.PlainText([]render.Block{render.OptionList(q)}); !strings.Contains(got, "1. Europe: Frankfurt & Dublin") {
		t.Errorf("the list is %q", got)
	}
	for w, want := range map[bridge.Widget]string{
		bridge.WidgetSelect: render.LabelOK, bridge.WidgetActionSelection: render.LabelContinue,
		bridge.WidgetRadio: render.LabelSubmit,
	} {
		if got := render.SubmitLabel(bridge.Question{Widget: w}); got != want {
			t.Errorf("%s: %q", w, got)
		}
	}
}

// TestReview checks that a review shows every field with its value.
func TestReviewNotes(t *testing.T) {
	t.Parallel()
	v := sample(t, "several")
	fields := v.Record.Interaction.Fields()
	if got := render.FieldName(fields[0]); got != "[Region] Which *one* for where?" {
		t.Errorf("the name is %q", got)
	}
	text := render.PlainText(render.Review(v))
	for _, want := range []string{"1/3", "3/3", "America <east>", render.NothingYet} {
		if !strings.Contains(text, want) {
			t.Errorf("the review does not say %q:\n%s", want, text)
		}
	}
}

// TestExtras checks the controls that do not answer the request.
func TestCardExtras(t *testing.T) {
	t.Parallel()
	v := sample(t, "approval")
	v.Record.Interaction.Snooze = bridge.Duration(time.Minute)
	v.Record.Interaction.HandOver = []string{"bo", "cy", "dee", "eve", "fay"}
	got := render.Extras(v)
	named := strings.Contains(got[0].Label, "1m") && strings.Contains(got[1].Label, "bo")
	if len(got) != 5 || !named || got[0].Token == got[1].Token {
		t.Errorf("%+v", got)
	}
}

// TestLongSubject checks that the length of a notification is limited.
func TestLongSubject(t *testing.T) {
	t.Parallel()
	v := sample(t, "approval")
	for _, prompt := range []string{strings.Repeat("long ", 200), "```\n```", "---"} {
		v.Record.Interaction.Prompt = prompt
		if c := render.NewCard(v, never); render.Runes(c.Notice) > 200 || c.Notice == "" {
			t.Errorf("%.20q: the notification is %q", prompt, c.Notice)
		}
	}
	if got := render.Until(time.Date(2026, 11, 21, 14, 5, 0, 0, time.FixedZone("", 3600))); got != "13:05 UTC" {
		t.Errorf("until %s", got)
	}
}

func TestSnoozeLabel(t *testing.T) {
	t.Parallel()
	sign := func(bridge.Control) string { return "" }
	for d, want := range map[time.Duration]string{
		10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Second: "1m30s", 30 * time.Second: "30s", 100 * time.Minute: "1h40m",
	} {
		i := bridge.Interaction{Schedule: bridge.Schedule{Snooze: bridge.Duration(d)}}
		extras := render.Extras(bridge.NewView(bridge.Record{Interaction: i}, 0, nil, sign))
		if len(extras) != 1 || !strings.HasSuffix(extras[0].Label, " in "+want) {
			t.Errorf("%s: %v", d, extras)
		}
	}
}
