package question_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/question"
)

// chats is an Asker whose people answer when the test says so.
type chats struct {
	bridge.Asker
	refuse    error
	opened    chan bridge.Request
	waiting   chan bool
	holds     chan bool // if not nil, opening waits for it
	ends      chan bridge.Record
	cancelled chan string
	// first is the response that arrived before a cancellation.
	first *bridge.Response
	rec   bridge.Record
}

func newChats() *chats {
	return &chats{opened: make(chan bridge.Request, 2), waiting: make(chan bool, 2), ends: make(chan bridge.Record, 1),
		cancelled: make(chan string, 1)}
}

func (c *chats) Open(ctx context.Context, r bridge.Request, _ string) (bridge.Record, error) {
	if c.holds != nil {
		select {
		case <-c.holds:
		case <-ctx.Done():
			return bridge.Record{}, ctx.Err()
		}
	}
	if c.refuse != nil {
		return bridge.Record{}, c.refuse
	}
	c.rec.State = bridge.StatePending
	i := &c.rec.Interaction
	i.ID, i.Kind, i.Prompt, i.Session, i.Questions = "i1", r.Kind, r.Prompt, r.Session, r.Questions
	c.opened <- r
	return c.rec, nil
}

func (c *chats) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	if id != "i1" {
		return bridge.Record{}, fmt.Errorf("wait for %q", id)
	}
	c.waiting <- true
	select {
	case r := <-c.ends:
		return r, nil
	case <-ctx.Done():
		return bridge.Record{}, ctx.Err()
	}
}

func (c *chats) Cancel(ctx context.Context, _ bridge.ID, reason string) (bridge.Record, error) {
	if err := ctx.Err(); err != nil {
		return bridge.Record{}, err
	}
	c.cancelled <- reason
	if c.first != nil {
		return c.ended(*c.first), nil
	}
	return c.rec, nil
}

// ended returns the record with a response.
func (c *chats) ended(r bridge.Response) bridge.Record {
	out := c.rec
	out.State, out.Response = r.State, &r
	return out
}

func answered(answers ...string) bridge.Response {
	r := bridge.Response{State: bridge.StateAnswered, Answers: map[string]bridge.Answer{}}
	for n, a := range answers {
		r.Answers[fmt.Sprintf("q%d", n+1)] = bridge.TextAnswer(a)
	}
	return r
}

func request() question.Request {
	return question.Request{Session: "s", Questions: []question.Question{
		{Question: "Which framework?", Header: "Framework", Options: []question.Option{
			{Label: "React"}, {Label: "Vue", Description: "small", Preview: "<template/>"}}},
		{Question: "Which regions?", MultiSelect: true, Options: []question.Option{{Label: "eu"}, {Label: "us"}}},
	}}
}

type outcome struct {
	r   question.Response
	err error
}

func start(ctx context.Context, b question.Broker, r question.Request) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		resp, err := b.Request(ctx, r)
		done <- outcome{resp, err}
	}()
	return done
}

// TestChatsAnswer checks that answers from chat are returned by the text of
// each question, with notes and the preview of the chosen option.
func TestChatsAnswer(t *testing.T) {
	t.Parallel()
	c := newChats()
	done := start(t.Context(), question.NewBroker(c), request())
	r := <-c.opened
	if r.Session != "s" || len(r.Questions) != 2 || r.Questions[0].Options[1].Preview != "<template/>" {
		t.Errorf("people were asked %+v", r)
	}
	resp := answered("Vue", "")
	resp.Answers["q2"] = bridge.ListAnswer("eu", "us")
	resp.Annotations = map[string]bridge.Annotation{"q1": {Preview: "<template/>"}, "q2": {Note: "both"}, "q3": {}}
	c.ends <- c.ended(resp)
	got := <-done
	want := question.Response{
		Answers: map[string]string{"Which framework?": "Vue", "Which regions?": "eu" + question.Separator + "us"},
		Annotations: map[string]question.Annotation{"Which framework?": {Preview: "<template/>"},
			"Which regions?": {Notes: "both"}},
	}
	if d := cmp.Diff(want, got.r); got.err != nil || d != "" {
		t.Errorf("%v, (-want +got):\n%s", got.err, d)
	}
	if len(c.cancelled) > 0 {
		t.Error("an answered request was cancelled")
	}
}

// TestProcessAnswers checks that a response of this process counts, closes the
// cards, and counts only once.
func TestProcessAnswers(t *testing.T) {
	t.Parallel()
	c := newChats()
	b := question.NewBroker(c)
	shown := make(chan question.Request, 1)
	question.SetOnRequest(b, func(r question.Request) { shown <- r })
	done := start(t.Context(), b, request())
	r := <-shown
	<-c.opened
	if r.ID == "" || len(r.Questions) != 2 {
		t.Errorf("the callback got %+v", r)
	}
	mine := question.Response{Answers: map[string]string{"Which framework?": "React"}}
	for range 2 {
		if err := b.Respond(r.ID, mine); err != nil {
			t.Fatal(err)
		}
	}
	got := <-done
	if got.err != nil || got.r.Answers["Which framework?"] != "React" || got.r.Annotations == nil {
		t.Errorf("%+v", got)
	}
	if why := <-c.cancelled; why != "answered in the agent's process" {
		t.Errorf("the cards close with %q", why)
	}
	if err := b.Respond(r.ID, mine); err != nil {
		t.Errorf("a late answer is %v", err)
	}
	if err := b.Respond("unknown", mine); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("an unknown request is %v", err)
	}
}

// TestChatsWereFirst checks that an answer from chat counts if it arrived
// before the response of this process.
func TestChatsWereFirst(t *testing.T) {
	t.Parallel()
	c := newChats()
	first := answered("Vue")
	c.first = &first
	b := question.NewBroker(c)
	shown := make(chan question.Request, 1)
	question.SetOnRequest(b, func(r question.Request) { shown <- r })
	done := start(t.Context(), b, request())
	r := <-shown
	<-c.waiting
	if err := b.Respond(r.ID, question.Response{Answers: map[string]string{"Which framework?": "React"}}); err != nil {
		t.Error(err)
	}
	if got := <-done; got.err != nil || got.r.Answers["Which framework?"] != "Vue" {
		t.Errorf("%+v", got)
	}
}

// TestCallerLeaves checks that a request is cancelled in chat when its caller
// stops waiting.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	for name, chat := range map[string]bool{"chat": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var askers []bridge.Asker
				c := newChats()
				if chat {
					askers = append(askers, c)
				}
				ctx, leave := context.WithCancel(t.Context())
				done := start(ctx, question.NewBroker(askers...), request())
				synctest.Wait()
				leave()
				got := <-done
				if !errors.Is(got.err, context.Canceled) || got.r.Answers == nil || len(got.r.Answers) > 0 {
					t.Errorf("%+v", got)
				}
				if chat && len(c.cancelled) == 0 {
					t.Error("the cards stay open")
				} else if chat && <-c.cancelled != "the agent stopped waiting" {
					t.Error("the cards do not show why they are closed")
				}
			})
		})
	}
}

// TestNoAnswer checks that a request that cannot be sent, or that closes
// without an answer, returns an error and an empty response.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := question.NewBroker().Request(ctx, request()); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has stopped waiting: %v", err)
	}
	c := newChats()
	if _, err := question.NewBroker(c).Request(t.Context(),
		question.Request{}); bridge.ErrorCode(err) != bridge.CodeInvalid || len(c.opened) > 0 {
		t.Errorf("no questions: %v", err)
	}
	c.refuse = bridge.Errorf(bridge.CodeForbidden, "no")
	if _, err := question.NewBroker(c).Request(t.Context(), request()); !errors.Is(err, c.refuse) {
		t.Errorf("a refused request: %v", err)
	}
	c = newChats()
	done := start(t.Context(), question.NewBroker(c), request())
	<-c.opened
	c.ends <- c.ended(bridge.Response{State: bridge.StateCancelled})
	got := <-done
	if ended, ok := errors.AsType[*bridge.EndedError](got.err); !ok || ended.Record.State != bridge.StateCancelled {
		t.Errorf("a cancelled request: %v", got.err)
	}
	if got.r.Answers == nil || got.r.Annotations == nil {
		t.Errorf("its response is %+v", got.r)
	}
}

// documented is Broker as its document declares it.
type documented interface {
	Request(ctx context.Context, req question.Request) (question.Response, error)
	Respond(id string, r question.Response) error
}

// TestDocumentedTypes checks that the types have the names and fields of the
// document.
func TestDocumentedTypes(t *testing.T) {
	t.Parallel()
	var b documented = question.NewBroker()
	type option struct{ Label, Description, Preview string }
	type annotation struct{ Preview, Notes string }
	type response struct {
		Answers     map[string]string
		Annotations map[string]question.Annotation
	}
	type asked struct {
		Question    string
		Header      string
		MultiSelect bool
		Options     []question.Option
	}
	var onRequest question.OnRequest = func(req question.Request) {
		a := asked(req.Questions[0])
		given := response{
			Answers:     map[string]string{a.Question: option(a.Options[0]).Label},
			Annotations: map[string]question.Annotation{a.Question: question.Annotation(annotation{Preview: a.Options[0].Preview})},
		}
		if err := b.Respond(req.ID, question.Response(given)); err != nil {
			t.Error(err)
		}
	}
	question.SetOnRequest(b, onRequest)
	if r, err := b.Request(t.Context(), request()); err != nil || r.Answers["Which framework?"] != "React" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOtherBrokers checks that SetOnRequest has no effect on other
// implementations of Broker.
func TestOtherBrokers(t *testing.T) {
	t.Parallel()
	question.SetOnRequest(struct{ question.Broker }{}, func(question.Request) {})
}

// TestForgets checks that a broker forgets old answered requests.
func TestForgets(t *testing.T) {
	t.Parallel()
	b := question.NewBroker()
	var ids []string
	question.SetOnRequest(b, func(r question.Request) {
		ids = append(ids, r.ID)
		if err := b.Respond(r.ID, question.Response{}); err != nil {
			t.Error(err)
		}
	})
	const more = 1100
	for range more {
		if _, err := b.Request(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Respond(ids[0], question.Response{}); bridge.ErrorCode(err) != bridge.CodeNotFound {
		t.Errorf("the first of %d requests is %v", more, err)
	}
	if err := b.Respond(ids[more-1], question.Response{}); err != nil {
		t.Errorf("the last request is %v", err)
	}
}
