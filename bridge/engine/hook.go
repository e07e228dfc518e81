package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	hooksAtOnce  = 2           // to one receiver: one that hangs holds up no other
	hookBusy     = time.Second // until a place is looked for again
	firstHookTry = 5 * time.Second
	maxHookTry   = time.Hour
	hookLife     = 24 * time.Hour // then a dead letter
)

// outcomeEvent is the body of a webhook.
type outcomeEvent struct {
	Type      string        `json:"type"` // interaction. and the state
	Timestamp time.Time     `json:"timestamp"`
	Data      bridge.Record `json:"data"`
}

// webhooksFor are the names of those that want to know about an agent.
func (e *Engine) webhooksFor(agent string) []string {
	var out []string
	for _, w := range e.webhooks {
		if w.Wants(agent) {
			out = append(out, w.Name())
		}
	}
	return out
}

// tell works on a webhook's job.
func (e *Engine) tell(ctx context.Context, j bridge.Job) error {
	err := e.deliver(ctx, j)
	switch {
	case errors.Is(err, errBusy):
		return e.store.Retry(ctx, j, hookBusy, "")
	case err == nil:
		return e.store.Finish(ctx, j)
	case bridge.ErrorCode(err) != bridge.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded), time.Since(j.Created) > hookLife:
		e.log.Error("webhook given up", "id", j.Interaction, "attempt", j.Attempt, "error", err)
		return e.store.Bury(ctx, j, err.Error())
	}
	delay := min(firstHookTry<<min(j.Attempt-1, 10), maxHookTry)
	if pe, ok := errors.AsType[*bridge.Error](err); ok {
		delay = max(delay, pe.RetryAfter)
	}
	return e.store.Retry(ctx, j, delay, err.Error())
}

// errBusy means that a receiver has enough to do.
var errBusy = errors.New("busy")

func (e *Engine) deliver(ctx context.Context, j bridge.Job) error {
	r, err := e.Get(ctx, j.Interaction)
	if err != nil {
		return err
	}
	names := r.Interaction.Webhooks
	if j.Destination >= len(names) || r.Response == nil {
		return bridge.Errorf(bridge.CodeInternal, "job for webhook %d of %d", j.Destination, len(names))
	}
	for _, w := range e.webhooks {
		if w.Name() != names[j.Destination] {
			continue
		}
		slots := e.hookSlots[w.Name()]
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			return errBusy
		}
		body, err := json.Marshal(outcomeEvent{"interaction." + string(r.State), r.Response.At, r})
		if err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "webhook")
		}
		began := time.Now()
		err = w.Send(ctx, "msg_"+string(r.Interaction.ID), body)
		e.watcher.did(j, w.Name(), r, began, err)
		return err
	}
	return bridge.Errorf(bridge.CodeNotFound, "webhook %s is not configured any more", names[j.Destination])
}
