package engine_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/life"
	"github.com/nodbridge/nod/platforms/platformtest/stored"
)

var why = bridge.Question{ID: "q", Text: "Why?", Widget: bridge.WidgetText, Pattern: "[a-z ]+", PatternHint: "letters"}

// replies sends a reply of a person to the card of a request.
func (w *world) replies(who, message, text string, id bridge.ID, after bool) bridge.Verdict {
	w.t.Helper()
	v, err := w.engine.Reply(w.t.Context(), bridge.Said{
		Actor: bridge.Actor{Platform: "chat", User: "U-" + who, Name: who}, Card: w.get(id).Messages[0],
		Message: message, Text: text, After: func(bridge.MessageRef) bool { return after },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// TestReplyAnswers checks that a reply to a card answers its text question, and
// nothing else: not for other people, not an approval, and not what was asked
// after the reply.
func TestReplyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id := w.asked(nil, why).Interaction.ID
	w.said(w.replies("eve", "1", "because", id, true), bridge.VerdictInvalid, "Only people who may answer")
	w.said(w.replies("ana", "2", "because", id, false), bridge.VerdictInvalid, "after your reply")
	w.said(w.replies("ana", "3", "BECAUSE", id, true), bridge.VerdictInvalid, "letters")
	w.said(w.replies("ana", "unread", "", id, true), bridge.VerdictInvalid, "reads only text")
	if v := w.replies("eve", "unread", "", id, true); v.Note != "" {
		t.Errorf("a bystander whose reply cannot be read is told %q", v.Note)
	}
	w.state(id, bridge.StatePending)
	w.said(w.replies("ana", "4", "because", id, true), bridge.VerdictSettled, "")
	if got := w.get(id).Response; got.Answers["q"].Text != "because" || got.Actor.Person != "ana" {
		t.Errorf("the answer is %+v", got)
	}
	if v := w.replies("ana", "4", "because", id, true); v.Kind != "" {
		t.Errorf("the reply that answered, again: %+v", v)
	}
	w.said(w.replies("ana", "5", "because", id, true), bridge.VerdictNoted, "")
	alone := func(r *bridge.Request) { r.Session = "" } // no session takes a message
	for name, open := range map[string]bridge.ID{
		"approval": w.open(agentCI, shell("make x")).Interaction.ID,
		"choice":   w.asked(alone, confirm).Interaction.ID,
		"form":     w.asked(alone, why, bridge.Question{ID: "r", Text: "Who?", Widget: bridge.WidgetText}).Interaction.ID,
	} {
		w.said(w.replies("ana", name, "yes", open, true), bridge.VerdictInvalid, "does not answer this request")
		if v := w.replies("ana", name+" again", "yes", open, true); v.Note != "" {
			t.Errorf("%s: told twice: %s", name, v.Note)
		}
		w.state(open, bridge.StatePending)
	}
}

// TestReplyCountsOnce checks that a reply which is delivered again gets the same verdict,
// and does not answer a second question.
func TestReplyCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	id, second := w.asked(nil, why).Interaction.ID, w.asked(nil, why).Interaction.ID
	for range 2 {
		w.said(w.replies("ana", "1", "NO", id, true), bridge.VerdictInvalid, "letters")
	}
	if v := w.replies("ana", "1", "again", second, true); v.Kind != "" {
		t.Errorf("the same message below another card: %+v", v)
	}
	w.state(second, bridge.StatePending)
	w.said(w.replies("bo", "2", "again", second, true), bridge.VerdictSettled, "")
}

// TestManyPending checks that a reply to a card, and the deletion of a card, reach its
// request, however many others expire earlier.
func TestManyPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	for range 1001 {
		i := bridge.Interaction{ID: stored.Must[bridge.ID](t)(bridge.NewID()), Agent: "ci", Ask: bridge.Ask{Kind: bridge.KindNotice}}
		i.Created = time.Now()
		i.Deadline = i.Created.Add(time.Minute)
		if _, _, err := w.store.Open(t.Context(), life.Opening{Interaction: i}); err != nil {
			t.Fatal(err)
		}
	}
	id := w.asked(nil, why).Interaction.ID
	ref := w.get(id).Messages[0]
	if err := w.engine.Deleted(t.Context(), "chat", ref); err != nil {
		t.Fatal(err)
	}
	w.eventually("the card is posted again", func() bool { m := w.get(id).Messages[0]; return m.Message != "" && m != ref })
	w.said(w.replies("ana", "1", "because", id, true), bridge.VerdictSettled, "")
	w.state(id, bridge.StateAnswered)
}

// TestReplyInterrupted checks that a reply counts when the platform delivers it again, if
// its time ended or its daemon died before its answer was stored.
func TestReplyInterrupted(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(end func()){
		"its time ended":  func(end func()) { end() },
		"its daemon died": func(func()) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newSetup())
			id := w.asked(nil, why).Interaction.ID
			ctx, end := context.WithCancel(t.Context())
			interrupted := false
			w.between = &settles{w.store, "", func() {
				if !interrupted {
					interrupted = true
					interrupt(end)
				}
			}, func() {}}
			w.reload(w.setup)
			s := bridge.Said{
				Actor: bridge.Actor{Platform: "chat", User: "U-ana"}, Card: w.get(id).Messages[0],
				Message: "1", Text: "because", After: func(bridge.MessageRef) bool { return true },
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				if v, err := w.engine.Reply(ctx, s); err == nil {
					t.Errorf("the interrupted reply: %+v", v)
				}
			})
			wg.Wait()
			v, err := w.engine.Reply(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			w.said(v, bridge.VerdictSettled, "")
			w.state(id, bridge.StateAnswered)
		})
	}
}

// TestReplyEdited checks that the author of a reply that counted is told that an edit
// of it does not, even when the request is closed. Other edits below a closed card
// are talk.
func TestReplyEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	alone := func(r *bridge.Request) { r.Session = "" } // no session takes a message
	id := w.asked(alone, why).Interaction.ID
	edited := func(message string) bridge.Verdict {
		v, err := w.engine.Reply(t.Context(), bridge.Said{
			Actor: bridge.Actor{Platform: "chat", User: "U-ana", Name: "ana"}, Card: w.get(id).Messages[0], Standing: bridge.StandingEdited,
			Message: message, Text: "no, because", After: func(bridge.MessageRef) bool { return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	w.said(w.replies("ana", "1", "because", id, true), bridge.VerdictSettled, "")
	for range 2 {
		w.said(edited("1"), bridge.VerdictInvalid, "Edits have no effect")
	}
	if v := edited("2"); v.Note != "" {
		t.Errorf("an edit of talk: %+v", v)
	}
	if got := w.get(id).Response; got.Answers["q"].Text != "because" {
		t.Errorf("the answer is %+v", got)
	}
}

// TestReplyInThread checks that a reply in a thread with several text questions
// answers none of them, and names them.
func TestReplyInThread(t *testing.T) {
	t.Parallel()
	set := newSetup()
	set.routes["default"].Destinations[0].Thread = "7"
	w := newWorld(t, set)
	one := w.asked(func(r *bridge.Request) { r.Prompt = "The first" }, why).Interaction.ID
	two := w.asked(func(r *bridge.Request) { r.Prompt = "The second" }, why).Interaction.ID
	s := bridge.Said{
		Actor: bridge.Actor{Platform: "chat", User: "U-ana"}, Card: bridge.MessageRef{Channel: "C1", Thread: "7"},
		Message: "1", Text: "because", After: func(bridge.MessageRef) bool { return true },
	}
	v, err := w.engine.Reply(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictInvalid, "The second")
	w.state(one, bridge.StatePending)
	w.state(two, bridge.StatePending)
	w.said(w.use("ana", one, bridge.ActionSubmit, 0, 0, map[int]bridge.Input{0: {Text: "here"}}), bridge.VerdictSettled, "")
	s.Message = "2"
	if v, err = w.engine.Reply(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictSettled, "")
	w.state(two, bridge.StateAnswered)
}

// TestReplyNextToApproval checks that a reply in a thread with an approval and a
// text question does not count for the question.
func TestReplyNextToApproval(t *testing.T) {
	t.Parallel()
	set := newSetup()
	set.routes["default"].Destinations[0].Thread = "7"
	w := newWorld(t, set)
	question := w.asked(func(r *bridge.Request) { r.Prompt = "The question" }, why).Interaction.ID
	approval := w.open(agentCI, shell("make x")).Interaction.ID
	s := bridge.Said{
		Actor: bridge.Actor{Platform: "chat", User: "U-ana"}, Card: bridge.MessageRef{Channel: "C1", Thread: "7"},
		Message: "1", Text: "no do not run that", After: func(bridge.MessageRef) bool { return true },
	}
	v, err := w.engine.Reply(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictInvalid, "The question")
	w.state(question, bridge.StatePending)
	w.press("ana", approval, "C1", bridge.DecideDeny, "")
	s.Message = "2"
	if v, err = w.engine.Reply(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	w.said(v, bridge.VerdictSettled, "")
	w.state(question, bridge.StateAnswered)
}

// TestReplyToFollowUp checks that a reply to a card never answers its follow-up,
// whatever the clocks say: it may have been written for the question before.
func TestReplyToFollowUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newSetup())
	first := w.asked(nil, why).Interaction.ID
	second, err := w.engine.Reprompt(t.Context(), agentCI, first, bridge.Request{Ask: bridge.Ask{Error: "v0 does not exist"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	id := second.Interaction.ID
	w.said(w.replies("ana", "1", "because", id, true), bridge.VerdictInvalid, "follow-up")
	w.state(id, bridge.StatePending)
	w.said(w.use("ana", id, bridge.ActionSubmit, 0, 0, map[int]bridge.Input{0: {Text: "here"}}), bridge.VerdictSettled, "")
}
