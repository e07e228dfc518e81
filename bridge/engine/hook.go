package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nodbridge/nod/bridge"
)

const (
	hooksAtOnce  = 2           // deliveries to one receiver, so that a slow receiver does not block others
	hookBusy     = time.Second // delay until the next attempt to get a slot
	firstHookTry = 5 * time.Second
	maxHookTry   = time.Hour
	hookLife     = 24 * time.Hour // after which the job becomes a dead letter
)

// outcomeEvent is the body of a webhook.
type outcomeEvent struct {
	Type      string        `json:"type"` // "interaction." followed by the state
	Timestamp time.Time     `json:"timestamp"`
	Data      bridge.Record `json:"data"`
}

// webhooks are the configured receivers of outcomes.
type webhooks []bridge.Webhook

// wanted returns the names of the webhooks for an agent.
func (all webhooks) wanted(agent string) []string {
	var out []string
	for _, w := range all {
		if w.Wants(agent) {
			out = append(out, w.Name())
		}
	}
	return out
}

// hooks delivers outcomes to webhooks.
type hooks struct {
	outbox   bridge.Outbox
	reader   *reader
	webhooks webhooks
	teller   *teller
	slots    map[string]chan struct{}
	watcher  watcher
	log      *slog.Logger
}

// tell processes the job of a webhook.
func (h *hooks) tell(ctx context.Context, j bridge.Job) error {
	err := h.deliver(ctx, j)
	switch {
	case errors.Is(err, errBusy):
		return h.outbox.Retry(ctx, j, hookBusy, "")
	case err == nil:
		return h.outbox.Finish(ctx, j)
	case bridge.ErrorCode(err) != bridge.CodeUnavailable && !errors.Is(err, context.DeadlineExceeded), time.Since(j.Began) > hookLife:
		h.log.Error("webhook delivery failed", "id", j.Interaction, "attempt", j.Attempt, "error", err)
		return h.outbox.Bury(ctx, j, err.Error())
	}
	delay := min(firstHookTry<<min(j.Attempt-1, 10), maxHookTry)
	if pe, ok := errors.AsType[*bridge.Error](err); ok {
		delay = min(max(delay, pe.RetryAfter), maxHookTry)
	}
	return h.outbox.Retry(ctx, j, delay, err.Error())
}

// errBusy means that all slots of a receiver are in use.
var errBusy = errors.New("busy")

func (h *hooks) deliver(ctx context.Context, j bridge.Job) error {
	r, err := h.reader.get(ctx, j.Interaction)
	if err != nil {
		return err
	}
	names := r.Interaction.Webhooks
	if j.Destination == len(names) && j.Destination < r.Interaction.Closings() {
		return h.teller.tell(ctx, r)
	}
	if j.Destination >= len(names) || r.Response == nil {
		return bridge.Errorf(bridge.CodeInternal, "webhook %d of %d does not exist", j.Destination, len(names))
	}
	for _, w := range h.webhooks {
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
		h.watcher.did(j, w.Name(), r, began, err)
		return err
	}
	return bridge.Errorf(bridge.CodeNotFound, "webhook %s is no longer configured", names[j.Destination])
}

func slotsOf(all webhooks) map[string]chan struct{} {
	m := map[string]chan struct{}{}
	for _, w := range all {
		m[w.Name()] = make(chan struct{}, hooksAtOnce)
	}
	return m
}
