package bridge_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// tool is a tool that asks about one file, and a person who answers when the test
// says so.
type tool struct {
	*testing.T
	*desk
	bridge.Asker
	id chan bridge.ID // of each round
}

func newTool(t *testing.T) *tool {
	t.Helper()
	d, closeOffice := newOffice(context.Background())
	t.Cleanup(closeOffice)
	return &tool{t, d, d.engine.As(bridge.Agent{Name: "example"}), make(chan bridge.ID, 10)}
}

// Wait implements bridge.Asker, and says for which round the tool waits.
func (x *tool) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	x.id <- id
	return x.Asker.Wait(ctx, id)
}

func (x *tool) request() bridge.Request {
	return bridge.Request{Ask: bridge.Ask{
		Prompt: "Which file?", Session: "s", Timeout: bridge.Duration(bridge.MinTimeout), Questions: []bridge.Question{{ID: "file", Widget: bridge.WidgetText}},
	}}
}

// answers answers a round as a person.
func (x *tool) answers(id bridge.ID, text string) {
	x.Helper()
	ana := bridge.Actor{Platform: "desk", User: "ana", Person: "ana"}
	if _, err := x.engine.Answer(context.Background(), id, ana, bridge.Reply{Answers: map[string]bridge.Answer{"file": bridge.TextAnswer(text)}}); err != nil {
		x.Error(err)
	}
}

// record returns the record of a round.
func (x *tool) record(id bridge.ID) bridge.Record {
	x.Helper()
	rec, err := x.engine.Get(context.Background(), id)
	if err != nil {
		x.Fatal(err)
	}
	return rec
}

// late returns the number of late answers of the session.
func (x *tool) late() int {
	x.Helper()
	all, err := x.engine.Sessions.Messages(context.Background(), "example", "s")
	if err != nil {
		x.Fatal(err)
	}
	return len(all)
}

// done is a handler that completes with the answer.
func done(_ context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
	return bridge.Complete{Result: r.Input["file"].Text, Shown: "deleted"}, nil
}

// TestNoOneInTime checks what a tool does after a timeout: the question stays the
// same one, which no one has closed, until the tool has decided.
func TestNoOneInTime(t *testing.T) {
	t.Parallel()
	pending := bridge.Pending{Message: "an email was sent", Hold: bridge.Duration(time.Hour)}
	for name, c := range map[string]struct {
		outcome  bridge.Outcome
		err      error
		answered bool // while the tool decides
		state    bridge.State
		late     int
	}{
		"it stays open":                    {outcome: pending, state: bridge.StatePending},
		"it stays open by default":         {outcome: bridge.Pending{}, state: bridge.StatePending},
		"it is answered before it is kept": {outcome: pending, answered: true, state: bridge.StateAnswered, late: 1},
		"the tool completes":               {outcome: bridge.Complete{Result: map[string]bool{"pending": true}, Shown: "gave up"}, state: bridge.StateExpired},
		"it is answered before the end":    {outcome: bridge.Complete{Result: "none"}, answered: true, state: bridge.StateAnswered, late: 1},
		"the tool fails":                   {err: errors.New("no mail server"), state: bridge.StateExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTool(t)
			var first bridge.ID
			result, err := bridge.RequestInteraction(t.Context(), x, x.request(), bridge.Handlers{
				OnResponse: done,
				OnTimeout: func(context.Context) (bridge.Outcome, error) {
					if first = <-x.id; x.record(first).State != bridge.StatePending {
						t.Error("it was closed before the tool decided")
					}
					if c.answered {
						x.answers(first, "a.txt")
					}
					return c.outcome, c.err
				},
				OnCancel: func() { t.Error("it counts as cancelled") },
			})
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			rec := x.record(first)
			if rec.State != c.state || rec.Next != "" || rec.Interaction.Round != 1 || x.late() != c.late {
				t.Errorf("%s, follow-up %q, %d late answers: %+v", rec.State, rec.Next, x.late(), rec.Interaction)
			}
			switch o := c.outcome.(type) {
			case bridge.Pending:
				p, ok := result.(bridge.PendingResult)
				if !ok || p.Interaction != first || !p.Queued || p.Message != o.Message {
					t.Errorf("the agent gets %+v", result)
				}
			case bridge.Complete:
				if _, ok := result.(bridge.PendingResult); ok || rec.Completion == nil || rec.Completion.Result != o.Shown {
					t.Errorf("the agent gets %+v, the card shows %+v", result, rec.Completion)
				}
			default:
				if rec.Completion == nil || rec.Completion.Error != c.err.Error() {
					t.Errorf("the card shows %+v", rec.Completion)
				}
			}
			if rec.State == bridge.StatePending {
				x.answers(first, "b.txt")
				if rec = x.record(first); rec.State != bridge.StateAnswered || x.late() != 1 {
					t.Errorf("a late answer: %s, %d messages", rec.State, x.late())
				}
			}
		})
	}
}

// TestAsksAgainInTime checks a tool that asks again after a timeout.
func TestAsksAgainInTime(t *testing.T) {
	t.Parallel()
	x := newTool(t)
	rounds := 0
	result, err := bridge.RequestInteraction(t.Context(), x, x.request(), bridge.Handlers{OnResponse: done, OnTimeout: func(context.Context) (bridge.Outcome, error) {
		<-x.id
		if rounds++; rounds > 1 {
			t.Error("the second round has no time")
		}
		go func() { x.answers(<-x.id, "c.txt") }()
		return bridge.Reprompt{Request: bridge.Request{Ask: bridge.Ask{Error: "still open", Timeout: bridge.Duration(bridge.DefaultTimeout)}}}, nil
	}})
	if result != "c.txt" || err != nil {
		t.Errorf("%v, %v", result, err)
	}
}

// TestContextEnds checks that the card closes and OnCancel is called whenever the
// context of a tool ends, that the answer of a person counts if it came first, and
// that what a handler has done is reported.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		when      string
		state     bridge.State // "" means that nothing was opened
		result    any
		cancelled bool
	}{
		"before":            {"before", "", nil, true},
		"while it opens":    {"opening", bridge.StateCancelled, nil, true},
		"while it waits":    {"waiting", bridge.StateCancelled, nil, true},
		"with the answer":   {"answered", bridge.StateAnswered, nil, true},
		"in its handler":    {"handler", bridge.StateAnswered, "a.txt", false},
		"before it repeats": {"reprompt", bridge.StateAnswered, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTool(t)
			ctx, cancel := context.WithCancel(t.Context())
			asker := &leaving{tool: x, cancel: cancel, when: c.when}
			if c.when == "before" {
				cancel()
			}
			called := false
			r := x.request()
			r.Timeout = 0
			result, err := bridge.RequestInteraction(ctx, asker, r, bridge.Handlers{
				OnResponse: func(ctx context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
					cancel()
					if c.when == "reprompt" {
						return bridge.Reprompt{Request: bridge.Request{Ask: bridge.Ask{Error: "again"}}}, nil
					}
					return done(ctx, r)
				},
				OnCancel: func() { called = true },
			})
			if result != c.result || called != c.cancelled || c.cancelled != errors.Is(err, context.Canceled) {
				t.Errorf("the tool gets %v, %v; cancelled: %t", result, err, called)
			}
			if asker.first == "" {
				if c.state != "" {
					t.Error("nothing was opened")
				}
				return
			}
			rec := x.record(asker.first)
			if rec.State != c.state || rec.Next != "" {
				t.Errorf("the card is %s, follow-up %q, want %s", rec.State, rec.Next, c.state)
			}
			if c.result != nil && (rec.Completion == nil || rec.Completion.Result != "deleted") {
				t.Errorf("the card shows %+v", rec.Completion)
			}
		})
	}
}

// leaving is an asker whose caller leaves at a certain moment.
type leaving struct {
	*tool
	cancel context.CancelFunc
	when   string
	first  bridge.ID
}

func (l *leaving) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	if l.when == "opening" {
		l.cancel() // the call is on its way
	}
	rec, err := l.Asker.Open(ctx, r, key)
	l.first = rec.Interaction.ID
	return rec, err
}

func (l *leaving) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	switch l.when {
	case "waiting":
		l.cancel()
	case "answered":
		l.answers(id, "a.txt")
		l.cancel()
		return bridge.Record{}, ctx.Err()
	default:
		l.answers(id, "a.txt")
	}
	return l.Asker.Wait(ctx, id)
}

// TestSharedQuestion checks that a question which several tools share stays open
// until the last of them has left, in whatever order they leave.
func TestSharedQuestion(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string][]int{"the first": {0}, "the second": {1}, "both": {0, 1}, "both, the second first": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTool(t)
			r := x.request()
			r.Timeout, r.Join = 0, true
			type ended struct {
				result any
				err    error
			}
			var cancel [2]context.CancelFunc
			var ends [2]chan ended
			var id bridge.ID
			for n := range ends {
				var ctx context.Context
				ctx, cancel[n] = context.WithCancel(t.Context())
				ends[n] = make(chan ended, 1)
				go func() {
					result, err := bridge.RequestInteraction(ctx, x, r, bridge.Handlers{OnResponse: done})
					ends[n] <- ended{result, err}
				}()
				if got := await.Receive(t, "a tool that waits", x.id); n > 0 && got != id {
					t.Fatalf("%s does not join %s", got, id)
				} else {
					id = got
				}
			}
			for _, n := range leave {
				cancel[n]()
				if e := <-ends[n]; !errors.Is(e.err, context.Canceled) {
					t.Errorf("tool %d gets %+v", n, e)
				}
			}
			if len(leave) == 2 {
				if rec := x.record(id); rec.State != bridge.StateCancelled {
					t.Errorf("no one waits, and the card is %s", rec.State)
				}
				return
			}
			x.answers(id, "a.txt")
			if e := <-ends[1-leave[0]]; e.result != "a.txt" || e.err != nil {
				t.Errorf("the other tool gets %+v", e)
			}
		})
	}
}
