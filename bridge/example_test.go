package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
	"github.com/nodbridge/nod/bridge/rooms"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/broker/memory"
)

// office sets up nod in this process, with a store in memory and a person who
// answers each request with the next reply.
func office(ctx context.Context, replies ...bridge.Reply) (bridge.Asker, func()) {
	desk, closeOffice := newOffice(ctx, replies...)
	return desk.engine.As(bridge.Agent{Name: "example"}), closeOffice
}

func newOffice(ctx context.Context, replies ...bridge.Reply) (*desk, func()) {
	db := memory.New(broker.NewSeals())
	store, err := core.New(ctx, db, core.Options{})
	if err != nil {
		panic(err)
	}
	key, err := bridge.NewKeyring([]byte(strings.Repeat("k", bridge.MinKey)))
	if err != nil {
		panic(err)
	}
	desk := &desk{replies: replies}
	desk.engine = rooms.New(rooms.Options{Options: engine.Options{
		Store: store, DB: db, Keys: key, Platforms: []bridge.Platform{desk},
		Routes: map[string]bridge.Route{"default": {
			Destinations: []bridge.Destination{{Platform: "desk", Channel: "ana"}},
			Responders:   []bridge.Responder{{Person: "ana", Platform: "desk", User: "ana"}},
		}},
	}})
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- desk.engine.Run(ctx) }()
	return desk, func() {
		stop()
		if err := <-done; err != nil {
			panic(err)
		}
		store.Close()
	}
}

// desk is a minimal platform.
type desk struct {
	engine  *rooms.House
	mu      sync.Mutex
	replies []bridge.Reply
}

func (d *desk) Name() string                                 { return "desk" }
func (d *desk) Check(bridge.Interaction) error               { return nil }
func (d *desk) Run(ctx context.Context, _ bridge.Sink) error { <-ctx.Done(); return nil }

func (d *desk) Post(ctx context.Context, _ bridge.Destination, v bridge.View, _ *bridge.Parts) (bridge.MessageRef, error) {
	d.show(ctx, v)
	return bridge.MessageRef{Channel: "ana", Message: "1"}, nil
}

func (d *desk) Update(ctx context.Context, _ bridge.MessageRef, v bridge.View, _ *bridge.Parts) error {
	d.show(ctx, v)
	return nil
}

// show answers a pending request.
func (d *desk) show(ctx context.Context, v bridge.View) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := v.Record.Interaction
	if v.Record.State.Final() || len(d.replies) == 0 || i.Round > 1 && i.Error == "" {
		return
	}
	reply := d.replies[0]
	ana := bridge.Actor{Platform: "desk", User: "ana", Person: "ana"}
	if _, err := d.engine.Answer(ctx, i.ID, ana, reply); err == nil {
		d.replies = d.replies[1:]
	}
}

// A tool asks for an email address until it gets a valid one.
func ExampleRequestInteraction() {
	ctx := context.Background()
	text := func(s string) bridge.Reply {
		return bridge.Reply{Answers: map[string]bridge.Answer{"email": bridge.TextAnswer(s)}}
	}
	asker, closeOffice := office(ctx, text("nowhere"), text("ana@example.com"))
	defer closeOffice()

	result, err := bridge.RequestInteraction(ctx, asker, bridge.Request{Ask: bridge.Ask{
		Prompt: "Enter your email", Questions: []bridge.Question{{ID: "email", Widget: bridge.WidgetText}},
	}}, bridge.Handlers{
		OnResponse: func(_ context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
			email := r.Input["email"].Text
			if !strings.Contains(email, "@") {
				return bridge.Reprompt{Request: bridge.Request{Ask: bridge.Ask{Error: email + " is not an email address"}}}, nil
			}
			return bridge.Complete{Result: email}, nil
		},
	})
	fmt.Println(result, err)
	// Output: ana@example.com <nil>
}

// A tool defers its question if no one answers in time.
func ExampleRequestInteraction_pending() {
	ctx := context.Background()
	asker, closeOffice := office(ctx)
	defer closeOffice()

	result, err := bridge.RequestInteraction(ctx, asker, bridge.Request{Ask: bridge.Ask{
		Prompt: "May I delete 3 files?", Session: "s", Timeout: bridge.Duration(bridge.MinTimeout), Approval: &bridge.Approval{Tool: "delete_files"},
	}}, bridge.Handlers{
		OnResponse: func(_ context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
			return bridge.Complete{Result: r.Action}, nil
		},
		OnTimeout: func(context.Context) (bridge.Outcome, error) {
			return bridge.Pending{Message: "the team was notified"}, nil
		},
	})
	p, ok := result.(bridge.PendingResult)
	fmt.Println(ok, p.Queued, p.Message, err)
	// Output: true true the team was notified <nil>
}

// A tool remembers approvals under its own keys.
func ExampleToolApprovals() {
	ctx := context.Background()
	asker, closeOffice := office(ctx, bridge.Reply{Decision: bridge.DecideSession})
	defer closeOffice()

	approvals, session, key := asker.Approvals(), "session-1", "delete_files:a.txt,b.txt"
	remove := func() (any, error) {
		if scope, err := approvals.Get(ctx, key, session); err != nil || scope != "" {
			return "deleted, as approved before: " + string(scope), err
		}
		return bridge.RequestInteraction(ctx, asker, bridge.Request{Ask: bridge.Ask{
			Prompt: "Delete 2 files?", Session: session, Approval: &bridge.Approval{Tool: "delete_files"},
		}}, bridge.Handlers{
			OnResponse: func(ctx context.Context, r bridge.UserResponse) (bridge.Outcome, error) {
				if r.Action != "approve" {
					return bridge.Complete{Result: "denied"}, nil
				}
				if r.Scope != bridge.ScopeOnce {
					if err := approvals.Set(ctx, key, r.Scope, session); err != nil {
						return nil, err
					}
				}
				return bridge.Complete{Result: "deleted"}, nil
			},
		})
	}
	fmt.Println(remove())
	fmt.Println(remove())
	if err := approvals.ClearSession(ctx, session); err != nil {
		fmt.Println(err)
	}
	scope, err := approvals.Get(ctx, key, session)
	fmt.Printf("%q %v\n", scope, err)
	// Output:
	// deleted <nil>
	// deleted, as approved before: session <nil>
	// "" <nil>
}
