package main

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
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// over waits until an interaction is over, as nobody in particular.
func (r *rig) over(id bridge.ID) bridge.Record {
	r.t.Helper()
	var rec bridge.Record
	r.eventually("it is over", func() bool {
		var err error
		rec, err = r.daemons[0].engine().Get(r.ctx, id)
		return err == nil && rec.Over()
	})
	return rec
}

// as is a later round of an asked request, in the same messages.
func (a asked) as(rec bridge.Record) asked { return asked{Record: rec, r: a.r} }

func TestReprompt(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(s)})
			req := one(bridge.WidgetText)
			req.Session, req.MaxRounds = "s", 2
			a := r.ask(req)
			old := holding(r, a, s, "Answer", "bo")
			r.typed("ana", a.on(s), "Answer", "v0")
			first := a.end()
			next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{
				Error: "v0 does not exist",
			}}, "")
			if err != nil {
				t.Fatal(err)
			}
			i := next.Interaction
			if i.ID == a.Interaction.ID || i.Round != 2 || i.Previous != a.Interaction.ID || i.Initial["q"].Text != "v0" || !cmp.Equal(next.Messages, first.Messages) {
				t.Errorf("the next round: %+v", next)
			}
			b := a.as(next)
			r.eventually("the same message asks again", func() bool {
				text := b.text(s)
				return strings.Contains(text, "v0 does not exist") && len(b.controls(s)) > 0
			})
			if s == "telegram" { // only there a client can send what is not shown any more
				reaction, err := r.sandbox.Act(r.ctx, old)
				r.told("bo", s, must(t, reaction, err), "this was asked again")
			}
			opened := r.press("ana", b.on(s), "Answer")
			if raw := fmt.Sprint(r.sandbox.State().Slack.Views, r.sandbox.State().Discord.Modals); s != "telegram" && !strings.Contains(raw, "v0") {
				t.Error("the earlier value is not filled in")
			}
			if s == "telegram" {
				answerPrompt(r, b, "v1")
			} else {
				reaction, err := r.sandbox.Person("ana").Fill(r.ctx, s, opened.Modal, []string{"v1"})
				must(t, reaction, err)
			}
			wantAnswer(b, bridge.TextAnswer("v1"))
			b.closed("v1", "ana", "has received this")
			if _, err := r.agent.Reprompt(r.ctx, i.ID, bridge.Request{}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("a third round: %v", err)
			}
			if _, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, bridge.Request{}, ""); bridge.ErrorCode(err) != bridge.CodeConflict {
				t.Errorf("asking again twice: %v", err)
			}
		})
	}
}

// A question that is still pending can be replaced; the old one is superseded.
func TestRepromptOfPending(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	a := r.ask(one(bridge.WidgetButtons, options("a", "b")...))
	next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{
		Prompt: "Or rather:", Questions: one(bridge.WidgetButtons, options("c", "d")...).Questions,
	}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if was := r.over(a.Interaction.ID); was.State != bridge.StateSuperseded || was.Next != next.Interaction.ID {
		t.Errorf("the one before is %s, next %s", was.State, was.Next)
	}
	b := a.as(next)
	for _, s := range services {
		r.eventually("the card shows the new question on "+s, func() bool { return strings.Contains(b.text(s), "Or rather") })
	}
	r.press("ana", b.on("discord"), "D")
	wantAnswer(b, bridge.TextAnswer("d"))
	b.closed("ana", "discord", "D")
}

// The next round may ask something else altogether: what does not fit it is
// left behind.
func TestRepromptOfAnotherForm(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	form := func(schema string) bridge.Request {
		return bridge.Request{Ask: bridge.Ask{
			Prompt: "A form", Questions: []bridge.Question{{ID: "q", Widget: bridge.WidgetForm, Schema: []byte(schema)}},
		}}
	}
	req := form(`{"type":"object","properties":{"old":{"type":"string","default":"x"}}}`)
	req.OnTimeout, req.Declinable = bridge.OnTimeoutDefault, true
	req.CompletedView = &bridge.CompletedView{SummaryTemplate: "{{input.q}}"}
	a := r.ask(req)
	if _, err := r.person.Respond(r.ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.JSONAnswer(`{"old":"y"}`)}}); err != nil {
		t.Fatal(err)
	}
	next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, form(`{"type":"object","required":["new"],"properties":{"new":{"type":"string"}}}`), "")
	if err != nil || len(next.Interaction.Initial) != 0 || next.Interaction.OnTimeout != bridge.OnTimeoutExpire {
		t.Fatalf("%+v, %v", next.Interaction, err)
	}
	last, err := r.agent.Reprompt(r.ctx, next.Interaction.ID, approval(), "")
	if err != nil || last.Interaction.Kind != bridge.KindApproval || last.Interaction.CompletedView != nil {
		t.Fatalf("%+v, %v", last.Interaction, err)
	}
	r.eventually("the card asks for permission", func() bool { return strings.Contains(a.as(last).text("slack"), "Permission wanted") })
	r.press("ana", a.as(last).on("slack"), "Allow once")
	if got := r.over(last.Interaction.ID); got.State != bridge.StateApproved {
		t.Errorf("state %s", got.State)
	}
}

// A whole answer by API leaves out what it does not want, also where a value
// was filled in.
func TestFilledInIsNoAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	req := one(bridge.WidgetText)
	req.Questions[0].Required = pointer(false)
	req.Initial = map[string]bridge.Answer{"q": bridge.TextAnswer("from before")}
	a := r.ask(req)
	rec, err := r.person.Respond(r.ctx, a.Interaction.ID, bridge.Reply{})
	if err != nil || len(rec.Response.Answers) != 0 {
		t.Errorf("answered %v, %v", rec.Response, err)
	}
}

// In a direct message, the command is about that direct message only.
func TestReadOnlyDirectMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: func(c *config.Config) {
		only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.To = append(route.To, "slack:U0ANA00001")
		c.Routes[bridge.DefaultRoute] = route
	}})
	a := r.ask(approval())
	direct, err := r.sandbox.Person("ana").Command(r.ctx, "slack", a.Messages[1].Channel, "/nod mute")
	must(t, direct, err)
	r.told("ana", "slack", sandbox.Reaction{}, "read-only now")
	place := func(n int) sandbox.Place {
		return sandbox.Place{Service: "slack", Channel: a.Messages[n].Channel, Message: a.Messages[n].Message}
	}
	r.eventually("the direct message is read-only", func() bool { return len(sandbox.Controls("slack", r.sandbox.Message(place(1)))) == 0 })
	if len(sandbox.Controls("slack", r.sandbox.Message(place(0)))) == 0 {
		t.Error("the channel is read-only too")
	}
	other, err := r.sandbox.Person("ana").Command(r.ctx, "slack", "C0ONCALL02", "/nod mute") // on no route
	must(t, other, err)
	r.told("ana", "slack", sandbox.Reaction{}, "Only those who may answer")
}

func TestQueued(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	var asks []asked
	for _, prompt := range []string{"First?", "Second?"} {
		req := one(bridge.WidgetButtons, options("yes", "no")...)
		req.Prompt, req.Session, req.OnTimeout, req.Timeout = prompt, "night", bridge.OnTimeoutPending, bridge.Duration(time.Second)
		asks = append(asks, r.ask(req))
	}
	for _, a := range asks {
		if rec := a.end(); rec.State != bridge.StatePending || rec.Queued.IsZero() {
			t.Fatalf("the agent was told %s, queued %s", rec.State, rec.Queued)
		}
		r.eventually("the card says so", func() bool { return strings.Contains(a.text("slack"), "The agent has moved on") })
	}
	r.press("ana", asks[0].on("slack"), "No")
	r.press("bo", asks[1].on("telegram"), "Yes")
	asks[0].closed("moved on", "waits for its session")
	items, err := r.agent.WaitMessages(r.ctx, "night")
	if err != nil {
		t.Fatal(err)
	}
	r.eventually("both are there", func() bool { items, err = r.agent.Messages(r.ctx, "night"); return len(items) == 2 })
	if items[0].Record.Interaction.ID != asks[0].Interaction.ID || !strings.Contains(items[0].Text, "No") || !strings.Contains(items[1].Text, "bo on telegram") {
		t.Errorf("messages %q, %q", items[0].Text, items[1].Text)
	}
	stream := r.stream("/v1/sessions/night/messages")
	for _, m := range items {
		if line := stream("data: "); !strings.Contains(line, string(m.Record.Interaction.ID)) {
			t.Errorf("the stream says %s, want %s", line, m.Record.Interaction.ID)
		}
	}
	r.restart() // at least once: they are repeated until they are acknowledged
	if err := r.agent.Acknowledge(r.ctx, "night", items[0].ID); err != nil {
		t.Fatal(err)
	}
	if rest, err := r.agent.Messages(r.ctx, "night"); err != nil || len(rest) != 1 || rest[0].ID != items[1].ID {
		t.Errorf("left %v, %v", rest, err)
	}
	asks[0].r = r
	asks[0].closed("has received this")
	other := newClient(r.daemons[0].url, otherAgentToken)
	if items, err := other.Messages(r.ctx, "night"); err != nil || len(items) != 0 {
		t.Errorf("another agent reads %v, %v", items, err)
	}
}

// stream opens server-sent events as the agent, and returns a function that
// reads on to the next line with a prefix.
func (r *rig) stream(path string) func(prefix string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	r.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.daemons[0].url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testAgentToken)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func(prefix string) string {
		r.t.Helper()
		for lines.Scan() {
			if line, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return line
			}
		}
		r.t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
}

// A pending question and an answered one can be put off by the agent.
func TestPutOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	req := one(bridge.WidgetButtons, options("now", "later")...)
	req.Session = "s"
	a := r.ask(req)
	if rec, err := r.agent.Queue(r.ctx, a.Interaction.ID, bridge.Duration(time.Hour), ""); err != nil || rec.Queued.IsZero() || rec.State != bridge.StatePending {
		t.Fatalf("%+v, %v", rec, err)
	}
	r.press("ana", a.on("slack"), "Later")
	r.over(a.Interaction.ID)
	again, err := r.agent.Queue(r.ctx, a.Interaction.ID, 0, "take your time")
	if err != nil || again.Interaction.Previous != a.Interaction.ID || again.Queued.IsZero() {
		t.Fatalf("%+v, %v", again, err)
	}
	b := a.as(again)
	r.eventually("it is asked again, without haste", func() bool {
		return strings.Contains(b.text("slack"), "take your time") && len(b.controls("slack")) > 0
	})
	r.press("ana", b.on("slack"), "Now")
	r.eventually("both answers wait", func() bool { items, _ := r.agent.Messages(r.ctx, "s"); return len(items) == 2 })
	none := one(bridge.WidgetText)
	c := r.ask(none)
	if _, err := r.agent.Queue(r.ctx, c.Interaction.ID, 0, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("without a session: %v", err)
	}
}

func TestEscalates(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: func(c *config.Config) {
		only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Responders, route.EscalateTo = []string{"ana"}, "oncall"
		c.Routes[bridge.DefaultRoute] = route
		full := sandboxConfig("http://x").Routes[bridge.DefaultRoute]
		full.Responders = []string{"ana", "bo"}
		c.Routes["oncall"] = full
	}})
	req := approval()
	req.OnTimeout, req.Timeout = bridge.OnTimeoutEscalate, bridge.Duration(4*time.Second)
	a := r.ask(req)
	r.told("bo", "slack", r.press("bo", a.on("slack"), "Allow once"), "may not answer")
	r.eventually("more people are asked", func() bool {
		rec, err := r.daemons[0].engine().Get(r.ctx, a.Interaction.ID)
		a.Record = rec
		return err == nil && !rec.Escalated.IsZero() && len(rec.Messages) == len(rec.Interaction.Destinations) && len(rec.Messages) > 1
	})
	r.press("bo", a.on("discord"), "Allow once")
	if got := a.end(); got.State != bridge.StateApproved || got.Response.Actor.Person != "bo" {
		t.Errorf("%s %+v", got.State, got.Response)
	}
	a.closed("bo", "discord")
	req.Timeout = bridge.Duration(time.Second)
	if rec := r.ask(req).end(); rec.State != bridge.StateExpired || rec.Escalated.IsZero() {
		t.Errorf("in the end it is %s", rec.State)
	}
	req.Route = "oncall"
	if _, err := r.agent.Open(r.ctx, req, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a route that does not escalate: %v", err)
	}
}

func TestReadOnlyChannel(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		t.Run(s, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{config: only(s)})
			a := r.ask(approval())
			at := a.on(s)
			p := r.sandbox.Person
			says := func(who, words, want string) {
				t.Helper()
				r.eventually(words+" is known", func() bool { // Discord learns it after the start
					reaction, err := p(who).Command(r.ctx, s, at.Channel, words)
					return err == nil && reaction.Warning == ""
				})
				if s == "telegram" {
					r.eventually("the answer to "+words, func() bool { return strings.Contains(chat(r, at.Channel), want) })
					return
				}
				r.told(who, s, sandbox.Reaction{}, want)
			}
			says("mal", "/nod mute", "Only those who may answer")
			says("ana", "/nod mute", "read-only now")
			r.eventually("the card has no controls", func() bool { return len(a.controls(s)) == 0 && strings.Contains(a.text(s), "Read-only here") })
			av, err := r.agent.Availability(r.ctx, "", "")
			if err != nil || av.Available || av.Destinations[0].Reachable {
				t.Errorf("availability %+v, %v", av, err)
			}
			if rec, err := r.agent.Open(r.ctx, approval(), ""); err != nil || rec.State != bridge.StateUndeliverable || !strings.Contains(rec.Response.Reason, "read-only") {
				t.Errorf("a new request: %s, %v", rec.State, err)
			}
			says("ana", "/nod unmute", "can answer again")
			r.press("ana", at, "Allow once")
			if got := a.end(); got.State != bridge.StateApproved {
				t.Errorf("state %s", got.State)
			}
		})
	}
}

// With one channel muted, the others still answer; a press on a control that
// was shown before is refused.
func TestMutedAmongOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	a := r.ask(approval())
	old := holding(r, a, "telegram", "Allow once", "bo")
	if err := r.person.SetReadOnly(r.ctx, "telegram", a.on("telegram").Channel, true); err != nil {
		t.Fatal(err)
	}
	reaction, err := r.sandbox.Act(r.ctx, old)
	r.told("bo", "telegram", must(t, reaction, err), "read-only")
	a.pending("slack")
	b := r.ask(approval())
	if len(b.controls("telegram")) != 0 || len(b.controls("slack")) == 0 {
		t.Error("a new card does not follow the mode of its channel")
	}
	r.press("ana", b.on("slack"), "Deny")
	b.closed("Denied", "ana")
	if err := r.agent.SetReadOnly(r.ctx, "telegram", a.on("telegram").Channel, false); bridge.ErrorCode(err) != bridge.CodeForbidden {
		t.Errorf("an agent changes the mode: %v", err)
	}
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	req := one(bridge.WidgetButtons, options("a", "b")...)
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
			rec, err := r.agent.Open(r.ctx, req, fmt.Sprint("key", k))
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
	if again, err := r.agent.Open(r.ctx, req, "key"+k); err != nil || again.Interaction.ID != won[0].Interaction.ID {
		t.Errorf("a repeat of the pending one: %v", err)
	}
	if _, err := r.agent.Cancel(r.ctx, won[0].Interaction.ID, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.agent.Open(r.ctx, req, ""); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

func TestCancelOnDisconnect(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	for _, on := range []bool{true, false} {
		req := approval()
		req.CancelOnDisconnect = on
		a := r.ask(req)
		ctx, hangUp := context.WithTimeout(r.ctx, 200*time.Millisecond)
		if _, err := r.agent.Wait(ctx, a.Interaction.ID); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the wait ended with %v", err)
		}
		hangUp()
		if on {
			if got := r.over(a.Interaction.ID); got.State != bridge.StateCancelled || !strings.Contains(got.Response.Reason, "connection ended") {
				t.Errorf("%s %+v", got.State, got.Response)
			}
			a.closed("connection ended")
			continue
		}
		r.press("ana", a.on("slack"), "Allow once") // it stays, and is re-attached to by its id
		if got := a.end(); got.State != bridge.StateApproved {
			t.Errorf("state %s", got.State)
		}
	}
}

func TestCompletedView(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	hidden := one(bridge.WidgetButtons, options("alpha", "omega")...)
	hidden.CompletedView = &bridge.CompletedView{ShowInputs: pointer(false), SummaryTemplate: "{{actor}} did {{action}} it on {{platform}}"}
	a := r.ask(hidden)
	r.press("ana", a.on("slack"), "Omega")
	a.end()
	a.closed("ana did submit it on slack")
	for _, s := range services {
		if text := a.text(s); strings.Contains(text, "Omega") || strings.Contains(text, "omega") {
			t.Errorf("%s shows the value: %s", s, text)
		}
	}
	late, err := r.person.Respond(r.ctx, a.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("alpha")}})
	if err == nil || strings.Contains(err.Error(), "mega") {
		t.Errorf("the late one is told %v (%s)", err, late.State)
	}
	shown := one(bridge.WidgetButtons, options("alpha", "omega")...)
	shown.CompletedView = &bridge.CompletedView{SummaryTemplate: "Chosen: {{input.q}}"}
	b := r.ask(shown)
	r.press("bo", b.on("discord"), "Alpha")
	b.closed("Chosen: Alpha")
	for _, bad := range []string{"{{nonsense}}", "{{input.other}}"} {
		shown.CompletedView.SummaryTemplate = bad
		if _, err := r.agent.Open(r.ctx, shown, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A stand-alone card is not put into the session's thread; a tool's card is,
// with the result below the answer.
func TestPresentation(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	ask := func(p bridge.Presentation, session, call string) asked {
		req := one(bridge.WidgetButtons, options("a", "b")...)
		req.Session, req.ToolCall, req.ToolName, req.Presentation = session, call, "deploy", p
		return r.ask(req)
	}
	thread := func(a asked) string {
		s, _ := r.sandbox.Message(a.on("slack"))["thread_ts"].(string)
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
	r.press("ana", first.on("slack"), "A")
	first.end()
	if _, err := r.agent.Complete(r.ctx, first.Interaction.ID, bridge.Completion{Result: "3 pods are up"}); err != nil {
		t.Fatal(err)
	}
	first.closed("3 pods are up", "tool deploy")
	r.press("ana", second.on("slack"), "A")
	second.end()
	if _, err := r.agent.Complete(r.ctx, second.Interaction.ID, bridge.Completion{Error: "no quota"}); err != nil {
		t.Fatal(err)
	}
	second.closed("could not use this", "no quota")
}

// Somebody waits, the answer comes, and is not fetched yet: the card says that
// the agent has not picked it up, and nothing else.
func TestAwaited(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{config: only("slack")})
	a := r.ask(approval())
	waiting := make(chan bridge.Record, 1)
	go func() {
		rec, _ := r.daemons[0].engine().Await(r.ctx, a.Interaction.ID) // does not note delivery
		waiting <- rec
	}()
	r.eventually("the waiter is registered", func() bool {
		keys, err := r.client.Keys(r.ctx, "nod:*:i:"+string(a.Interaction.ID)).Result()
		return err == nil && len(keys) == 1 && r.client.HGet(r.ctx, keys[0], "w").Val() != ""
	})
	r.press("ana", a.on("slack"), "Allow once")
	if rec := <-waiting; rec.Unawaited {
		t.Error("the waiter was not seen")
	}
	a.closed("not picked this up yet")
}

// What the events of a session say is what its records say.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	req := one(bridge.WidgetText)
	req.Session = "story"
	a := r.ask(req)
	r.typed("ana", a.on("slack"), "Answer", "v0")
	a.end()
	next, err := r.agent.Reprompt(r.ctx, a.Interaction.ID, bridge.Request{Ask: bridge.Ask{Error: "no"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.agent.Queue(r.ctx, next.Interaction.ID, 0, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.person.Respond(r.ctx, next.Interaction.ID, bridge.Reply{Answers: map[string]bridge.Answer{"q": bridge.TextAnswer("v1")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.agent.Complete(r.ctx, next.Interaction.ID, bridge.Completion{Result: "done"}); err != nil {
		t.Fatal(err)
	}
	yes := approval()
	yes.Session = "story"
	b := r.ask(yes)
	r.press("bo", b.on("telegram"), "Deny")
	b.end()
	late := approval()
	late.Session, late.Timeout = "story", bridge.Duration(time.Second)
	c := r.ask(late)
	c.end()
	var pair []bridge.ID
	for n := range 3 { // two in one message, the third joins the second
		req := approval()
		req.Session, req.Batch, req.Join = "story", bridge.Duration(2*time.Second), true
		req.Approval.Input = fmt.Appendf(nil, `{"command":"step %d"}`, min(n, 1))
		rec, err := r.agent.Open(r.ctx, req, "")
		if err != nil {
			t.Fatal(err)
		}
		pair = append(pair, rec.Interaction.ID)
	}
	for _, id := range pair[:2] {
		r.eventually("they are posted", func() bool { rec, err := r.agent.Get(r.ctx, pair[0]); return err == nil && len(rec.Messages) == 3 })
		if _, err := r.person.Respond(r.ctx, id, answerOnce); err != nil {
			t.Fatal(err)
		}
		if _, err := r.agent.Wait(r.ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	want := map[bridge.ID]bridge.Record{}
	for _, id := range []bridge.ID{a.Interaction.ID, next.Interaction.ID, b.Interaction.ID, c.Interaction.ID, pair[0], pair[1]} {
		r.eventually("the delivery is noted", func() bool {
			want[id], err = r.daemons[0].engine().Get(r.ctx, id)
			return err == nil && (!want[id].Delivered.IsZero() || !want[id].Queued.IsZero())
		})
	}
	var replay bridge.Replay
	var events []bridge.Event
	if err := r.agent.History(r.ctx, "0", "story", func(e bridge.Event) error { events = append(events, e); return replay.Add(e) }); err != nil {
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
		if err := r.agent.History(r.ctx, after, "story", func(e bridge.Event) error { rest = append(rest, name(e)); return nil }); err != nil {
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
