package platformtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/person"
	"github.com/nodbridge/nod/platforms/sandbox"
	"github.com/nodbridge/nod/render"
)

// runInbound passes the actions of people to a sink of the test.
func runInbound(t *testing.T, h Harness) {
	sink := &Recorder{}
	r := New(t, h, Options{Sink: sink}).Connected()
	for _, f := range []struct {
		name string
		run  func(*Rig, *Recorder)
	}{
		{"a click says who clicked what, and where", clickIsWhole},
		{"a direct message works like a channel", directWorks},
		{"a click is acknowledged after the sink has returned", acknowledgesLater},
		{"a click that was not recorded is reported", tellsUnrecorded},
		{"each verdict is told to the person", tellsVerdicts},
		{"a verdict is told although the service fails for a moment", tellsAgain},
		{"a late click closes the card that was clicked", closesLate},
		{"a typed text reaches the sink once it is stored", typedReaches},
		{"a form that was not opened is reported", formFails},
		{"a command says who gave it, and where", commandIsWhole},
		{"the hands of a test notice a lost click", noticesLost},
	} {
		t.Run(f.name, func(t *testing.T) {
			sink.Reset()
			f.run(r.with(t), sink)
		})
	}
	t.Run("a click under way is finished when the platform stops", func(t *testing.T) { finishesClicks(t, h) })
	t.Run("a slow service delays no click", func(t *testing.T) { noOneWaits(t, h, false) })
	t.Run("a slow service delays no callback", func(t *testing.T) { noOneWaits(t, h, true) })
}

// heldClicks is more than the number of clicks that an adapter handles
// concurrently.
const heldClicks = 70

// noOneWaits delays the messages that nod sends to people, and checks that nod
// records their clicks anyway.
func noOneWaits(t *testing.T, h Harness, callbacks bool) {
	t.Parallel()
	sink := &Recorder{}
	r := New(t, h, Options{Sink: sink, HTTP: callbacks}).Connected()
	_, at := r.card()
	r.Fault(sandbox.Fault{Kind: "delay", Method: h.Talk, Delay: time.Minute})
	var told atomic.Int64
	var clicks sync.WaitGroup
	for n := range heldClicks {
		clicks.Go(func() {
			if reaction, err := r.Sandbox.Person("ana").Press(r.Ctx, at, render.LabelRun); err == nil && reaction.Toast != "" {
				told.Add(1)
			}
		})
		r.Eventually("the click is recorded", func() bool { return len(sink.Clicks()) > n })
	}
	if n := told.Load() + int64(len(r.Sandbox.Person("ana").Notes(h.Name))); n > 0 {
		t.Errorf("the service held nothing: ana reads %d notes", n)
	}
	r.Sandbox.ClearFaults()
	clicks.Wait()
}

// noticesLost tests a check that every test with an engine uses: a click that
// nod acknowledges as recorded must change its card.
func noticesLost(r *Rig, sink *Recorder) {
	r.Hands = person.New(r.T, r.Ctx, r.Sandbox, r.Base, r.Events...)
	_, at := r.card()
	r.Told("cy", r.Harness.Name, r.Press("cy", at, render.LabelRun), "noted")
	if lost := r.Lost(); lost != "" {
		r.T.Errorf("cy was told the outcome of the click, but %s", lost)
	}
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return bridge.Verdict{Kind: bridge.VerdictSettled}, nil })
	r.Press("cy", at, render.LabelRun)
	if r.Lost() == "" {
		r.T.Error("a click that was settled and not stored is not noticed")
	}
}

// card posts a card with a decision to click.
func (r *Rig) card() (bridge.View, sandbox.Place) {
	r.T.Helper()
	v := r.view(r.interaction("make deploy"), bridge.StatePending)
	return v, r.Place(r.posts(v))
}

// tokenOf returns the token of the control with a label.
func (r *Rig) tokenOf(at sandbox.Place, label string) string {
	r.T.Helper()
	for _, c := range r.Controls(at) {
		if strings.Contains(c.Label, label) {
			return r.Harness.Client.Token(c)
		}
	}
	r.T.Fatalf("no control is labeled %q", label)
	return ""
}

func clickIsWhole(r *Rig, sink *Recorder) {
	_, at := r.card()
	want := r.tokenOf(at, render.LabelRun)
	r.Press("bo", at, render.LabelRun)
	r.wantClick(sink, want, at)
}

// wantClick waits for a click by bo on a card.
func (r *Rig) wantClick(sink *Recorder, token string, at sandbox.Place) {
	r.T.Helper()
	r.Eventually("the click arrives", func() bool { return len(sink.Clicks()) > 0 })
	c := sink.Clicks()[0]
	if c.Token != token || c.Ref.Channel != at.Channel || c.Ref.Message != at.Message {
		r.T.Errorf("the click is %+v", c)
	}
	if c.Actor.Platform != r.Harness.Name || c.Actor.User != r.account("bo") || !strings.Contains(c.Actor.Name, "Bo") {
		r.T.Errorf("the actor is %+v", c.Actor)
	}
	if _, bounded := sink.Context().Deadline(); !bounded {
		r.T.Error("the sink has no deadline")
	}
}

func directWorks(r *Rig, sink *Recorder) {
	v := r.view(r.interaction("make deploy"), bridge.StatePending)
	to := bridge.Destination{Platform: r.Harness.Name, Channel: r.Harness.Direct}
	for range 2 { // the second time, the adapter knows how to reply
		sink.Reset()
		ref, err := r.Platform.Post(r.Ctx, to, v, nil)
		if err != nil {
			r.T.Fatal(err)
		}
		r.Press("ana", r.Place(ref), render.LabelRun)
		r.Eventually("the click arrives", func() bool { return len(sink.Clicks()) > 0 })
		c := sink.Clicks()[0]
		if c.Ref.Channel != ref.Channel || c.Ref.Message != ref.Message || c.Actor.User != r.account("ana") {
			r.T.Errorf("the click is %+v, the card is at %+v", c, ref)
		}
		next := to
		if t, ok := r.Platform.(bridge.Threader); ok {
			if next, err = t.Thread(r.Ctx, to, ref, "a session"); err != nil {
				r.T.Fatal(err)
			}
		}
		if _, err := r.Platform.Post(r.Ctx, next, r.view(r.interaction("ls"), bridge.StatePending), nil); err != nil {
			r.T.Errorf("the second card of a session at %+v: %v", next, err)
		}
		v = r.view(r.interaction("make deploy"), bridge.StatePending)
	}
}

func acknowledgesLater(r *Rig, sink *Recorder) {
	_, at := r.card()
	entered, release := make(chan struct{}, 9), make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	defer let()
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		entered <- struct{}{}
		<-release
		return bridge.Verdict{Kind: bridge.VerdictNoted, Note: "stored"}, nil
	})
	acknowledged := make(chan error, 1)
	go func() {
		reaction, err := r.Sandbox.Person("ana").Press(r.Ctx, at, render.LabelRun)
		if err == nil && reaction.Warning != "" {
			err = errors.New(reaction.Warning)
		}
		acknowledged <- err
	}()
	await.Receive(r.T, "the click", entered)
	select {
	case err := <-acknowledged:
		r.T.Errorf("it was acknowledged before it was stored: %v", err)
		return
	case <-time.After(150 * time.Millisecond):
	}
	let()
	if err := await.Receive(r.T, "the acknowledgment", acknowledged); err != nil {
		r.T.Error(err)
	}
}

func tellsUnrecorded(r *Rig, sink *Recorder) {
	_, at := r.card()
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return bridge.Verdict{}, errStop })
	r.Unrecorded("ana", at, render.LabelRun)
	if len(r.Controls(at)) == 0 {
		r.T.Error("the card cannot be clicked again")
	}
}

func tellsVerdicts(r *Rig, sink *Recorder) {
	_, at := r.card()
	for _, kind := range []bridge.VerdictKind{
		bridge.VerdictLate, bridge.VerdictForbidden, bridge.VerdictInvalid, bridge.VerdictNoted, bridge.VerdictUnknown,
	} {
		note := "verdict " + string(kind) + " <b>&"
		sink.Answers(func(bridge.Click) (bridge.Verdict, error) { return bridge.Verdict{Kind: kind, Note: note}, nil })
		r.Told("ana", r.Harness.Name, r.Press("ana", at, render.LabelRun), "verdict "+string(kind))
	}
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictSettled, Note: "settled"}, nil
	})
	r.Press("ana", at, render.LabelRun)
	if got := r.count(at, "verdict"); got != 0 {
		r.T.Errorf("%d results are shown to everyone", got)
	}
}

// tellsAgain makes the service fail once when nod tells a person the result of
// a click.
func tellsAgain(r *Rig, sink *Recorder) {
	_, at := r.card()
	for n, f := range []sandbox.Fault{
		{Kind: "drop"}, {Kind: "drop_after"}, {Kind: "half"}, {Kind: "page", Status: 502}, {Kind: "error", Status: 500},
		{Kind: "rate_limit"}, {Kind: "rate_limit", RetryAfter: 1},
	} {
		note := fmt.Sprintf("not you %d %d %d", n, f.Status, f.RetryAfter)
		sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
			return bridge.Verdict{Kind: bridge.VerdictForbidden, Note: note}, nil
		})
		f.Method, f.Count = r.Harness.Talk, 1
		r.Fault(f)
		r.Told("ana", r.Harness.Name, r.Press("ana", at, render.LabelRun), note)
		r.Sandbox.ClearFaults()
	}
	if h := r.Platform.Health(); h.State != bridge.HealthUp || h.Reason != "" {
		r.T.Errorf("after failures that pass, health is %+v", h)
	}
}

func closesLate(r *Rig, sink *Recorder) {
	v, at := r.card()
	over := r.view(v.Record.Interaction, bridge.StateDenied)
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		return bridge.Verdict{Kind: bridge.VerdictLate, Note: "already denied", View: &over}, nil
	})
	r.Told("ana", r.Harness.Name, r.Press("ana", at, render.LabelRun), "already denied")
	r.Eventually("the card is closed", func() bool { return len(r.Controls(at)) == 0 })
	r.Says(at, "Denied")
	r.Eventually("the update is reported", func() bool { return sink.Updated() == 1 })
}

// typedReaches types a text that nod fails to record the first time.
func typedReaches(r *Rig, sink *Recorder) {
	i := r.interaction("ls")
	i.Kind, i.Approval = bridge.KindAsk, nil
	i.Questions = []bridge.Question{{ID: "q", Text: "Why?", Widget: bridge.WidgetText}}
	v := r.view(i, bridge.StatePending)
	at := r.Place(r.posts(v))
	token := r.tokenOf(at, render.LabelAnswer)
	control, err := r.Keys.Verify(token)
	if err != nil {
		r.T.Fatal(err)
	}
	sink.Shows(bridge.Form{View: v, Control: control}, nil)
	failed := false
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		if !failed {
			failed = true
			return bridge.Verdict{}, errStop
		}
		return bridge.Verdict{Kind: bridge.VerdictSettled}, nil
	})
	var refused sandbox.Reaction
	r.Failing(func() { refused = r.Typed("bo", at, render.LabelAnswer, "because\nof it") })
	r.wantClick(sink, token, at)
	texts := func() []bridge.Click {
		return slices.DeleteFunc(sink.Clicks(), func(c bridge.Click) bool {
			return bridge.PeekAction(c.Token) == bridge.ActionInput
		})
	}
	r.Eventually("the text arrives", func() bool { return len(texts()) > 0 })
	if !r.Harness.Redelivers && len(texts()) == 1 { // the person has not submitted the text again
		r.Retyped("bo", at, render.LabelAnswer, "because\nof it", refused)
	}
	r.Eventually("the text arrives again", func() bool { return len(texts()) > 1 })
	for _, c := range texts() {
		if c.Inputs[0].Text != "because\nof it" || c.Ref.Message != at.Message || c.Actor.User != r.account("bo") {
			r.T.Errorf("the sink gets %+v", c)
		}
		if bridge.PeekAction(c.Token) != bridge.ActionSubmit {
			r.T.Errorf("the action is %v", bridge.PeekAction(c.Token))
		}
	}
}

func formFails(r *Rig, sink *Recorder) {
	i := r.interaction("ls")
	i.Kind, i.Approval = bridge.KindAsk, nil
	i.Questions = []bridge.Question{{ID: "q", Text: "Why?", Widget: bridge.WidgetText}}
	at := r.Place(r.posts(r.view(i, bridge.StatePending)))
	sink.Shows(bridge.Form{}, errStop)
	if reaction := r.Unrecorded("ana", at, render.LabelAnswer); reaction.Modal != "" {
		r.T.Error("a form opened")
	}
}

func commandIsWhole(r *Rig, sink *Recorder) {
	channel := r.Harness.Channel
	r.Eventually("the command is known", func() bool { // some services register the command after the start
		reaction, err := r.Sandbox.Person("bo").Command(r.Ctx, r.Harness.Name, channel, "/nod sessions")
		return err == nil && reaction.Warning == ""
	})
	r.Eventually("the command arrives", func() bool { return len(sink.Commands()) > 0 })
	c := sink.Commands()[0]
	if c.Text != "sessions" || c.Actor.User != r.account("bo") || len(c.Channels) == 0 || c.Channels[0] != channel {
		r.T.Errorf("the command is %+v", c)
	}
}

// finishesClicks stops the platform while the sink works on a click.
func finishesClicks(t *testing.T, h Harness) {
	sink := &Recorder{}
	r := New(t, h, Options{Sink: sink, Still: true})
	ctx, cancel := context.WithCancel(r.Ctx)
	defer cancel()
	go func() { r.ended <- r.Platform.Run(ctx, sink) }()
	r.Connected()
	_, at := r.card()
	entered, release := make(chan struct{}, 9), make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	defer let()
	sink.Answers(func(bridge.Click) (bridge.Verdict, error) {
		entered <- struct{}{}
		<-release
		return bridge.Verdict{Kind: bridge.VerdictSettled}, nil
	})
	go func() { _, _ = r.Sandbox.Person("ana").Press(r.Ctx, at, render.LabelRun) }() // the reply may be lost
	await.Receive(r.T, "the click", entered)
	cancel()
	select {
	case err := <-r.ended:
		t.Errorf("the platform stopped during a click: %v", err)
	case <-time.After(150 * time.Millisecond):
	}
	if err := sink.Context().Err(); errors.Is(err, context.Canceled) { // the time for the click may be over
		t.Errorf("the unfinished click: %v", err)
	}
	let()
	if err := await.Receive(r.T, "the end", r.ended); err != nil {
		t.Error(err)
	}
}
