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

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/rig"
	"github.com/nodbridge/nod/platforms/platformtest/samples"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// TestQueued checks that the late answers of a session are kept, in order,
// until the agent acknowledges them, and that no other agent reads them.
func TestQueued(t *testing.T) {
	t.Parallel()
	r, now := clocked(t, rig.Options{})
	var asks []rig.Asked
	for _, prompt := range []string{"First?", "Second?"} {
		req := samples.One(bridge.WidgetButtons, samples.Choices("yes", "no")...)
		req.Prompt, req.Session, req.OnTimeout, req.Timeout = prompt, "night", bridge.OnTimeoutPending, bridge.Duration(time.Hour)
		asks = append(asks, r.Ask(req))
	}
	now.jump(time.Hour)
	for _, a := range asks {
		if rec := a.End(); rec.State != bridge.StatePending || rec.Queued.IsZero() {
			t.Fatalf("the agent was told %s, queued %s", rec.State, rec.Queued)
		}
		r.Eventually("the card says so", func() bool { return strings.Contains(a.Text("slack"), "stopped waiting") })
	}
	r.Press("ana", asks[0].On("slack"), "No")
	r.Press("bo", asks[1].On("telegram"), "Yes")
	asks[0].Closed("stopped waiting", "its session will be told")
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
	asks[0].Closed("was told")
	other := rig.NewClient(r.Daemons[0].URL, rig.OtherAgentToken)
	if items, err := other.Messages(r.Ctx, "night"); err != nil || len(items) != 0 {
		t.Errorf("another agent reads %v, %v", items, err)
	}
}

// stream opens server-sent events as the agent, and returns a function that
// reads on to the next line with a prefix.
func stream(r *rig.Rig, path string) func(prefix string) string {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.Ctx, await.Limit)
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

// TestPutOff checks that an agent can defer a pending request, once, and an
// answered one, which is asked again.
func TestPutOff(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := samples.One(bridge.WidgetButtons, samples.Choices("now", "later")...)
	req.Session = "s"
	a := r.Ask(req)
	if rec, err := r.Agent.Queue(r.Ctx, a.Interaction.ID, bridge.Duration(time.Hour), ""); err != nil || rec.Queued.IsZero() || rec.State != bridge.StatePending {
		t.Fatalf("%+v, %v", rec, err)
	}
	r.Press("ana", a.On("slack"), "Later")
	over(r, a.Interaction.ID)
	if rec, err := r.Agent.Queue(r.Ctx, a.Interaction.ID, 0, "take your time"); err != nil || rec.Interaction.ID != a.Interaction.ID || rec.Next != "" {
		t.Errorf("deferred again: %+v, %v", rec, err)
	}
	soon := r.Ask(req)
	r.Press("ana", soon.On("slack"), "Later")
	over(r, soon.Interaction.ID)
	again, err := r.Agent.Queue(r.Ctx, soon.Interaction.ID, 0, "take your time")
	if err != nil || again.Interaction.Previous != soon.Interaction.ID || again.Queued.IsZero() {
		t.Fatalf("%+v, %v", again, err)
	}
	b := soon.As(again)
	r.Eventually("it is asked again, without haste", func() bool {
		return strings.Contains(b.Text("slack"), "take your time") && len(b.Controls("slack")) > 0
	})
	r.Press("ana", b.On("slack"), "Now")
	r.Eventually("both answers wait", func() bool { items, _ := r.Agent.Messages(r.Ctx, "s"); return len(items) == 2 })
	none := samples.One(bridge.WidgetText)
	c := r.Ask(none)
	if _, err := r.Agent.Queue(r.Ctx, c.Interaction.ID, 0, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("without a session: %v", err)
	}
}

// TestEscalates checks that a timeout can take the step that adds people and
// destinations, and that the request expires after the same time again.
func TestEscalates(t *testing.T) {
	t.Parallel()
	r, now := clocked(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Responders = []string{"ana"}
		route.Escalation = []config.Step{{After: config.Duration(time.Hour), Route: "oncall"}}
		c.Routes[bridge.DefaultRoute] = route
		full := sandboxed.Config("http://x").Routes[bridge.DefaultRoute]
		full.Responders = []string{"ana", "bo"}
		c.Routes["oncall"] = full
	}})
	req := samples.Approval()
	req.OnTimeout, req.Timeout = bridge.OnTimeoutEscalate, bridge.Duration(time.Hour)
	a := r.Ask(req)
	r.Told("bo", "slack", r.Press("bo", a.On("slack"), "Run command"), "may not answer")
	now.jump(time.Hour)
	r.Eventually("more people are asked", func() bool {
		rec, err := r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID)
		a.Record = rec
		return err == nil && len(rec.Messages) == len(rec.Interaction.Destinations) && len(rec.Messages) > 1
	})
	r.Press("bo", a.On("discord"), "Run command")
	if got := a.End(); got.State != bridge.StateApproved || got.Response.Actor.Person != "bo" {
		t.Errorf("the response is %s %+v, want approved by bo", got.State, got.Response)
	}
	a.Closed("bo", "Discord")
	now.jump(0)
	last := r.Ask(req)
	now.jump(time.Hour)
	r.Eventually("more people are asked", func() bool {
		rec, err := r.Daemons[0].Engine().Get(r.Ctx, last.Interaction.ID)
		return err == nil && len(rec.Interaction.Called) > 0
	})
	now.jump(2 * time.Hour)
	rec := last.End()
	if asked := rec.Interaction.Called; rec.State != bridge.StateExpired || !slices.Equal(asked, []string{"oncall"}) {
		t.Errorf("in the end it is %s, after %q were asked", rec.State, asked)
	}
	if spent := rec.Response.At.Sub(rec.Interaction.Created); spent != 2*time.Hour {
		t.Errorf("it expired after %s", spent)
	}
	req.Route = "oncall"
	if _, err := r.Agent.Open(r.Ctx, req, ""); bridge.ErrorCode(err) != bridge.CodeInvalid {
		t.Errorf("a route that does not escalate: %v", err)
	}
}

// TestEscalatesUnposted checks that a request that no channel could show still
// reaches the people whom its timeout asks.
func TestEscalatesUnposted(t *testing.T) {
	t.Parallel()
	r, now := clocked(t, rig.Options{Config: func(c *config.Config) {
		rig.Only("slack")(c)
		route := c.Routes[bridge.DefaultRoute]
		route.Escalation = []config.Step{{After: config.Duration(time.Hour), Route: "oncall"}}
		c.Routes[bridge.DefaultRoute] = route
		c.Routes["oncall"] = config.Route{To: []string{fmt.Sprintf("telegram:%d", sandbox.TelegramChat)}, Responders: []string{"bo"}}
	}})
	r.Sandbox.AddFault(sandbox.Fault{Service: "slack", Kind: "absent"})
	req := samples.Approval()
	req.OnTimeout, req.Timeout = bridge.OnTimeoutEscalate, bridge.Duration(time.Hour)
	a := r.Ask(req)
	if len(a.Failures) != 1 {
		t.Fatalf("it was posted: %+v", a.Messages)
	}
	now.jump(time.Hour)
	r.Eventually("more people are asked", func() bool {
		var err error
		a.Record, err = r.Daemons[0].Engine().Get(r.Ctx, a.Interaction.ID)
		return err == nil && len(a.Messages) == 1
	})
	r.Press("bo", a.On("telegram"), "Run command")
	if got := a.End(); got.State != bridge.StateApproved {
		t.Errorf("it is %s", got.State)
	}
	a.Closed("bo")
	now.jump(0)
	req.OnTimeout = bridge.OnTimeoutExpire
	if got := r.Ask(req).End(); got.State != bridge.StateUndeliverable {
		t.Errorf("without an escalation it is %s", got.State)
	}
}

// TestOneAtATime checks that a session has one pending request at most if the
// agent asks for that.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	req := samples.One(bridge.WidgetButtons, samples.Choices("a", "b")...)
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

// TestCancelOnDisconnect checks that a request is cancelled when its waiting
// caller disconnects, if the agent asks for that.
func TestCancelOnDisconnect(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	for _, on := range []bool{true, false} {
		req := samples.Approval()
		req.CancelOnDisconnect = on
		a := r.Ask(req)
		ctx, hangUp := context.WithCancel(r.Ctx)
		ended := make(chan error, 1)
		go func() {
			_, err := r.Agent.Wait(ctx, a.Interaction.ID)
			ended <- err
		}()
		waits(r)
		hangUp()
		if err := await.Receive(t, "the end of the wait", ended); !errors.Is(err, context.Canceled) {
			t.Fatalf("the wait ended with %v", err)
		}
		if on {
			if got := over(r, a.Interaction.ID); got.State != bridge.StateCancelled || !strings.Contains(got.Response.Reason, "agent disconnected") {
				t.Errorf("the response is %s %+v, want cancelled by the disconnect", got.State, got.Response)
			}
			a.Closed("agent disconnected")
			continue
		}
		r.Press("ana", a.On("slack"), "Run command") // the request stays, and the caller finds it by its ID
		if got := a.End(); got.State != bridge.StateApproved {
			t.Errorf("state %s", got.State)
		}
	}
}

// TestCompletedView checks the summary of a closed card, and that hidden
// answers appear nowhere.
func TestCompletedView(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	hidden := samples.One(bridge.WidgetButtons, samples.Choices("alpha", "omega")...)
	hidden.CompletedView = &bridge.CompletedView{ShowInputs: new(bool), SummaryTemplate: "{{actor}} did {{action}} it on {{platform}}"}
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
	shown := samples.One(bridge.WidgetButtons, samples.Choices("alpha", "omega")...)
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

// TestPresentation checks that a stand-alone card is not in the thread of its
// session, and that the card of a tool is, with the result below the answer.
func TestPresentation(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	ask := func(p bridge.Presentation, session, call string) rig.Asked {
		req := samples.One(bridge.WidgetButtons, samples.Choices("a", "b")...)
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

// TestAwaited checks that a card says that the agent has not picked up the
// response yet, although a caller waits for it.
func TestAwaited(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{Config: rig.Only("slack")})
	a := r.Ask(samples.Approval())
	waiting := make(chan *bridge.Record, 1)
	go func() {
		rec, _ := r.Daemons[0].Engine().Await(r.Ctx, a.Interaction.ID) // does not note delivery
		waiting <- rec
	}()
	waits(r)
	r.Press("ana", a.On("slack"), "Run command")
	if rec := <-waiting; rec == nil || rec.Unawaited {
		t.Error("the waiter was not seen")
	}
	a.Closed("Not picked up yet")
}
