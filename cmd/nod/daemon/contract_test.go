package daemon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestContract checks what every platform must do, through its real SDK and
// against the emulated service.
func TestContract(t *testing.T) {
	t.Parallel()
	for _, service := range rig.Services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{})
			for _, c := range contract {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.T = t
					c.test(&sub, service)
				})
			}
		})
	}
}

var contract = []struct {
	name string
	test func(r *rig.Rig, service string)
}{
	{"one click answers", func(r *rig.Rig, s string) {
		a := r.Ask(rig.One(bridge.WidgetButtons, rig.Choices("eu", "us")...))
		r.Press("ana", a.On(s), "Us")
		wantAnswer(a, bridge.TextAnswer("us"))
		a.Closed("ana", s, "Us")
	}},
	{"a bare prompt is yes or no", func(r *rig.Rig, s string) {
		a := r.Ask(bridge.Request{})
		r.Press("bo", a.On(s), "No")
		if got := a.End(); got.Response.Answers["q1"].Text != "no" {
			r.T.Errorf("answered %v", got.Response.Answers)
		}
	}},
	{"select does nothing until one is chosen", func(r *rig.Rig, s string) { choiceNeedsChoice(r, s, bridge.WidgetSelect, "Submit") }},
	{"radio does nothing until one is chosen", func(r *rig.Rig, s string) {
		if s != "discord" { // its form requires a choice
			choiceNeedsChoice(r, s, bridge.WidgetRadio, "Submit")
			return
		}
		a := r.Ask(rig.One(bridge.WidgetRadio, rig.Choices("eu", "us")...))
		r.Choose("ana", a.On(s), bridge.WidgetRadio, "Us")
		wantAnswer(a, bridge.TextAnswer("us"))
	}},
	{"checkbox takes several, in the order of the options", func(r *rig.Rig, s string) {
		a := r.Ask(rig.One(bridge.WidgetCheckbox, rig.Choices("api", "cron", "web")...))
		r.Choose("ana", a.On(s), bridge.WidgetCheckbox, "Web", "Api")
		wantAnswer(a, bridge.ListAnswer("api", "web"))
	}},
	{"an optional checkbox may be empty", func(r *rig.Rig, s string) {
		req := rig.One(bridge.WidgetCheckbox, rig.Choices("api", "cron")...)
		no := false
		req.Questions[0].Required = &no
		a := r.Ask(req)
		r.Choose("ana", a.On(s), bridge.WidgetCheckbox)
		wantAnswer(a, bridge.ListAnswer())
	}},
	{"defaults are preselected", func(r *rig.Rig, s string) {
		req := rig.One(bridge.WidgetSelect, rig.Choices("eu", "us")...)
		d := bridge.TextAnswer("us")
		req.Questions[0].Default = &d
		a := r.Ask(req)
		r.Press("ana", a.On(s), "Submit")
		wantAnswer(a, bridge.TextAnswer("us"))
	}},
	{"text", func(r *rig.Rig, s string) {
		a := r.Ask(rig.One(bridge.WidgetText))
		r.Typed("ana", a.On(s), "Answer", "a <b>*line*</b> @everyone & more")
		wantAnswer(a, bridge.TextAnswer("a <b>*line*</b> @everyone & more"))
		harmless(a, s)
	}},
	{"textarea", func(r *rig.Rig, s string) {
		a := r.Ask(rig.One(bridge.WidgetTextarea))
		r.Typed("ana", a.On(s), "Answer", "two\nlines")
		wantAnswer(a, bridge.TextAnswer("two\nlines"))
	}},
	{"an invalid text is rejected where it was entered", func(r *rig.Rig, s string) {
		req := rig.One(bridge.WidgetText)
		req.Questions[0].Pattern = `v\d+`
		a := r.Ask(req)
		reaction := r.Typed("ana", a.On(s), "Answer", "latest")
		if s == "telegram" {
			r.Eventually("the reply is rejected", func() bool {
				return strings.Contains(rig.Chat(r, a.On(s).Channel), "does not match the required format")
			})
		} else {
			r.Told("ana", s, reaction, "does not match the required format")
		}
		a.Pending(s)
		switch s {
		case "slack": // the modal stays open with the text
			reaction, err := r.Sandbox.Person("ana").Fill(r.Ctx, s, r.Sandbox.State().Slack.Views[0].ID, []string{"v7"})
			rig.Must(r.T, reaction, err)
		case "discord":
			r.Typed("ana", a.On(s), "Answer", "v7")
		default:
			reaction, err := r.Sandbox.Person("ana").Reply(r.Ctx, a.On(s).Channel, "v7")
			rig.Must(r.T, reaction, err)
		}
		wantAnswer(a, bridge.TextAnswer("v7"))
	}},
	{"free text in addition to the options", func(r *rig.Rig, s string) {
		req := rig.One(bridge.WidgetButtons, rig.Choices("eu", "us")...)
		req.Questions[0].AllowOther = true
		a := r.Ask(req)
		r.Typed("ana", a.On(s), "Something else", "Antarctica")
		got := a.End()
		if got.Response.Answers["q"].Text != "Antarctica" || !got.Response.Annotations["q"].Other {
			r.T.Errorf("got %+v", got.Response)
		}
	}},
	{"several questions in one request", severalQuestions},
	{"every scope of an approval", func(r *rig.Rig, s string) {
		for label, want := range map[string]bridge.Scope{"Run command": bridge.ScopeOnce, "this session": bridge.ScopeSession, "Always": bridge.ScopeAlways} {
			req := rig.Approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
			req.Approval.Where = "/" + s + "/" + label // a different request
			a := r.Ask(req)
			if !strings.Contains(a.Text(s), "make deploy") || !strings.Contains(a.Text(s), "sha256:"+a.Interaction.Digest[:12]) {
				r.T.Errorf("the card does not show the command and its digest: %s", a.Text(s))
			}
			r.Press("ana", a.On(s), label)
			if got := a.End(); got.State != bridge.StateApproved || got.Response.Scope != want || got.Response.Digest != a.Interaction.Digest {
				r.T.Errorf("%s: %s %+v", label, got.State, got.Response)
			}
			a.Closed("ana")
		}
	}},
	{"deny", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		r.Press("ana", a.On(s), "Deny")
		if got := a.End(); got.State != bridge.StateDenied {
			r.T.Errorf("state %s", got.State)
		}
		a.Closed("Denied")
	}},
	{"deny with a reason", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		r.Typed("ana", a.On(s), "reason", "not on a Friday")
		if got := a.End(); got.State != bridge.StateDenied || got.Response.Reason != "not on a Friday" {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		a.Closed("Denied", "not on a Friday")
	}},
	{"an outsider is rejected and changes nothing", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		for _, label := range []string{"Run command", "Deny", "reason"} {
			reaction := r.Press("mal", a.On(s), label)
			r.Told("mal", s, reaction, "may not answer")
			if reaction.Modal != "" {
				r.T.Error("a form opened")
			}
		}
		a.Pending(s)
		r.Press("ana", a.On(s), "Run command")
		a.End()
	}},
	{"the second answer loses and is told who won", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		old := holding(r, a, s, "Deny", "bo") // clicked before the card closes
		if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); err != nil {
			r.T.Fatal(err)
		}
		reaction, err := r.Sandbox.Act(r.Ctx, old)
		if err == nil && reaction.Warning == "" {
			r.Told("bo", s, reaction, "Already decided by ana")
		}
		if got := a.End(); got.State != bridge.StateApproved || got.Response.Actor.Platform != "api" {
			r.T.Errorf("%s %+v", got.State, got.Response)
		}
		a.Closed("ana")
	}},
	{"a delivery repeated by the service changes nothing", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		r.Sandbox.AddFault(sandbox.Fault{Service: s, Kind: "event_duplicate", Count: 1})
		r.Press("ana", a.On(s), "Run command")
		if got := a.End(); got.State != bridge.StateApproved {
			r.T.Errorf("state %s", got.State)
		}
		a.Closed("ana")
	}},
	{"a timeout expires, and late clicks are rejected", func(r *rig.Rig, s string) {
		req := rig.Approval()
		req.Timeout = bridge.Duration(time.Second)
		a := r.Ask(req)
		late := holding(r, a, s, "Run command", "bo")
		if got := a.End(); got.State != bridge.StateExpired {
			r.T.Errorf("state %s", got.State)
		}
		a.Closed("Expired")
		if s == "telegram" { // only its clients can send controls that are gone
			reaction, err := r.Sandbox.Act(r.Ctx, late)
			r.Told("bo", s, rig.Must(r.T, reaction, err), "Too late")
		}
	}},
	{"a cancelled request is marked on the card", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		if _, err := r.Agent.Cancel(r.Ctx, a.Interaction.ID, "no longer needed"); err != nil {
			r.T.Fatal(err)
		}
		a.Closed("Withdrawn", "no longer needed")
	}},
	{"the card shows that the agent has the answer", func(r *rig.Rig, s string) {
		a := r.Ask(rig.Approval())
		r.Press("ana", a.On(s), "Run command")
		a.Closed("The agent was no longer waiting")
		a.End()
		a.Closed("has the answer")
	}},
	{"a long text is shown completely before it can be approved", longText},
	{"many options", func(r *rig.Rig, s string) {
		for _, n := range []int{26, 60, 120, 200} {
			var o []bridge.Option
			for k := range n {
				o = append(o, bridge.Option{Value: fmt.Sprintf("v%03d", k), Label: fmt.Sprintf("Option %03d", k)})
			}
			a := r.Ask(rig.One(bridge.WidgetSelect, o...))
			chooseFromMany(r, a, s, fmt.Sprintf("Option %03d", n-1))
			wantAnswer(a, bridge.TextAnswer(fmt.Sprintf("v%03d", n-1)))
		}
	}},
	{"untrusted text is harmless", func(r *rig.Rig, s string) {
		a := r.Ask(bridge.Request{Ask: bridge.Ask{
			Prompt: "@everyone @here <!channel> <@U0ANA00001> <@300000000000000001> @ana_tg [bank](https://evil.example) [x](javascript:1) **b** `c` ```\n@everyone\n``` <b>x</b> \u202egnp",
			Questions: []bridge.Question{{ID: "q", Text: "@here <!here> _x_", Widget: bridge.WidgetButtons, Options: []bridge.Option{
				{Value: "<!channel>", Label: "<!channel> @everyone :smile:", Description: "@everyone <@U0BO000002> *x*"}, {Value: "b"}}}},
		}})
		harmless(a, s)
		if !strings.Contains(a.Text(s), "evil.example") {
			r.T.Errorf("the link does not show its URL: %s", a.Text(s))
		}
		r.Press("ana", a.On(s), "everyone")
		wantAnswer(a, bridge.TextAnswer("<!channel>"))
		harmless(a, s)
	}},
	{"a session keeps together", func(r *rig.Rig, s string) {
		req := rig.Approval()
		first := r.Ask(req)
		second := r.Ask(req)
		m := r.Sandbox.Message(second.On(s))
		together := map[string]bool{
			"slack":    m["thread_ts"] == first.On(s).Message,
			"discord":  second.On(s).Channel == first.On(s).Message,
			"telegram": m["reply_to_message"] != nil,
		}
		if !together[s] {
			r.T.Errorf("the second card does not follow the first: %v", m)
		}
		r.Press("ana", second.On(s), "Run command")
		second.End()
	}},
	{"nod waits as long as a rate limit requires", func(r *rig.Rig, s string) {
		post := map[string]string{"slack": "chat.postMessage", "discord": "POST /channels/{channel}/messages", "telegram": "sendMessage"}[s]
		r.Sandbox.AddFault(sandbox.Fault{Service: s, Method: post, Kind: "rate_limit", RetryAfter: 1, Count: 1})
		r.Sandbox.AddFault(sandbox.Fault{Service: s, Method: post, Kind: "error", Status: 502, Count: 1})
		a := r.Ask(rig.Approval())
		r.Press("ana", a.On(s), "Run command")
		a.End()
		a.Closed("ana")
	}},
	{"a failed edit is repeated", func(r *rig.Rig, s string) {
		edit := map[string]string{"slack": "chat.update", "discord": "PATCH /channels/{channel}/messages/{message}", "telegram": "editMessageText"}[s]
		a := r.Ask(rig.Approval())
		for range 2 {
			r.Sandbox.AddFault(sandbox.Fault{Service: s, Method: edit, Kind: "error", Status: 500, Count: 1})
			r.Sandbox.AddFault(sandbox.Fault{Service: s, Method: edit, Kind: "drop_after", Count: 1})
		}
		if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, rig.AnswerOnce); err != nil {
			r.T.Fatal(err)
		}
		a.Closed("ana")
	}},
}

func wantAnswer(a rig.Asked, want bridge.Answer) {
	a.R.T.Helper()
	got := a.End()
	if got.State != bridge.StateAnswered || got.Response.Annotations == nil {
		a.R.T.Fatalf("%s %+v", got.State, got.Response)
	}
	if d := cmp.Diff(want, got.Response.Answers["q"]); d != "" {
		a.R.T.Errorf("the answer (-want +got): %s", d)
	}
}

func choiceNeedsChoice(r *rig.Rig, s string, w bridge.Widget, submit string) {
	r.T.Helper()
	a := r.Ask(rig.One(w, rig.Choices("eu", "us")...))
	reaction := r.Press("ana", a.On(s), submit)
	r.Told("ana", s, reaction, "Choose one first")
	a.Pending(s)
	r.Choose("ana", a.On(s), w, "Us")
	wantAnswer(a, bridge.TextAnswer("us"))
}

func severalQuestions(r *rig.Rig, s string) {
	no := false
	a := r.Ask(bridge.Request{Ask: bridge.Ask{Prompt: "Before I start:", Questions: []bridge.Question{
		{ID: "region", Header: "Region", Text: "Where?", Widget: bridge.WidgetRadio, Options: rig.Choices("eu", "us")},
		{ID: "what", Header: "What", Text: "Which services?", Widget: bridge.WidgetCheckbox, Options: rig.Choices("api", "cron", "web"), AllowOther: true},
		{ID: "why", Text: "Why?", Widget: bridge.WidgetText},
		{ID: "note", Text: "Anything else?", Widget: bridge.WidgetTextarea, Required: &no},
	}}})
	at, cy := a.On(s), r.Sandbox.Person("cy")
	if s == "telegram" {
		r.Press("cy", at, "Us")
		r.Press("cy", at, "Next")
		r.Press("cy", at, "Web")
		r.Typed("cy", at, "Something else", "mail")
		r.Eventually("the wizard continues", func() bool { return strings.Contains(a.Text(s), "3/4") })
		r.Typed("cy", at, "Answer", "because")
		r.Eventually("the wizard continues", func() bool { return strings.Contains(a.Text(s), "4/4") })
		r.Press("cy", at, "Skip")
		r.Eventually("the review shows the answers", func() bool {
			return strings.Contains(a.Text(s), "Check and submit") && strings.Contains(a.Text(s), "because")
		})
		// Another person cannot submit these selections.
		r.Told("bo", s, r.Press("bo", at, "Submit"), "showed the choice of cy")
		r.Eventually("the card shows bo's draft", func() bool { return strings.Contains(a.Text(s), "bo is answering") })
		for _, step := range []string{"1/4", "2/4", "3/4", "4/4"} { // the draft has cy's answers
			r.Eventually("the wizard continues", func() bool { return strings.Contains(a.Text(s), step) })
			r.Press("cy", at, "▶")
		}
		r.Press("cy", at, "Submit")
	} else {
		opened := r.Press("cy", at, "Answer")
		fields := [][]string{{"Us"}, {"Web"}, {"mail"}, {"because"}, {""}}
		if s == "discord" {
			fields[4] = nil // leave a text input empty
		}
		reaction, err := cy.Fill(r.Ctx, s, opened.Modal, fields...)
		rig.Must(r.T, reaction, err)
	}
	got := a.End()
	want := map[string]bridge.Answer{"region": bridge.TextAnswer("us"), "what": bridge.ListAnswer("web", "mail"), "why": bridge.TextAnswer("because")}
	if d := cmp.Diff(want, got.Response.Answers); d != "" {
		r.T.Errorf("the answers (-want +got): %s", d)
	}
	a.Closed("because", "mail", "cy")
}

// longText sends a request that is too long for any card.
func longText(r *rig.Rig, s string) {
	req := rig.Approval()
	var b strings.Builder
	for n := range 900 {
		fmt.Fprintf(&b, "step %03d: rm -rf /data/%03d\n", n, n)
	}
	req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, b.String())
	a := r.Ask(req)
	state := r.Sandbox.State()
	var whole strings.Builder
	switch s {
	case "slack":
		for _, c := range state.Slack.Channels {
			for _, m := range c.Messages {
				if m["ts"] == a.On(s).Message {
					break // only the messages before the card
				}
				whole.WriteString(sandbox.Texts(m))
			}
		}
	case "discord":
		whole.WriteString(r.Sandbox.Person("ana").Sees(a.On(s)))
	case "telegram":
		for _, c := range state.Telegram.Chats {
			for n, m := range c.Messages {
				if fmt.Sprint(m["message_id"]) == a.On(s).Message && c.ID == a.On(s).Channel {
					whole.WriteString(rig.Fetch(r, r.Base+c.Messages[n-1]["document"].(map[string]any)["url"].(string)))
				}
			}
		}
	}
	for _, line := range []string{"step 000: rm -rf /data/000", "step 450: rm -rf /data/450", "step 899: rm -rf /data/899"} {
		if !strings.Contains(whole.String(), line) {
			r.T.Errorf("%q is not shown anywhere", line)
		}
	}
	if !strings.Contains(a.Text(s), "full text") {
		r.T.Errorf("the card does not say that it is shortened: %s", a.Text(s))
	}
	r.Press("ana", a.On(s), "Run command")
	a.End()
}

func chooseFromMany(r *rig.Rig, a rig.Asked, s, label string) {
	r.T.Helper()
	at := a.On(s)
	switch s {
	case "telegram":
		if !slices.ContainsFunc(a.Controls(s), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) }) {
			r.Press("ana", at, "◀") // the last page is the one before the first
		}
		r.Choose("ana", at, bridge.WidgetSelect, label)
		return
	case "slack":
		opened := r.Press("ana", at, "Choose")
		reaction, err := r.Sandbox.Person("ana").Fill(r.Ctx, s, opened.Modal, []string{label})
		rig.Must(r.T, reaction, err)
		return
	}
	n, opener := len(a.Interaction.Questions[0].Options), "Choose"
	if n > 125 { // each modal holds five selects of 25
		opener, n = "Choose 126", n-125
	}
	opened := r.Press("ana", at, opener)
	var fields [][]string // the options are spread over several selects; the last holds ours
	for range (n+24)/25 - 1 {
		fields = append(fields, nil)
	}
	reaction, err := r.Sandbox.Person("ana").Fill(r.Ctx, s, opened.Modal, append(fields, []string{label})...)
	rig.Must(r.T, reaction, err)
}

// harmless fails the test if untrusted text in a message pings someone or hides
// the target of a link.
func harmless(a rig.Asked, s string) {
	a.R.T.Helper()
	m := a.R.Sandbox.Message(a.On(s))
	raw := fmt.Sprint(m)
	switch s {
	case "slack":
		if strings.Contains(fmt.Sprint(m["text"]), "<!") || strings.Contains(fmt.Sprint(m["text"]), "<@") {
			a.R.T.Errorf("the text can mention: %v", m["text"])
		}
		for _, kind := range []string{"type:user ", "type:broadcast", "type:usergroup", "type:channel "} {
			if strings.Contains(raw, kind) {
				a.R.T.Errorf("a mention in %v", raw)
			}
		}
		if strings.Contains(raw, "verbatim:false") {
			a.R.T.Errorf("parsed text in %v", raw)
		}
	case "discord":
		if m["mention_everyone"] == true || len(m["mentions"].([]any)) > 0 {
			a.R.T.Errorf("the message pings: %v", raw)
		}
	case "telegram":
		if m["detected_mentions"] != nil {
			a.R.T.Errorf("the message mentions %v", m["detected_mentions"])
		}
	}
}

// holding returns a click that is prepared while the controls are shown.
func holding(r *rig.Rig, a rig.Asked, service, label, who string) sandbox.Action {
	at := a.On(service)
	act := sandbox.Action{Service: service, As: who, Do: "press", Channel: at.Channel, Message: at.Message}
	for _, c := range a.Controls(service) {
		if act.Control == "" && strings.Contains(c.Label, label) {
			act.Control = c.ID
		}
	}
	return act
}
