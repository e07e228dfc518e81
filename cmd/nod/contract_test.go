package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestContract is what every platform must do, through its real SDK, against
// the emulated service.
func TestContract(t *testing.T) {
	t.Parallel()
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{})
			for _, c := range contract {
				t.Run(c.name, func(t *testing.T) {
					sub := *r
					sub.t = t
					c.test(&sub, service)
				})
			}
		})
	}
}

var contract = []struct {
	name string
	test func(r *rig, service string)
}{
	{"one tap answers", func(r *rig, s string) {
		a := r.ask(one(bridge.WidgetButtons, options("eu", "us")...))
		r.press("ana", a.on(s), "Us")
		wantAnswer(a, bridge.TextAnswer("us"))
		a.closed("ana", s, "Us")
	}},
	{"a bare prompt is yes or no", func(r *rig, s string) {
		a := r.ask(bridge.Request{})
		r.press("bo", a.on(s), "No")
		if got := a.end(); got.Response.Answers["q1"].Text != "no" {
			r.t.Errorf("answered %v", got.Response.Answers)
		}
	}},
	{"select does nothing until one is chosen", func(r *rig, s string) { choiceNeedsChoice(r, s, bridge.WidgetSelect, "OK") }},
	{"radio does nothing until one is chosen", func(r *rig, s string) {
		if s != "discord" { // there the form itself demands it
			choiceNeedsChoice(r, s, bridge.WidgetRadio, "Submit")
			return
		}
		a := r.ask(one(bridge.WidgetRadio, options("eu", "us")...))
		r.choose("ana", a.on(s), bridge.WidgetRadio, "Us")
		wantAnswer(a, bridge.TextAnswer("us"))
	}},
	{"checkbox takes several, in the order of the options", func(r *rig, s string) {
		a := r.ask(one(bridge.WidgetCheckbox, options("api", "cron", "web")...))
		r.choose("ana", a.on(s), bridge.WidgetCheckbox, "Web", "Api")
		wantAnswer(a, bridge.ListAnswer("api", "web"))
	}},
	{"an optional checkbox may be empty", func(r *rig, s string) {
		req := one(bridge.WidgetCheckbox, options("api", "cron")...)
		no := false
		req.Questions[0].Required = &no
		a := r.ask(req)
		r.choose("ana", a.on(s), bridge.WidgetCheckbox)
		wantAnswer(a, bridge.ListAnswer())
	}},
	{"defaults are preselected", func(r *rig, s string) {
		req := one(bridge.WidgetSelect, options("eu", "us")...)
		d := bridge.TextAnswer("us")
		req.Questions[0].Default = &d
		a := r.ask(req)
		r.press("ana", a.on(s), "OK")
		wantAnswer(a, bridge.TextAnswer("us"))
	}},
	{"text", func(r *rig, s string) {
		a := r.ask(one(bridge.WidgetText))
		r.typed("ana", a.on(s), "Answer", "a <b>*line*</b> @everyone & more")
		wantAnswer(a, bridge.TextAnswer("a <b>*line*</b> @everyone & more"))
		harmless(a, s)
	}},
	{"textarea", func(r *rig, s string) {
		a := r.ask(one(bridge.WidgetTextarea))
		r.typed("ana", a.on(s), "Answer", "two\nlines")
		wantAnswer(a, bridge.TextAnswer("two\nlines"))
	}},
	{"a bad text is refused where it was typed", func(r *rig, s string) {
		req := one(bridge.WidgetText)
		req.Questions[0].Pattern = `v\d+`
		a := r.ask(req)
		reaction := r.typed("ana", a.on(s), "Answer", "latest")
		if s == "telegram" {
			r.eventually("the reply is refused", func() bool { return strings.Contains(chat(r, a.on(s).Channel), "does not have the form") })
		} else {
			r.told("ana", s, reaction, "does not have the form")
		}
		a.pending(s)
		switch s {
		case "slack": // the modal stays open with what was typed
			reaction, err := r.sandbox.Person("ana").Fill(r.ctx, s, r.sandbox.State().Slack.Views[0].ID, []string{"v7"})
			must(r.t, reaction, err)
		case "discord":
			r.typed("ana", a.on(s), "Answer", "v7")
		default:
			reaction, err := r.sandbox.Person("ana").Reply(r.ctx, a.on(s).Channel, "v7")
			must(r.t, reaction, err)
		}
		wantAnswer(a, bridge.TextAnswer("v7"))
	}},
	{"something else beside the options", func(r *rig, s string) {
		req := one(bridge.WidgetButtons, options("eu", "us")...)
		req.Questions[0].AllowOther = true
		a := r.ask(req)
		r.typed("ana", a.on(s), "Other", "Antarctica")
		got := a.end()
		if got.Response.Answers["q"].Text != "Antarctica" || !got.Response.Annotations["q"].Other {
			r.t.Errorf("got %+v", got.Response)
		}
	}},
	{"several questions in one request", severalQuestions},
	{"every scope of a yes", func(r *rig, s string) {
		for label, want := range map[string]bridge.Scope{"Allow once": bridge.ScopeOnce, "this session": bridge.ScopeSession, "Always": bridge.ScopeAlways} {
			req := approval(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)
			req.Approval.Where = "/" + s + "/" + label // a request of its own
			a := r.ask(req)
			if !strings.Contains(a.text(s), "make deploy") || !strings.Contains(a.text(s), "sha256:"+a.Interaction.Digest[:12]) {
				r.t.Errorf("the card does not show the command and its digest: %s", a.text(s))
			}
			r.press("ana", a.on(s), label)
			if got := a.end(); got.State != bridge.StateApproved || got.Response.Scope != want || got.Response.Digest != a.Interaction.Digest {
				r.t.Errorf("%s: %s %+v", label, got.State, got.Response)
			}
			a.closed("ana")
		}
	}},
	{"deny", func(r *rig, s string) {
		a := r.ask(approval())
		r.press("ana", a.on(s), "Deny")
		if got := a.end(); got.State != bridge.StateDenied {
			r.t.Errorf("state %s", got.State)
		}
		a.closed("Denied")
	}},
	{"deny with a reason", func(r *rig, s string) {
		a := r.ask(approval())
		r.typed("ana", a.on(s), "reason", "not on a Friday")
		if got := a.end(); got.State != bridge.StateDenied || got.Response.Reason != "not on a Friday" {
			r.t.Errorf("%s %+v", got.State, got.Response)
		}
		a.closed("Denied", "not on a Friday")
	}},
	{"who may not answer is told so and changes nothing", func(r *rig, s string) {
		a := r.ask(approval())
		for _, label := range []string{"Allow once", "Deny", "reason"} {
			reaction := r.press("mal", a.on(s), label)
			r.told("mal", s, reaction, "may not answer")
			if reaction.Modal != "" {
				r.t.Error("a form opened")
			}
		}
		a.pending(s)
		r.press("ana", a.on(s), "Allow once")
		a.end()
	}},
	{"the second answer loses and is told who won", func(r *rig, s string) {
		a := r.ask(approval())
		old := holding(r, a, s, "Deny", "bo") // still in somebody's hand when the card closes
		if _, err := r.person.Respond(r.ctx, a.Interaction.ID, answerOnce); err != nil {
			r.t.Fatal(err)
		}
		reaction, err := r.sandbox.Act(r.ctx, old)
		if err == nil && reaction.Warning == "" {
			r.told("bo", s, reaction, "Already decided by ana")
		}
		if got := a.end(); got.State != bridge.StateApproved || got.Response.Actor.Platform != "api" {
			r.t.Errorf("%s %+v", got.State, got.Response)
		}
		a.closed("ana")
	}},
	{"a delivery repeated by the service changes nothing", func(r *rig, s string) {
		a := r.ask(approval())
		r.sandbox.AddFault(sandbox.Fault{Service: s, Kind: "event_duplicate", Count: 1})
		r.press("ana", a.on(s), "Allow once")
		if got := a.end(); got.State != bridge.StateApproved {
			r.t.Errorf("state %s", got.State)
		}
		a.closed("ana")
	}},
	{"silence expires, and the late are told", func(r *rig, s string) {
		req := approval()
		req.Timeout = bridge.Duration(time.Second)
		a := r.ask(req)
		late := holding(r, a, s, "Allow once", "bo")
		if got := a.end(); got.State != bridge.StateExpired {
			r.t.Errorf("state %s", got.State)
		}
		a.closed("Expired")
		if s == "telegram" { // only there can a client send what is no longer shown
			reaction, err := r.sandbox.Act(r.ctx, late)
			r.told("bo", s, must(r.t, reaction, err), "Too late")
		}
	}},
	{"a withdrawn request says so", func(r *rig, s string) {
		a := r.ask(approval())
		if _, err := r.agent.Cancel(r.ctx, a.Interaction.ID, "no longer needed"); err != nil {
			r.t.Fatal(err)
		}
		a.closed("Withdrawn", "no longer needed")
	}},
	{"the card says when the agent has it", func(r *rig, s string) {
		a := r.ask(approval())
		r.press("ana", a.on(s), "Allow once")
		a.closed("Nobody was waiting for this any more")
		a.end()
		a.closed("has received this")
	}},
	{"a long text is whole somewhere before it can be approved", longText},
	{"many options", func(r *rig, s string) {
		for _, n := range []int{26, 60, 120, 200} {
			var o []bridge.Option
			for k := range n {
				o = append(o, bridge.Option{Value: fmt.Sprintf("v%03d", k), Label: fmt.Sprintf("Option %03d", k)})
			}
			a := r.ask(one(bridge.WidgetSelect, o...))
			chooseFromMany(r, a, s, fmt.Sprintf("Option %03d", n-1))
			wantAnswer(a, bridge.TextAnswer(fmt.Sprintf("v%03d", n-1)))
		}
	}},
	{"foreign text is harmless", func(r *rig, s string) {
		a := r.ask(bridge.Request{Ask: bridge.Ask{
			Prompt: "@everyone @here <!channel> <@U0ANA00001> <@300000000000000001> @ana_tg [bank](https://evil.example) [x](javascript:1) **b** `c` ```\n@everyone\n``` <b>x</b> \u202egnp",
			Questions: []bridge.Question{{ID: "q", Text: "@here <!here> _x_", Widget: bridge.WidgetButtons, Options: []bridge.Option{
				{Value: "<!channel>", Label: "<!channel> @everyone :smile:", Description: "@everyone <@U0BO000002> *x*"}, {Value: "b"}}}},
		}})
		harmless(a, s)
		if !strings.Contains(a.text(s), "evil.example") {
			r.t.Errorf("the link does not show where it leads: %s", a.text(s))
		}
		r.press("ana", a.on(s), "everyone")
		wantAnswer(a, bridge.TextAnswer("<!channel>"))
		harmless(a, s)
	}},
	{"a session keeps together", func(r *rig, s string) {
		req := approval()
		first := r.ask(req)
		second := r.ask(req)
		m := r.sandbox.Message(second.on(s))
		together := map[string]bool{
			"slack":    m["thread_ts"] == first.on(s).Message,
			"discord":  second.on(s).Channel == first.on(s).Message,
			"telegram": m["reply_to_message"] != nil,
		}
		if !together[s] {
			r.t.Errorf("the second card does not follow the first: %v", m)
		}
		r.press("ana", second.on(s), "Allow once")
		second.end()
	}},
	{"a platform that limits the rate gets its time", func(r *rig, s string) {
		post := map[string]string{"slack": "chat.postMessage", "discord": "POST /channels/{channel}/messages", "telegram": "sendMessage"}[s]
		r.sandbox.AddFault(sandbox.Fault{Service: s, Method: post, Kind: "rate_limit", RetryAfter: 1, Count: 1})
		r.sandbox.AddFault(sandbox.Fault{Service: s, Method: post, Kind: "error", Status: 502, Count: 1})
		a := r.ask(approval())
		r.press("ana", a.on(s), "Allow once")
		a.end()
		a.closed("ana")
	}},
	{"an edit that fails is done later", func(r *rig, s string) {
		edit := map[string]string{"slack": "chat.update", "discord": "PATCH /channels/{channel}/messages/{message}", "telegram": "editMessageText"}[s]
		a := r.ask(approval())
		for range 2 {
			r.sandbox.AddFault(sandbox.Fault{Service: s, Method: edit, Kind: "error", Status: 500, Count: 1})
			r.sandbox.AddFault(sandbox.Fault{Service: s, Method: edit, Kind: "drop_after", Count: 1})
		}
		if _, err := r.person.Respond(r.ctx, a.Interaction.ID, answerOnce); err != nil {
			r.t.Fatal(err)
		}
		a.closed("ana")
	}},
}

func wantAnswer(a asked, want bridge.Answer) {
	a.r.t.Helper()
	got := a.end()
	if got.State != bridge.StateAnswered || got.Response.Annotations == nil {
		a.r.t.Fatalf("%s %+v", got.State, got.Response)
	}
	if d := cmp.Diff(want, got.Response.Answers["q"]); d != "" {
		a.r.t.Errorf("the answer (-want +got): %s", d)
	}
}

func choiceNeedsChoice(r *rig, s string, w bridge.Widget, submit string) {
	r.t.Helper()
	a := r.ask(one(w, options("eu", "us")...))
	reaction := r.press("ana", a.on(s), submit)
	r.told("ana", s, reaction, "Choose one first")
	a.pending(s)
	r.choose("ana", a.on(s), w, "Us")
	wantAnswer(a, bridge.TextAnswer("us"))
}

func severalQuestions(r *rig, s string) {
	no := false
	a := r.ask(bridge.Request{Ask: bridge.Ask{Prompt: "Before I start:", Questions: []bridge.Question{
		{ID: "region", Header: "Region", Text: "Where?", Widget: bridge.WidgetRadio, Options: options("eu", "us")},
		{ID: "what", Header: "What", Text: "Which services?", Widget: bridge.WidgetCheckbox, Options: options("api", "cron", "web"), AllowOther: true},
		{ID: "why", Text: "Why?", Widget: bridge.WidgetText},
		{ID: "note", Text: "Anything else?", Widget: bridge.WidgetTextarea, Required: &no},
	}}})
	at, cy := a.on(s), r.sandbox.Person("cy")
	if s == "telegram" {
		r.press("cy", at, "Us")
		r.press("cy", at, "Next")
		r.press("cy", at, "Web")
		r.typed("cy", at, "Other", "mail")
		r.eventually("the wizard goes on", func() bool { return strings.Contains(a.text(s), "3/4") })
		r.typed("cy", at, "Answer", "because")
		r.eventually("the wizard goes on", func() bool { return strings.Contains(a.text(s), "4/4") })
		r.press("cy", at, "Skip")
		r.eventually("the review shows the answers", func() bool {
			return strings.Contains(a.text(s), "Check and submit") && strings.Contains(a.text(s), "because")
		})
		// Somebody else does not submit what they did not choose.
		r.told("bo", s, r.press("bo", at, "Submit"), "showed the choice of cy")
		r.eventually("the card shows bo's draft", func() bool { return strings.Contains(a.text(s), "bo is answering") })
		for _, step := range []string{"1/4", "2/4", "3/4", "4/4"} { // cy's answers are all there
			r.eventually("the wizard goes on", func() bool { return strings.Contains(a.text(s), step) })
			r.press("cy", at, "▶")
		}
		r.press("cy", at, "Submit")
	} else {
		opened := r.press("cy", at, "Answer")
		fields := [][]string{{"Us"}, {"Web"}, {"mail"}, {"because"}, {""}}
		if s == "discord" {
			fields[4] = nil // an empty text input is left alone
		}
		reaction, err := cy.Fill(r.ctx, s, opened.Modal, fields...)
		must(r.t, reaction, err)
	}
	got := a.end()
	want := map[string]bridge.Answer{"region": bridge.TextAnswer("us"), "what": bridge.ListAnswer("web", "mail"), "why": bridge.TextAnswer("because")}
	if d := cmp.Diff(want, got.Response.Answers); d != "" {
		r.t.Errorf("the answers (-want +got): %s", d)
	}
	a.closed("because", "mail", "cy")
}

// longText asks for what no card can hold.
func longText(r *rig, s string) {
	req := approval()
	var b strings.Builder
	for n := range 900 {
		fmt.Fprintf(&b, "step %03d: rm -rf /data/%03d\n", n, n)
	}
	req.Approval.Input = fmt.Appendf(nil, `{"command":%q}`, b.String())
	a := r.ask(req)
	state := r.sandbox.State()
	var whole strings.Builder
	switch s {
	case "slack":
		for _, c := range state.Slack.Channels {
			for _, m := range c.Messages {
				if m["ts"] == a.on(s).Message {
					break // only what stood there before the card
				}
				whole.WriteString(sandbox.Texts(m))
			}
		}
	case "discord":
		whole.WriteString(r.sandbox.Person("ana").Sees(a.on(s)))
	case "telegram":
		for _, c := range state.Telegram.Chats {
			for n, m := range c.Messages {
				if fmt.Sprint(m["message_id"]) == a.on(s).Message && c.ID == a.on(s).Channel {
					whole.WriteString(fetch(r, r.base+c.Messages[n-1]["document"].(map[string]any)["url"].(string)))
				}
			}
		}
	}
	for _, line := range []string{"step 000: rm -rf /data/000", "step 450: rm -rf /data/450", "step 899: rm -rf /data/899"} {
		if !strings.Contains(whole.String(), line) {
			r.t.Errorf("%q is nowhere", line)
		}
	}
	if !strings.Contains(a.text(s), "full text") {
		r.t.Errorf("the card does not say that it is shortened: %s", a.text(s))
	}
	r.press("ana", a.on(s), "Allow once")
	a.end()
}

func chooseFromMany(r *rig, a asked, s, label string) {
	r.t.Helper()
	at := a.on(s)
	switch s {
	case "telegram":
		if !slices.ContainsFunc(a.controls(s), func(c sandbox.Control) bool { return strings.Contains(c.Label, label) }) {
			r.press("ana", at, "◀") // the last page is the one before the first
		}
		r.choose("ana", at, bridge.WidgetSelect, label)
		return
	case "slack":
		opened := r.press("ana", at, "Choose")
		reaction, err := r.sandbox.Person("ana").Fill(r.ctx, s, opened.Modal, []string{label})
		must(r.t, reaction, err)
		return
	}
	n, opener := len(a.Interaction.Questions[0].Options), "Choose"
	if n > 125 { // each modal holds five selects of 25
		opener, n = "Choose 126", n-125
	}
	opened := r.press("ana", at, opener)
	var fields [][]string // the options are spread over several selects; the last holds ours
	for range (n+24)/25 - 1 {
		fields = append(fields, nil)
	}
	reaction, err := r.sandbox.Person("ana").Fill(r.ctx, s, opened.Modal, append(fields, []string{label})...)
	must(r.t, reaction, err)
}

// harmless fails the test if a message pings or links what untrusted text says.
func harmless(a asked, s string) {
	a.r.t.Helper()
	m := a.r.sandbox.Message(a.on(s))
	raw := fmt.Sprint(m)
	switch s {
	case "slack":
		if strings.Contains(fmt.Sprint(m["text"]), "<!") || strings.Contains(fmt.Sprint(m["text"]), "<@") {
			a.r.t.Errorf("the text can mention: %v", m["text"])
		}
		for _, kind := range []string{"type:user ", "type:broadcast", "type:usergroup", "type:channel "} {
			if strings.Contains(raw, kind) {
				a.r.t.Errorf("a mention in %v", raw)
			}
		}
		if strings.Contains(raw, "verbatim:false") {
			a.r.t.Errorf("parsed text in %v", raw)
		}
	case "discord":
		if m["mention_everyone"] == true || len(m["mentions"].([]any)) > 0 {
			a.r.t.Errorf("the message pings: %v", raw)
		}
	case "telegram":
		if m["detected_mentions"] != nil {
			a.r.t.Errorf("the message mentions %v", m["detected_mentions"])
		}
	}
}

func chat(r *rig, id string) string {
	var b strings.Builder
	for _, c := range r.sandbox.State().Telegram.Chats {
		if c.ID == id {
			for _, m := range c.Messages {
				b.WriteString(sandbox.Texts(m))
			}
		}
	}
	return b.String()
}

// holding is a press prepared while the controls were shown.
func holding(r *rig, a asked, service, label, who string) sandbox.Action {
	at := a.on(service)
	act := sandbox.Action{Service: service, As: who, Do: "press", Channel: at.Channel, Message: at.Message}
	for _, c := range a.controls(service) {
		if act.Control == "" && strings.Contains(c.Label, label) {
			act.Control = c.ID
		}
	}
	return act
}
