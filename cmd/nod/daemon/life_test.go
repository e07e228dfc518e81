package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/rig"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// over waits until an interaction is over, as nobody in particular.
func over(r *rig.Rig, id bridge.ID) bridge.Record {
	r.T.Helper()
	var rec bridge.Record
	r.Eventually("it is over", func() bool {
		var err error
		rec, err = r.Daemons[0].Engine().Get(r.Ctx, id)
		return err == nil && rec.Over()
	})
	return rec
}

func TestReprompt(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			req := rig.One(bridge.WidgetText)
			req.Session, req.MaxRounds = "s", 2
			a := r.Ask(req)
			old := holding(r, a, s, "Answer", "bo")
			r.Typed("ana", a.On(s), "Answer", "v0")
			first := a.End()
			next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{
				Error: "v0 does not exist",
			}}, "")
			if err != nil {
				t.Fatal(err)
			}
			i := next.Interaction
			if i.ID == a.Interaction.ID || i.Round != 2 || i.Previous != a.Interaction.ID || i.Initial["q"].Text != "v0" || !cmp.Equal(next.Messages, first.Messages) {
				t.Errorf("the next round: %+v", next)
			}
			b := a.As(next)
			r.Eventually("the same message asks again", func() bool {
				text := b.Text(s)
				return strings.Contains(text, "v0 does not exist") && len(b.Controls(s)) > 0
			})
			if s == "telegram" { // only there a client can send what is not shown any more
				reaction, err := r.Sandbox.Act(r.Ctx, old)
				r.Told("bo", s, rig.Must(t, reaction, err), "this was asked again")
			}
			opened := r.Press("ana", b.On(s), "Answer")
			if raw := fmt.Sprint(r.Sandbox.State().Slack.Views, r.Sandbox.State().Discord.Modals); s != "telegram" && !strings.Contains(raw, "v0") {
				t.Error("the earlier value is not filled in")
			}
			if s == "telegram" {
				answerPrompt(r, b, "v1")
			} else {
				reaction, err := r.Sandbox.Person("ana").Fill(r.Ctx, s, opened.Modal, []string{"v1"})
				rig.Must(t, reaction, err)
			}
			wantAnswer(b, bridge.TextAnswer("v1"))
			b.Closed("v1", "ana", "has the answer")
			if _, err := r.Agent.Reprompt(r.Ctx, i.ID, bridge.Request{}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("a third round: %v", err)
			}
			if _, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("asking again twice: %v", err)
			}
		})
	}
}

// A question that is still pending can be replaced; the old one is superseded.
func TestRepromptOfPending(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	a := r.Ask(rig.One(bridge.WidgetButtons, rig.Choices("a", "b")...))
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{
		Prompt: "Or rather:", Questions: rig.One(bridge.WidgetButtons, rig.Choices("c", "d")...).Questions,
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if was := over(r, a.Interaction.ID); was.State != bridge.StateSuperseded || was.Next != next.Interaction.ID {
		t.Errorf("the one before is %s, next %s", was.State, was.Next)
	}
	b := a.As(next)
	for _, s := range rig.Services {
		r.Eventually("the card shows the new question on "+s, func() bool { return strings.Contains(b.Text(s), "Or rather") })
	}
	r.Press("ana", b.On("discord"), "D")
	wantAnswer(b, bridge.TextAnswer("d"))
	b.Closed("ana", "discord", "D")
}

// The next round may ask something else altogether: what does not fit it is
// left behind.
func TestRepromptOfAnotherForm(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	form := func(schema string) bridge.Request {
		return bridge.Request{Ask: bridge.Ask{
			Prompt: "A form", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: []byte(schema)}},
		}}
	}
	req := form(`{"type":"object","properties":{"old":{"type":"string","default":"x"}}}`)
	req.OnTimeout, req.Declinable = bridge.OnTimeoutDefault, true
	req.CompletedView = &bridge.CompletedView{SummaryTemplate: "{{input.q}}"}
	a := r.Ask(req)
	if _, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.JSONAnswer(`{"old":"y"}`)}}); err != nil {
		t.Fatal(err)
	}
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, form(`{"type":"object","required":["new"],"properties":{"new":{"type":"string"}}}`), "")
	if err != nil || len(next.Interaction.Initial) != 0 || next.Interaction.OnTimeout != bridge.OnTimeoutExpire {
		t.Fatalf("%+v, %v", next.Interaction, err)
	}
	last, err := r.Agent.Reprompt(r.Ctx, next.Interaction.ID, rig.Approval(), "")
	if err != nil || last.Interaction.Kind != bridge.KindApproval || last.Interaction.CompletedView != nil {
		t.Fatalf("%+v, %v", last.Interaction, err)
	}
	r.Eventually("the card asks for permission", func() bool { return strings.Contains(a.As(last).Text("slack"), "Permission wanted") })
	r.Press("ana", a.As(last).On("slack"), "Run command")
	if got := over(r, last.Interaction.ID); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
}

// A whole answer by API leaves out what it does not want, also where a value
// was filled in.
func TestFilledInIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := rig.One(bridge.WidgetText)
	req.Questions[0].Required = pointer(false)
	req.Initial = map[string]bridge.Answer{"q": bridge.TextAnswer("from before")}
	a := r.Ask(req)
	rec, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{})
	if err != nil || len(rec.Response.Answers) != 0 {
		t.Errorf("answered %v, %v", rec.Response, err)
	}
}

// In a direct message, the command is about that direct message only.
func TestReadOnlyDirectMessage(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.To = append(route.To, "slack:U0ANA00001")
		c.Routes[bridge.DefaultRoute] = route
	}})
	a := r.Ask(rig.Approval())
	direct, err := r.Sandbox.Person("ana").Command(r.Ctx, "slack", a.Messages[1].Channel, "/nod mute")
	rig.Must(t, direct, err)
	r.Told("ana", "slack", sandbox.Reaction{}, "now read-only")
	place := func(n int) sandbox.Place {
		return sandbox.Place{Service: "slack", Channel: a.Messages[n].Channel, Message: a.Messages[n].Message}
	}
	r.Eventually("the direct message is read-only", func() bool { return len(sandbox.Controls("slack", r.Sandbox.Message(place(1)))) == 0 })
	if len(sandbox.Controls("slack", r.Sandbox.Message(place(0)))) == 0 {
		t.Error("the channel is read-only too")
	}
	other, err := r.Sandbox.Person("ana").Command(r.Ctx, "slack", "C0ONCALL02", "/nod mute") // on no route
	rig.Must(t, other, err)
	r.Told("ana", "slack", sandbox.Reaction{}, "Only responders")
}

func TestQueued(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	var asks []rig.Asked
	for _, prompt := range []string{"First?", "Second?"} {
		req := rig.One(bridge.WidgetButtons, rig.Choices("yes", "no")...)
		req.Prompt, req.Session, req.OnTimeout, req.Timeout = prompt, "night", bridge.OnTimeoutPending, bridge.Duration(time.Second)
		asks = append(asks, r.Ask(req))
	}
	for _, a := range asks {
		if rec := a.End(); rec.State != bridge.StatePending || rec.Queued.IsZero() {
			t.Fatalf("the agent was told %s, queued %s", rec.State, rec.Queued)
		}
		r.Eventually("the card says so", func() bool { return strings.Contains(a.Text("slack"), "stopped waiting") })
	}
	r.Press("ana", asks[0].On("slack"), "No")
	r.Press("bo", asks[1].On("telegram"), "Yes")
	asks[0].Closed("stopped waiting", "its session gets the answer")
	items, err := r.Agent.WaitMessages(r.Ctx, "night")
	if err != nil {
		t.Fatal(err)
	}
	r.Eventually("both are there", func() bool { items, err = r.Agent.Messages(r.Ctx, "night"); return len(items) == 2 })
	if items[0].Record.Interaction.ID != asks[0].Interaction.ID || !strings.Contains(items[0].Text, "No") || !strings.Contains(items[1].Text, "bo on telegram") {
		t.Errorf("messages %q, %q", items[0].Text, items[1].Text)
	}
	stream := stream(r, "/v1/sessions/night/messages")
	for _, m := range items {
		if line := stream("data: "); !strings.Contains(line, string(m.Record.Interaction.ID)) {
			t.Errorf("the stream says %s, want %s", line, m.Record.Interaction.ID)
		}
	}
	restart(r) // at least once: they are repeated until they are acknowledged
	if err := r.Agent.Acknowledge(r.Ctx, "night", items[0].ID); err != nil {
		t.Fatal(err)
	}
	if rest, err := r.Agent.Messages(r.Ctx, "night"); err != nil || len(rest) != 1 || rest[0].ID != items[1].ID {
		t.Errorf("left %v, %v", rest, err)
	}
	asks[0].R = r
	asks[0].Closed("has the answer")
	other := rig.NewClient(r.Daemons[0].URL, rig.OtherAgentToken)
	if items, err := other.Messages(r.Ctx, "night"); err != nil || len(items) != 0 {
		t.Errorf("another agent reads %v, %v", items, err)
	}
}

// stream opens server-sent events as the agent, and returns a function that
// reads on to the next line with a prefix.
func stream(r *rig.Rig, path string) func(prefix string) string {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.Ctx, rig.Patience)
	r.T.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Daemons[0].URL+path, nil)
	if err != nil {
		r.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+rig.TestAgentToken)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.T.Fatal(err)
	}
	r.T.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func(prefix string) string {
		r.T.Helper()
		for lines.Scan() {
			if line, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return line
			}
		}
		r.T.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
}

// A pending question and an answered one can be put off by the agent.
func TestPutOff(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := rig.One(bridge.WidgetButtons, rig.Choices("now", "later")...)
	req.Session = "s"
	a := r.Ask(req)
	if rec, err := r.Agent.Queue(r.Ctx, a.Interaction.ID, bridge.Duration(time.Hour), ""); err != nil || rec.Queued.IsZero() || rec.State != bridge.StatePending {
		t.Fatalf("%+v, %v", rec, err)
	}
	r.Press("ana", a.On("slack"), "Later")
	over(r, a.Interaction.ID)
	again, err := r.Agent.Queue(r.Ctx, a.Interaction.ID, 0, "take your time")
	if err != nil || again.Interaction.Previous != a.Interaction.ID || again.Queued.IsZero() {
		t.Fatalf("%+v, %v", again, err)
	}
	b := a.As(again)
	r.Eventually("it is asked again, without haste", func() bool {
		return strings.Contains(b.Text("slack"), "take your time") && len(b.Controls("slack")) > 0
	})
	r.Press("ana", b.On("slack"), "Now")
	r.Eventually("both answers wait", func() bool { items, _ := r.Agent.Messages(r.Ctx, "s"); return len(items) == 2 })
	none := rig.One(bridge.WidgetText)
	c := r.Ask(none)
	if _, err := r.Agent.Queue(r.Ctx, c.Interaction.ID, 0, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("without a session: %v", err)
	}
}

func TestEscalates(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Responders, route.EscalateTo = []string{"ana"}, "oncall"
		c.Routes[bridge.DefaultRoute] = route
		full := sandboxed.Config("http://x").Routes[bridge.DefaultRoute]
		full.Responders = []string{"ana", "bo"}
		c.Routes["oncall"] = full
	}})
	req := rig.Approval()
	req.OnTimeout, req.Timeout = bridge.OnTimeoutEscalate, bridge.Duration(4*time.Second)
	a := r.Ask(req)
	r.Told("bo", "slack", r.Press("bo", a.On("slack"), "Run command"), "may not answer")
	r.Eventually("more people are asked", func() bool {
		rec, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID)
		a.Record = rec
		return err == nil && !rec.Escalated.IsZero() && len(rec.Messages) == len(rec.Interaction.Destinations) && len(rec.Messages) > 1
	})
	r.Press("bo", a.On("discord"), "Run command")
	if got := a.End(); got.State != bridge.StateApproved || got.Response.Actor.Person != "bo" {
		t.Errorf("%s %+v", got.State, got.Response)
	}
	a.Closed("bo", "discord")
	req.Timeout = bridge.Duration(time.Second)
	if rec := r.Ask(req).End(); rec.State != bridge.StateExpired || rec.Escalated.IsZero() {
		t.Errorf("in the end it is %s", rec.State)
	}
	req.Route = "oncall"
	if _, err := r.Agent.Open(r.Ctx, req, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a route that does not escalate: %v", err)
	}
}

func TestReadOnlyChannel(t *testing.T) {
	t.Parallel()
	for _, s := range rig.Services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := rig.New(t, rig.Options{Config: rig.Only(s)})
			a := r.Ask(rig.Approval())
			at := a.On(s)
			p := r.Sandbox.Person
			says := func(who, words, want string) {
				t.Helper()
				r.Eventually(words+" is known", func() bool { // Discord learns it after the start
					reaction, err := p(who).Command(r.Ctx, s, at.Channel, words)
					return err == nil && reaction.Warning == ""
				})
				if s == "telegram" {
					r.Eventually("the answer to "+words, func() bool { return strings.Contains(rig.Chat(r, at.Channel), want) })
					return
				}
				r.Told(who, s, sandbox.Reaction{}, want)
			}
			says("mal", "/nod mute", "Only responders")
			says("ana", "/nod mute", "now read-only")
			r.Eventually("the card has no controls", func() bool { return len(a.Controls(s)) == 0 && strings.Contains(a.Text(s), "Read-only here") })
			av, err := r.Agent.Availability(r.Ctx, "", "")
			if err != nil || av.Available || av.Destinations[0].Reachable {
				t.Errorf("availability %+v, %v", av, err)
			}
			if rec, err := r.Agent.Open(r.Ctx, rig.Approval(), ""); err != nil || rec.State != bridge.StateUndeliverable || !strings.Contains(rec.Response.Reason, "read-only") {
				t.Errorf("a new request: %s, %v", rec.State, err)
			}
			says("ana", "/nod unmute", "answered in this channel again")
			r.Press("ana", at, "Run command")
			if got := a.End(); got.State != bridge.StateApproved {
				t.Errorf("state %s", got.State)
			}
		})
	}
}

// With one channel muted, the others still answer; a press on a control that
// was shown before is refused.
func TestMutedAmongOthers(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	a := r.Ask(rig.Approval())
	old := holding(r, a, "telegram", "Run command", "bo")
	if err := r.Person.SetReadOnly(r.Ctx, "telegram", a.On("telegram").Channel, true); err != nil {
		t.Fatal(err)
	}
	reaction, err := r.Sandbox.Act(r.Ctx, old)
	r.Told("bo", "telegram", rig.Must(t, reaction, err), "read-only")
	a.Pending("slack")
	b := r.Ask(rig.Approval())
	if len(b.Controls("telegram")) != 0 || len(b.Controls("slack")) == 0 {
		t.Error("a new card does not follow the mode of its channel")
	}
	r.Press("ana", b.On("slack"), "Deny")
	b.Closed("Denied", "ana")
	if err := r.Agent.SetReadOnly(r.Ctx, "telegram", a.On("telegram").Channel, false); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an agent changes the mode: %v", err)
	}
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := rig.One(bridge.WidgetButtons, rig.Choices("a", "b")...)
	req.Session, req.OneAtATime = "s", true
	const n = 8
	type result struct {
		rec bridge.Record
		err error
	}
	results := make(chan result, n)
	for k := range n {
		go func() {
			req := req
			req.Prompt = fmt.Sprintf("Question %d?", k)
			rec, err := r.Agent.Open(r.Ctx, req, fmt.Sprint("key", k))
			results <- result{rec, err}
		}()
	}
	var won []bridge.Record
	for range n {
		res := <-results
		switch {
		case res.err == nil:
			won = append(won, res.rec)
		case bridge.ErrorCode(res.err) != bridge.CodeConflict:
			t.Error(res.err)
		}
	}
	if len(won) != 1 {
		t.Fatalf("%d of %d were opened", len(won), n)
	}
	k := strings.Trim(won[0].Interaction.Prompt, "Question ?")
	req.Prompt = won[0].Interaction.Prompt
	if again, err := r.Agent.Open(r.Ctx, req, "key"+k); err != nil || again.Interaction.ID != won[0].Interaction.ID {
		t.Errorf("a repeat of the pending one: %v", err)
	}
	if _, err := r.Agent.Cancel(r.Ctx, won[0].Interaction.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent.Open(r.Ctx, req, ""); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

func TestCancelOnDisconnect(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	for _, on := range []bool{true, false} {
		req := rig.Approval()
		req.CancelOnDisconnect = on
		a := r.Ask(req)
		ctx, hangUp := context.WithTimeout(r.Ctx, 200*time.Millisecond)
		if _, err := r.Agent.Wait(ctx, a.Interaction.ID); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the wait ended with %v", err)
		}
		hangUp()
		if on {
			if got := over(r, a.Interaction.ID); got.State != bridge.StateCancelled || !strings.Contains(got.Response.Reason, "agent disconnected") {
				t.Errorf("%s %+v", got.State, got.Response)
			}
			a.Closed("agent disconnected")
			continue
		}
		r.Press("ana", a.On("slack"), "Run command") // it stays, and is re-attached to by its id
		if got := a.End(); got.State != bridge.StateApproved {
			t.Errorf("state %s", got.State)
		}
	}
}

func TestCompletedView(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	hidden := rig.One(bridge.WidgetButtons, rig.Choices("alpha", "omega")...)
	hidden.CompletedView = &bridge.CompletedView{ShowInputs: pointer(false), SummaryTemplate: "{{actor}} did {{action}} it on {{platform}}"}
	a := r.Ask(hidden)
	r.Press("ana", a.On("slack"), "Omega")
	a.End()
	a.Closed("ana did submit it on slack")
	for _, s := range rig.Services {
		if text := a.Text(s); strings.Contains(text, "Omega") || strings.Contains(text, "omega") {
			t.Errorf("%s shows the value: %s", s, text)
		}
	}
	late, err := r.Person.Respond(r.Ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("alpha")}})
	if err == nil || strings.Contains(err.Error(), "mega") {
		t.Errorf("the late one is told %v (%s)", err, late.State)
	}
	shown := rig.One(bridge.WidgetButtons, rig.Choices("alpha", "omega")...)
	shown.CompletedView = &bridge.CompletedView{SummaryTemplate: "Chosen: {{input.q}}"}
	b := r.Ask(shown)
	r.Press("bo", b.On("discord"), "Alpha")
	b.Closed("Chosen: Alpha")
	for _, bad := range []string{"{{nonsense}}", "{{input.other}}"} {
		shown.CompletedView.SummaryTemplate = bad
		if _, err := r.Agent.Open(r.Ctx, shown, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A stand-alone card is not put into the session's thread; a tool's card is,
// with the result below the answer.
func TestPresentation(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	ask := func(p bridge.Presentation, session, call string) rig.Asked {
		req := rig.One(bridge.WidgetButtons, rig.Choices("a", "b")...)
		req.Session, req.ToolCall, req.ToolName, req.Presentation = session, call, "deploy", p
		return r.Ask(req)
	}
	thread := func(a rig.Asked) string {
		s, _ := r.Sandbox.Message(a.On("slack"))["thread_ts"].(string)
		return s
	}
	first := ask(bridge.PresentTool, "s", "c1")
	second, alone := ask(bridge.PresentTool, "s", "c2"), ask(bridge.PresentQuestionnaire, "s", "c3")
	if thread(second) != first.Messages[0].Message || thread(alone) != "" {
		t.Errorf("threads: %q, alone %q; first %q", thread(second), thread(alone), first.Messages[0].Message)
	}
	call, same := ask(bridge.PresentTool, "", "c9"), ask(bridge.PresentTool, "", "c9")
	if thread(same) != call.Messages[0].Message {
		t.Errorf("the thread of a tool call: %q, want %q", thread(same), call.Messages[0].Message)
	}
	r.Press("ana", first.On("slack"), "A")
	first.End()
	if _, err := r.Agent.Complete(r.Ctx, first.Interaction.ID, bridge.Completion{Result: "3 pods are up"}); err != nil {
		t.Fatal(err)
	}
	first.Closed("3 pods are up", "tool deploy")
	r.Press("ana", second.On("slack"), "A")
	second.End()
	if _, err := r.Agent.Complete(r.Ctx, second.Interaction.ID, bridge.Completion{Error: "no quota"}); err != nil {
		t.Fatal(err)
	}
	second.Closed("could not use this", "no quota")
}

// Somebody waits, the answer comes, and is not fetched yet: the card says that
// the agent has not picked it up, and nothing else.
func TestAwaited(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(rig.Approval())
	waiting := make(chan bridge.Record, 1)
	go func() {
		rec, _ := r.Daemons[0].Engine().Await(r.Ctx, a.Interaction.ID) // does not note delivery
		waiting <- rec
	}()
	r.Eventually("the waiter is registered", func() bool {
		keys, err := r.Client.Keys(r.Ctx, "nod:*:i:"+string(a.Interaction.ID)).Result()
		return err == nil && len(keys) == 1 && r.Client.HGet(r.Ctx, keys[0], "w").Val() != ""
	})
	r.Press("ana", a.On("slack"), "Run command")
	if rec := <-waiting; rec.Unawaited {
		t.Error("the waiter was not seen")
	}
	a.Closed("not picked this up yet")
}

// What the events of a session say is what its records say.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	req := rig.One(bridge.WidgetText)
	req.Session = "story"
	a := r.Ask(req)
	r.Typed("ana", a.On("slack"), "Answer", "v0")
	a.End()
	next, err := r.Agent.Reprompt(r.Ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "no"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent.Queue(r.Ctx, next.Interaction.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Person.Respond(r.Ctx, next.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("v1")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Agent.Complete(r.Ctx, next.Interaction.ID, bridge.Completion{Result: "done"}); err != nil {
		t.Fatal(err)
	}
	yes := rig.Approval()
	yes.Session = "story"
	b := r.Ask(yes)
	r.Press("bo", b.On("telegram"), "Deny")
	b.End()
	late := rig.Approval()
	late.Session, late.Timeout = "story", bridge.Duration(time.Second)
	c := r.Ask(late)
	c.End()
	var pair []bridge.ID
	for n := range 3 { // two in one message, the third joins the second
		req := rig.Approval()
		req.Session, req.Batch, req.Join = "story", bridge.Duration(2*time.Second), true
		req.Approval.Input = fmt.Appendf(nil, `{"command":"step %d"}`, min(n, 1))
		rec, err := r.Agent.Open(r.Ctx, req, "")
		if err != nil {
			t.Fatal(err)
		}
		pair = append(pair, rec.Interaction.ID)
	}
	for _, id := range pair[:2] {
		r.Eventually("they are posted", func() bool { rec, err := r.Agent.Get(r.Ctx, pair[0]); return err == nil && len(rec.Messages) == 3 })
		if _, err := r.Person.Respond(r.Ctx, id, rig.AnswerOnce); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Agent.Wait(r.Ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	want := map[bridge.ID]bridge.Record{}
	for _, id := range []bridge.ID{a.Interaction.ID, next.Interaction.ID, b.Interaction.ID, c.Interaction.ID, pair[0], pair[1]} {
		r.Eventually("the delivery is noted", func() bool {
			want[id], err = r.Daemons[0].Engine().Get(r.Ctx, id)
			return err == nil && (!want[id].Delivered.IsZero() || !want[id].Queued.IsZero())
		})
	}
	var replay bridge.Replay
	var events []bridge.Event
	if err := r.Agent.History(r.Ctx, "0", "story", func(e bridge.Event) error { events = append(events, e); return replay.Add(e) }); err != nil {
		t.Fatal(err)
	}
	got := replay.Records()
	if len(got) != len(want) {
		t.Fatalf("%d records from the events, want %d", len(got), len(want))
	}
	ignore := cmp.Options{
		cmpopts.IgnoreFields(bridge.Record{}, "Revision", "Head", "Unawaited", "Audit", "Receipt", "Sending", "Shown", "Held"), cmpopts.EquateEmpty(),
		cmpopts.EquateApproxTime(time.Second), // of the agent's clock and Redis's
	}
	for _, rec := range got {
		w := want[rec.Interaction.ID]
		if rec.Interaction.Previous != "" || !w.Queued.IsZero() {
			rec.Messages, w.Messages = nil, nil // taken over, not posted
			rec.Interaction.Deadline = w.Interaction.Deadline
		}
		if d := cmp.Diff(w, rec, ignore); d != "" {
			t.Errorf("%s (-stored +replayed):\n%s", rec.Interaction.ID, d)
		}
	}
	// From any event on, and from any time on.
	name := func(e bridge.Event) string {
		return fmt.Sprint(e.Timestamp.UnixMilli(), e.Type, e.InteractionID, string(e.Data))
	}
	var all []string
	for _, e := range events {
		all = append(all, name(e))
	}
	sameTime := slices.IndexFunc(events, func(e bridge.Event) bool { return !e.Timestamp.Before(events[3].Timestamp) })
	for after, from := range map[string]int{events[2].Cursor: 3, events[3].Timestamp.Format(time.RFC3339Nano): sameTime} {
		var rest []string
		if err := r.Agent.History(r.Ctx, after, "story", func(e bridge.Event) error { rest = append(rest, name(e)); return nil }); err != nil {
			t.Fatal(err)
		}
		// A time is met within the millisecond that a script takes.
		if n := len(all) - len(rest); n > from || n < from-2 || after == events[2].Cursor && n != from {
			t.Errorf("after %s come %d events of %d, want all from %d on", after, len(rest), len(all), from)
		} else if d := cmp.Diff(all[n:], rest); d != "" {
			t.Errorf("after %s (-want +got):\n%s", after, d)
		}
	}
}
