// Package question connects an AskUserQuestion tool, whose goroutine is
// blocked, with its answer. The answer comes from people in the team's chats,
// from a callback in this process, or from both, in which case the first answer
// counts. One Broker serves all agents of a process.
//
// This package is for Go programs that embed nod's client. The wire format of
// the tool belongs to bridge/dialect/askuserquestion. No other package of nod
// imports it. Start with [NewBroker].
package question

import (
	"context"
	"errors"
	"sync"

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
	//
	// It calls the callback first, and then asks in the chats. The answer from
	// chat and [Broker.Respond] count equally: the first one wins. The callback
	// works alone while the daemon is unreachable or no chat accepts answers.
	// Without a callback, Request also returns an error if the chats refuse the
	// request or it is closed there without an answer.
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
// previous one. Request calls it in its own goroutine, so it must not block. It
// has no effect on other brokers.
func SetOnRequest(b Broker, f OnRequest) {
	own, ok := b.(*broker)
	if !ok {
		return
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.onRequest = f
}

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
	var r bridge.Request
	if b.asker != nil {
		var err error
		if r, err = toBridge(req); err != nil {
			return none, err
		}
	}
	req.ID = uuid.NewString()
	mine, shown := b.enter(req)
	defer b.leave(req.ID)
	if b.asker == nil {
		select {
		case r := <-mine:
			return r, nil
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	return first(ctx, ask(ctx, b.asker, r, req.ID), mine, shown, none)
}

// first returns the first answer, from the chats or from this process. If the
// callback shows the request, an error from the chats does not end the wait.
func first(ctx context.Context, c *chat, mine <-chan Response, shown bool, none Response) (Response, error) {
	var refused error
	for {
		select {
		case <-ctx.Done():
			// The request is unknown outside this process, so it ends with its
			// caller.
			_, err := c.end("the agent stopped waiting")
			return none, errors.Join(ctx.Err(), refused, err)
		case e := <-c.ended:
			r, err := fromBridge(e.rec, e.err, none)
			if err == nil || !shown {
				return r, err
			}
			refused = err
		case r := <-mine:
			if refused != nil {
				return r, nil
			}
			// This closes the cards. If chat answered first, that answer counts.
			rec, err := c.end(bridge.ReasonInProcess)
			if err == nil && rec.State == bridge.StateAnswered {
				return fromBridge(rec, nil, none)
			}
			return r, nil
		}
	}
}

// enter makes a request known to Respond and calls the callback. It reports
// whether the broker has a callback.
func (b *broker) enter(req Request) (<-chan Response, bool) {
	ch := make(chan Response, 1)
	b.mu.Lock()
	b.waiting[req.ID] = ch
	f := b.onRequest
	b.mu.Unlock()
	if f != nil {
		f(req)
	}
	return ch, f != nil
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
	default: // the request already has a response
	}
	return nil
}
