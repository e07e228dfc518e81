// Package question connects an AskUserQuestion tool, whose goroutine is
// blocked, with its answer. The answer comes from people in the team's chats,
// from a callback in this process, or from both, in which case the first answer
// counts. One Broker serves all agents of a process.
//
// This package is for Go programs that embed nod's client. The wire format of
// the tool belongs to bridge/dialect/askuserquestion.
package question

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
)

// Separator joins the labels of several choices in an answer.
const Separator = askuserquestion.Separator

// Option is one of the choices of a question.
type Option struct {
	Label       string
	Description string
	Preview     string // optional; used only if a single option can be chosen
}

// Question is one question of a Request.
type Question struct {
	Question    string
	Header      string // short title, at most 12 characters
	MultiSelect bool
	Options     []Option
}

// Request is a set of questions. Broker.Request assigns the ID, which is empty
// on input.
type Request struct {
	ID        string
	Questions []Question
	// Session groups requests in chat. It may be empty.
	Session string
}

// Annotation is additional information about an answer.
type Annotation struct {
	Preview string // preview of the chosen option
	Notes   string // free text
}

// Response is the answer to a Request. Answers maps the text of each question
// to the chosen label, to several labels joined by Separator, or to free text.
// Annotations is never nil and contains only questions that have annotations.
type Response struct {
	Answers     map[string]string
	Annotations map[string]Annotation
}

// OnRequest is a callback for new requests.
type OnRequest func(req Request)

// Broker takes questions to people and the callback, and returns their answers.
// It is safe for concurrent use.
type Broker interface {
	// Request blocks until there is an answer or ctx ends. If ctx ends, it
	// returns a response without answers and the error of ctx.
	Request(ctx context.Context, req Request) (Response, error)
	// Respond answers a request. A second response to the same request is
	// ignored without an error. Respond returns CodeNotFound for an unknown ID.
	Respond(id string, r Response) error
}

// NewBroker returns a broker. With an asker, requests are shown in the team's
// chats. Without one, only the callback of [SetOnRequest] receives them.
func NewBroker(asker ...bridge.Asker) Broker {
	b := &broker{waiting: map[string]chan Response{}}
	if len(asker) > 0 {
		b.asker = asker[0]
	}
	return b
}

// SetOnRequest sets the callback of a broker from NewBroker and replaces the
// previous one. It has no effect on other brokers.
func SetOnRequest(b Broker, f OnRequest) {
	own, ok := b.(*broker)
	if !ok {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.onRequest = f
}

// stopTimeout limits the call that cancels a request after its caller has
// stopped waiting.
const stopTimeout = 5 * time.Second

// remembered is the number of answered requests that the broker can still
// distinguish from unknown ones.
const remembered = 1024

type broker struct {
	asker bridge.Asker

	mu        sync.Mutex
	onRequest OnRequest
	waiting   map[string]chan Response
	answered  []string
}

// Request implements Broker.
func (b *broker) Request(ctx context.Context, req Request) (Response, error) {
	none := Response{Answers: map[string]string{}, Annotations: map[string]Annotation{}}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if b.asker == nil {
		req.ID = uuid.NewString()
		ch := b.enter(req)
		defer b.leave(req.ID)
		select {
		case r := <-ch:
			return r, nil
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	r, err := toBridge(req)
	if err != nil {
		return none, err
	}
	rec, err := b.asker.Open(ctx, r, "")
	if err != nil {
		return none, err
	}
	req.ID = string(rec.Interaction.ID)
	ch := b.enter(req)
	defer b.leave(req.ID)
	return b.first(ctx, rec.Interaction.ID, ch, none)
}

// first waits for an answer from chat or from this process.
func (b *broker) first(ctx context.Context, id bridge.ID, ch <-chan Response, none Response) (Response, error) {
	type ended struct {
		rec bridge.Record
		err error
	}
	waitCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan ended, 1)
	go func() {
		rec, err := b.asker.Wait(waitCtx, id)
		done <- ended{rec, err}
	}()
	select {
	case <-ctx.Done():
		// The request is unknown outside this process, so it ends with its
		// caller.
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_, err := b.asker.Cancel(stop, id, "the agent stopped waiting")
		return none, errors.Join(ctx.Err(), err)
	case e := <-done:
		return fromBridge(e.rec, e.err, none)
	case r := <-ch:
		// This closes the cards. If chat answered first, that answer counts.
		rec, err := b.asker.Cancel(ctx, id, "answered in the agent's process")
		if err == nil && rec.State == bridge.StateAnswered {
			return fromBridge(rec, nil, none)
		}
		return r, nil
	}
}

func (b *broker) enter(req Request) <-chan Response {
	ch := make(chan Response, 1)
	b.mu.Lock()
	b.waiting[req.ID] = ch
	f := b.onRequest
	b.mu.Unlock()
	if f != nil {
		f(req)
	}
	return ch
}

func (b *broker) leave(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, id)
	b.answered = append(b.answered, id)
	if len(b.answered) > remembered {
		b.answered = b.answered[1:]
	}
}

// Respond implements Broker.
func (b *broker) Respond(id string, r Response) error {
	if r.Annotations == nil {
		r.Annotations = map[string]Annotation{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ch, ok := b.waiting[id]
	if !ok {
		for _, known := range b.answered {
			if known == id {
				return nil
			}
		}
		return bridge.Errorf(bridge.CodeNotFound, "unknown request %q", id)
	}
	select {
	case ch <- r:
	default: // it already has a response
	}
	return nil
}

func toBridge(req Request) (bridge.Request, error) {
	var questions []askuserquestion.Question
	for _, q := range req.Questions {
		out := askuserquestion.Question{Question: q.Question, Header: q.Header, MultiSelect: q.MultiSelect}
		for _, o := range q.Options {
			out.Options = append(out.Options, askuserquestion.Option(o))
		}
		questions = append(questions, out)
	}
	r, err := askuserquestion.Ask(questions)
	r.Session = req.Session
	return r, err
}

func fromBridge(rec bridge.Record, err error, none Response) (Response, error) {
	if err != nil {
		return none, err
	}
	answers, err := askuserquestion.Answers(rec)
	if err != nil {
		return none, err
	}
	out := Response{Answers: answers, Annotations: none.Annotations}
	for _, q := range rec.Interaction.Questions {
		if a := rec.Response.Annotations[q.ID]; a.Preview != "" || a.Note != "" {
			out.Annotations[askuserquestion.TextOf(rec.Interaction, q)] = Annotation{Preview: a.Preview, Notes: a.Note}
		}
	}
	return out, nil
}
