package question

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect/askuserquestion"
)

const (
	// askFor is the time that one card waits if the context has no deadline. After
	// that, people are asked again.
	askFor = 24 * time.Hour
	// retryPause is the pause before the next try while the daemon is
	// unreachable. The client has retried before.
	retryPause = 3 * time.Second
	// endTimeout limits a call that closes a request. endFor is the time for
	// which the call is repeated while the daemon is unreachable.
	endTimeout = 5 * time.Second
	endFor     = 2 * time.Minute
)

// chat is a request in the team's chats.
type chat struct {
	asker bridge.Asker
	ended chan ended // receives the outcome once
	stop  context.CancelFunc

	mu     sync.Mutex
	id     bridge.ID // empty while the request is being opened
	reason string    // why the request is no longer needed
}

// ended is the outcome of a request in the chats.
type ended struct {
	rec bridge.Record
	err error
}

// ask asks in the chats until there is an outcome, ctx ends or end is called.
func ask(ctx context.Context, asker bridge.Asker, r bridge.Request, key string) *chat {
	ctx, stop := context.WithCancel(ctx)
	c := &chat{asker: asker, ended: make(chan ended, 1), stop: stop}
	r.Timeout = timeout(ctx)
	go func() {
		defer stop()
		rec, err := c.run(ctx, r, key)
		c.ended <- ended{rec, err}
	}()
	return c
}

// timeout returns how long a card waits.
func timeout(ctx context.Context) bridge.Duration {
	d := askFor
	if t, ok := ctx.Deadline(); ok {
		d = time.Until(t).Round(time.Second)
	}
	return bridge.Duration(min(max(d, bridge.MinTimeout), bridge.MaxTimeout))
}

// run asks again after a card has expired, and retries while the daemon is
// unreachable.
func (c *chat) run(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	for n := 1; ; {
		rec, err := c.open(ctx, r, key+"/"+strconv.Itoa(n))
		if err == nil && ctx.Err() == nil {
			rec, err = c.asker.Wait(ctx, rec.Interaction.ID)
		}
		switch {
		case ctx.Err() != nil:
			return rec, ctx.Err()
		case err == nil && rec.State == bridge.StateExpired:
			n++
		case bridge.ErrorCode(err) != bridge.CodeUnavailable || !bridge.Pause(ctx, retryPause):
			return rec, err
		}
	}
}

// open opens the request. If ctx ends in the meantime, it closes the request
// again: the call continues for a short time, because the daemon may have
// stored the request.
func (c *chat) open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	c.mu.Lock()
	c.id = ""
	c.mu.Unlock()
	opening, stop := bridge.Linger(ctx, endTimeout)
	defer stop()
	rec, err := c.asker.Open(opening, r, key)
	if err != nil {
		return rec, err
	}
	c.mu.Lock()
	c.id = rec.Interaction.ID
	reason := c.reason
	c.mu.Unlock()
	if reason != "" {
		return c.cancel(rec.Interaction.ID, reason)
	}
	return rec, nil
}

// end closes the request, and returns its record if it was open. Its state is
// answered if a person was first.
func (c *chat) end(reason string) (bridge.Record, error) {
	c.mu.Lock()
	id := c.id
	c.reason = reason
	c.mu.Unlock()
	c.stop()
	if id == "" {
		return bridge.Record{}, nil
	}
	return c.cancel(id, reason)
}

// cancel cancels the request, and keeps trying in the background while the
// daemon is unreachable.
func (c *chat) cancel(id bridge.ID, reason string) (bridge.Record, error) {
	try := func() (bridge.Record, error) {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		return c.asker.Cancel(ctx, id, reason)
	}
	rec, err := try()
	if bridge.ErrorCode(err) == bridge.CodeUnavailable {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), endFor)
			defer cancel()
			for bridge.ErrorCode(err) == bridge.CodeUnavailable && bridge.Pause(ctx, retryPause) {
				_, err = try()
			}
		}()
	}
	return rec, err
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
