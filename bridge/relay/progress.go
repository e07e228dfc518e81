package relay

import (
	"context"
	"encoding/json"
	"time"
)

// progressEvery is the time between two notifications of progress. Some clients
// abandon a silent call after a minute.
const progressEvery = 10 * time.Second

// progressStep is the progress that a notification adds. It is small, because
// the progress must grow, and the server's own progress starts above it.
const progressStep = 1e-6

// progressToken returns the token with which a client follows the progress of a
// call, or nil.
func progressToken(params json.RawMessage) json.RawMessage {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if limits.Decode(params, &p) != nil {
		return nil
	}
	return cleanID(p.Meta.Token)
}

// running returns the tokens of the calls that the server has not answered.
func (w *Wrap) running() []json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []json.RawMessage
	for _, r := range w.sent {
		if !r.over {
			all = append(all, progressToken(r.message.Params))
		}
	}
	return all
}

// reassure notifies the client, immediately and then regularly, that the calls
// with these tokens wait for people. The returned function stops this. No
// notification follows it.
func (w *Wrap) reassure(ctx context.Context, tokens []json.RawMessage) (end func()) {
	var known []json.RawMessage
	for _, t := range tokens {
		if t != nil {
			known = append(known, t)
		}
	}
	if len(known) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			w.progress(known)
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (w *Wrap) progress(tokens []json.RawMessage) {
	w.mu.Lock()
	w.told++
	at := float64(w.told) * progressStep
	w.mu.Unlock()
	for _, t := range tokens {
		params, err := encode(struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress float64         `json:"progress"`
			Message  string          `json:"message"`
		}{t, at, "waiting for a person to answer in chat"})
		if err == nil {
			w.tell(Message{Version: "2.0", Method: "notifications/progress", Params: params})
		}
	}
}
