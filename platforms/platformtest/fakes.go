package platformtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms/platformtest/await"
)

// Nowhere returns a client that reaches no service.
func Nowhere() *http.Client { return &http.Client{Transport: nowhere{}} }

type nowhere struct{}

// RoundTrip implements http.RoundTripper.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("nowhere") }

// Answering returns a client that gets the same answer to each request.
func Answering(body string) *http.Client { return &http.Client{Transport: answering(body)} }

type answering string

// RoundTrip implements http.RoundTripper.
func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// Refusing is a sink that opens no form and rejects every click as invalid.
type Refusing struct{}

// Form implements bridge.Sink.
func (Refusing) Form(context.Context, bridge.Click) (bridge.Form, bridge.Verdict, error) {
	return bridge.Form{}, bridge.Verdict{Kind: bridge.VerdictUnknown, Note: "no"}, nil
}

// Click implements bridge.Sink.
func (Refusing) Click(_ context.Context, c bridge.Click) (bridge.Verdict, error) {
	for n := range c.Inputs {
		if n < 0 || n >= bridge.MaxFields {
			return bridge.Verdict{}, errors.New("an input of no question")
		}
	}
	problems := map[int]string{0: "no", bridge.TypedProblem: "no"}
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "no", Problems: problems}, nil
}

// Drawn implements bridge.Sink.
func (Refusing) Drawn(context.Context, bridge.View, error) error { return nil }

// Command implements bridge.Sink.
func (Refusing) Command(context.Context, bridge.Command) (string, error) { return "no", nil }

// Reply implements bridge.Listener.
func (Refusing) Reply(context.Context, bridge.Said) (bridge.Verdict, error) {
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "no"}, nil
}

// Suggest implements bridge.Suggester.
func (Refusing) Suggest(context.Context, bridge.Command, int) ([]bridge.Suggestion, error) {
	return []bridge.Suggestion{{}}, nil
}

// Recorder is a sink that records the calls of the adapter and returns the
// answers that the test sets. It rings after each call. It is safe for
// concurrent use.
type Recorder struct {
	await.Bell
	mu       sync.Mutex
	clicks   []bridge.Click
	commands []bridge.Command
	replies  []bridge.Said
	drawn    []bridge.View
	deleted  []bridge.MessageRef
	ctx      context.Context // context of the newest click
	answer   func(bridge.Click) (bridge.Verdict, error)
	form     bridge.Form
	fails    error
}

// Answers sets the function that answers clicks. If it is nil, the recorder
// accepts each click.
func (r *Recorder) Answers(answer func(bridge.Click) (bridge.Verdict, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// Shows sets the form that Form returns, and the error of Form and Command.
func (r *Recorder) Shows(f bridge.Form, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.form, r.fails = f, err
}

// Reset removes all recorded calls.
func (r *Recorder) Reset() {
	r.Answers(nil)
	r.Shows(bridge.Form{}, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clicks, r.commands, r.replies, r.drawn, r.deleted = nil, nil, nil, nil, nil
}

// Form implements bridge.Sink.
func (r *Recorder) Form(ctx context.Context, c bridge.Click) (bridge.Form, bridge.Verdict, error) {
	r.keep(ctx, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.form, bridge.Verdict{}, r.fails
}

// Click implements bridge.Sink.
func (r *Recorder) Click(ctx context.Context, c bridge.Click) (bridge.Verdict, error) {
	answer := r.keep(ctx, c)
	if answer == nil {
		return bridge.Verdict{Kind: bridge.VerdictNoted, Note: "noted"}, nil
	}
	return answer(c)
}

// Drawn implements bridge.Sink.
func (r *Recorder) Drawn(_ context.Context, v bridge.View, _ error) error {
	defer r.Ring()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drawn = append(r.drawn, v)
	return nil
}

// Updated returns the number of cards that the adapter has updated with the
// view of a verdict.
func (r *Recorder) Updated() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.drawn)
}

// Command implements bridge.Sink.
func (r *Recorder) Command(_ context.Context, c bridge.Command) (string, error) {
	defer r.Ring()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands = append(r.commands, c)
	return "carried out", r.fails
}

// Reply implements bridge.Listener.
func (r *Recorder) Reply(_ context.Context, s bridge.Said) (bridge.Verdict, error) {
	defer r.Ring()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, s)
	return bridge.Verdict{Kind: bridge.VerdictInvalid, Note: "not that"}, r.fails
}

// Replies returns the replies so far.
func (r *Recorder) Replies() []bridge.Said {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.replies)
}

func (r *Recorder) keep(ctx context.Context, c bridge.Click) func(bridge.Click) (bridge.Verdict, error) {
	defer r.Ring()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clicks, r.ctx = append(r.clicks, c), ctx
	return r.answer
}

// Context returns the context of the newest click.
func (r *Recorder) Context() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx
}

// Clicks returns the clicks so far.
func (r *Recorder) Clicks() []bridge.Click {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.clicks)
}

// Deleted implements bridge.Remover.
func (r *Recorder) Deleted(_ context.Context, _ string, message bridge.MessageRef) error {
	defer r.Ring()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deleted = append(r.deleted, message)
	return nil
}

// Gone returns the messages that were deleted so far.
func (r *Recorder) Gone() []bridge.MessageRef {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.deleted)
}

// Commands returns the commands so far.
func (r *Recorder) Commands() []bridge.Command {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.commands)
}

// Memory is a platforms.Notes in memory. The zero value is ready to use.
type Memory struct{ kept sync.Map }

// PutNote implements platforms.Notes.
func (m *Memory) PutNote(_ context.Context, key, value string, _ time.Duration) (string, error) {
	v, _ := m.kept.LoadOrStore(key, value)
	return v.(string), nil
}

// SetNote implements platforms.Notes.
func (m *Memory) SetNote(_ context.Context, key, value string, _ time.Duration) error {
	m.kept.Store(key, value)
	return nil
}

// Note implements platforms.Notes.
func (m *Memory) Note(_ context.Context, key string) (string, error) {
	v, ok := m.kept.Load(key)
	if !ok {
		return "", nil
	}
	return v.(string), nil
}

// DropNote implements platforms.Notes.
func (m *Memory) DropNote(_ context.Context, key string) error {
	m.kept.Delete(key)
	return nil
}
