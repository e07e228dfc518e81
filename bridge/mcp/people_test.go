package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/mcp"
)

// people is an Asker whose people respond when the test calls respond.
type people struct {
	bridge.Asker
	asked chan bridge.Record
	waits chan bridge.ID // requests whose caller waits from now on
	left  chan bridge.ID // requests whose caller no longer waits
	slow  chan struct{}  // if not nil, the answer to an opening comes once it is closed

	mu      sync.Mutex
	records map[bridge.ID]*record
	keys    map[string]bridge.ID
}

type record struct {
	bridge.Record
	done chan struct{}
	why  string // reason of the cancellation
}

func (p *people) Cancel(_ context.Context, id bridge.ID, reason string) (bridge.Record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.records[id].why = reason
	return p.records[id].Record, nil
}

// cancelled returns why a request was cancelled, or "".
func (p *people) cancelled(id bridge.ID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.records[id].why
}

func newPeople() *people {
	return &people{asked: make(chan bridge.Record, 32), waits: make(chan bridge.ID, 1024), left: make(chan bridge.ID, 32), records: map[bridge.ID]*record{}, keys: map[string]bridge.ID{}}
}

func (p *people) Open(ctx context.Context, r bridge.Request, key string) (bridge.Record, error) {
	rec, err := p.open(r, key)
	if p.slow != nil {
		select {
		case <-p.slow:
		case <-ctx.Done():
			return bridge.Record{}, ctx.Err()
		}
	}
	return rec, err
}

func (p *people) open(r bridge.Request, key string) (bridge.Record, error) {
	if err := r.Normalize(); err != nil {
		return bridge.Record{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	content, err := json.Marshal(r.Ask)
	if err != nil {
		return bridge.Record{}, err
	}
	same := r.CallID.Identity("ci", r.Session, string(content))
	key = cmp.Or(key, same.Name)
	if id, ok := p.keys[key]; ok && key != "" && same.Repeat(p.records[id].Record, time.Now()) == bridge.Joins {
		return p.records[id].Record, nil
	}
	id, err := bridge.NewID()
	if err != nil {
		return bridge.Record{}, err
	}
	rec := &record{done: make(chan struct{})}
	rec.State = bridge.StatePending
	i := &rec.Interaction
	i.ID, i.Kind, i.Prompt, i.Session, i.Route, i.Questions, i.Approval = id, r.Kind, r.Prompt, r.Session, r.Route, r.Questions, r.Approval
	i.Deadline = time.Now().Add(time.Duration(r.Timeout))
	p.records[id], p.keys[key] = rec, id
	p.asked <- rec.Record
	return rec.Record, nil
}

func (p *people) Wait(ctx context.Context, id bridge.ID) (bridge.Record, error) {
	p.mu.Lock()
	rec, ok := p.records[id]
	p.mu.Unlock()
	if !ok {
		return bridge.Record{}, bridge.NotFound(id)
	}
	select {
	case p.waits <- id:
	default: // no test reads that many
	}
	select {
	case <-rec.done: // however late a busy machine comes here
	default:
		select {
		case <-rec.done:
		case <-ctx.Done():
			p.left <- id
			return bridge.Record{}, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	rec.Delivered = time.Now()
	return rec.Record, nil
}

// respond resolves a request.
func (p *people) respond(id bridge.ID, r bridge.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec := p.records[id]
	rec.State, rec.Response = r.State, &r
	close(rec.done)
}

func by(who string, state bridge.State) bridge.Response {
	return bridge.Response{State: state, Actor: &bridge.Actor{Person: who}}
}

// connect connects an SDK client to the tools. If version is empty, it uses the
// newest version of the protocol.
func connect(t *testing.T, o mcp.Options, version string, c *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	near, far := sdk.NewInMemoryTransports()
	served := make(chan error, 1)
	go func() { served <- mcp.Serve(context.WithoutCancel(t.Context()), far, o) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, c).Connect(t.Context(), near, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(client.Close(), <-served); err != nil {
			t.Log(err)
		}
	})
	return client
}

// answer is the result of a tool call, or its error.
type answer struct {
	Status, ID, Reason, By, Hint string
	Answer                       any
	Input                        json.RawMessage
	failure                      string
}

func call(ctx context.Context, t *testing.T, s *sdk.ClientSession, p *sdk.CallToolParams) answer {
	t.Helper()
	res, err := s.CallTool(ctx, p)
	if err != nil {
		return answer{failure: err.Error()}
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		return answer{failure: text}
	}
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return a
}

// begin calls a tool, and returns a channel that receives the result.
func begin(ctx context.Context, t *testing.T, s *sdk.ClientSession, tool, args string) <-chan answer {
	t.Helper()
	done := make(chan answer, 1)
	go func() { done <- call(ctx, t, s, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)}) }()
	return done
}
