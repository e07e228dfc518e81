// Package webhook is the room that reports outcomes: to webhooks, in the format
// of Standard Webhooks (standardwebhooks.com), and to requesters, in a direct
// message. The receivers are recorded when a request is opened, and the jobs are
// created when it ends. Start with [Room.Work].
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/core"
	"github.com/nodbridge/nod/bridge/engine"
)

const (
	hooksAtOnce  = 2           // deliveries to one receiver, so that a slow receiver does not block others
	hookBusy     = time.Second // shortest delay until the next attempt to get a slot
	firstHookTry = 5 * time.Second
	maxHookTry   = time.Hour
	hookLife     = 24 * time.Hour // the job then becomes a dead letter
)

// outcomeEvent is the body of a webhook.
type outcomeEvent struct {
	Type      string        `json:"type"` // "interaction." followed by the state
	Timestamp time.Time     `json:"timestamp"`
	Data      bridge.Record `json:"data"`
}

// Room delivers outcomes. It is safe for concurrent use.
type Room struct {
	engine    *engine.Engine
	hooks     []bridge.Webhook
	slots     map[string]chan struct{}
	directory bridge.Directory
	platforms map[string]bridge.Platform
	watcher   engine.Watcher
	log       *slog.Logger
}

// New returns the room of an engine with the configured webhooks.
func New(e *engine.Engine, o engine.Options, hooks []bridge.Webhook) *Room {
	h := &Room{
		engine: e, hooks: hooks, slots: map[string]chan struct{}{}, directory: o.Directory, platforms: engine.ByName(o.Platforms),
		watcher: engine.Watcher{Observer: o.Observer}, log: o.Log,
	}
	for _, w := range hooks {
		h.slots[w.Name()] = make(chan struct{}, hooksAtOnce)
	}
	return h
}

// Open records the webhooks that receive the outcome of a request.
func (h *Room) Open(_ context.Context, d *engine.Draft) error {
	for _, w := range h.hooks {
		if w.Wants(d.Interaction.Agent) {
			d.Interaction.Webhooks = append(d.Interaction.Webhooks, w.Name())
		}
	}
	return nil
}

// Work delivers an outcome.
func (h *Room) Work(ctx context.Context, j core.Job) error {
	err := h.deliver(ctx, j)
	age := time.Since(j.Began)
	switch {
	case err == nil:
		return nil
	case bridge.ErrorCode(err) != bridge.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded), age > hookLife:
		return engine.Hopeless{Err: err}
	case errors.Is(err, errBusy): // many jobs may wait for a receiver that hangs
		return engine.Later{In: min(max(hookBusy, (age/4).Truncate(hookBusy)), maxHookTry)}
	}
	delay := min(firstHookTry<<min(j.Attempt-1, 10), maxHookTry)
	if pe, ok := errors.AsType[*bridge.Error](err); ok {
		delay = min(max(delay, pe.RetryAfter), maxHookTry)
	}
	return engine.Later{In: delay, Reason: err.Error()}
}

// errBusy means that all slots of a receiver are in use.
var errBusy = bridge.Errorf(bridge.CodeUnavailable, "earlier deliveries to the receiver have not ended")

func (h *Room) deliver(ctx context.Context, j core.Job) error {
	r, err := h.engine.Get(ctx, j.Interaction)
	if err != nil {
		return err
	}
	names := r.Interaction.Webhooks
	if j.Destination == len(names) && j.Destination < r.Interaction.Closings() {
		return h.tell(ctx, r)
	}
	if j.Destination >= len(names) || r.Response == nil {
		return bridge.Errorf(bridge.CodeInternal, "webhook %d of %d does not exist", j.Destination, len(names))
	}
	for _, w := range h.hooks {
		if w.Name() != names[j.Destination] {
			continue
		}
		slots := h.slots[w.Name()]
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			return errBusy
		}
		body, err := bridge.EncodeJSON(outcomeEvent{"interaction." + string(r.State), r.Response.At, r})
		if err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "webhook")
		}
		began := time.Now()
		err = w.Send(ctx, "msg_"+string(r.Interaction.ID), body)
		h.watcher.Did(j, w.Name(), r, began, err)
		return err
	}
	return engine.NotConfigured(j, "webhook "+names[j.Destination])
}
