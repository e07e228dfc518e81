package slack

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	// stalledAfter is the maximum time without a connection. Then nod replaces
	// the client, because the SDK's own loop has states that it never leaves.
	stalledAfter = 45 * time.Second
	watchEvery   = time.Second
	clicksAtOnce = 64
)

// socket receives through Socket Mode.
type socket struct {
	*workspace
	in inbound
}

// run receives until ctx ends or an administrator must act.
func (s socket) run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { platforms.Recheck(ctx, &s.health, s.check) })
	for refusals := 0; ctx.Err() == nil; {
		connected, err := s.connect(ctx)
		if connected {
			refusals = 0
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		if refusals++; refusals > 1 {
			s.health.Set(bridge.HealthDown, bridge.PublicError(err).Message)
			return err
		}
		s.health.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
		bridge.Pause(ctx, platforms.SecondLook)
	}
	return nil
}

// connect runs one Socket Mode client, and reports whether it was connected. It
// returns no error if the client has stalled and must be replaced, and an error if
// Slack refuses the connection.
func (s socket) connect(ctx context.Context) (connected bool, err error) {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client := socketmode.New(s.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan error, 1)
	wg.Go(func() { ended <- client.RunContext(ctx) })
	slots, lanes := make(chan struct{}, clicksAtOnce), &platforms.Lanes{}
	lost := time.Now()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return connected, nil
		case err := <-ended:
			if ctx.Err() != nil {
				return connected, nil
			}
			return connected, s.classify("", err)
		case <-watch.C:
			if !lost.IsZero() && time.Since(lost) > stalledAfter {
				s.log.Warn("socket stalled, starting a new one", "platform", s.name)
				return connected, nil
			}
		case e := <-client.Events:
			if err := s.follow(e, &lost); err != nil {
				return connected, err
			}
			connected = connected || lost.IsZero()
			id, raw := envelope(e)
			if id == "" {
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return connected, nil
			}
			in := s.in.read(raw)
			wait, leave := lanes.Enter(author(in))
			wg.Go(func() {
				defer func() { <-slots }()
				wait()
				s.receive(ctx, client, id, in, leave)
			})
		}
	}
}

// author returns who wrote the message of an event, so that the messages of a
// person keep their order. It is empty for other payloads.
func author(in payload) string {
	if !in.Event.isReply() {
		return ""
	}
	return in.Event.User
}

// receive works on one payload and acknowledges it. A click that has begun is
// finished even if the socket closes. It calls leave once the store has it.
func (s socket) receive(ctx context.Context, client *socketmode.Client, id string, in payload, leave func()) {
	r := s.in.handle(context.WithoutCancel(ctx), in)
	leave()
	if err := client.AckCtx(ctx, id, r.reply); err != nil && ctx.Err() == nil {
		s.log.Warn("click recorded but not acknowledged", "platform", s.name, "error", err)
	}
	r.finish(ctx)
}

// follow updates the health after an event of the connection, and lost, the
// time when the connection was lost. It returns an error if Slack refuses the
// connection.
func (s socket) follow(e socketmode.Event, lost *time.Time) error {
	switch e.Type {
	case socketmode.EventTypeHello:
		*lost = time.Time{}
		s.health.Set(bridge.HealthUp, "")
	case socketmode.EventTypeConnecting, socketmode.EventTypeDisconnect, socketmode.EventTypeIncomingError:
		if lost.IsZero() {
			*lost = time.Now()
			s.health.Set(bridge.HealthDegraded, "reconnecting")
		}
	case socketmode.EventTypeInvalidAuth:
		return rowOf("invalid_auth").Err(nil, "slack: Slack does not accept the app token")
	case socketmode.EventTypeConnectionError:
		return s.connectionError(e.Data)
	}
	return nil
}

// connectionError returns an error if Slack refuses the connection. The SDK would
// retry forever.
func (s socket) connectionError(data any) error {
	ce, ok := data.(*slack.ConnectionErrorEvent)
	if !ok {
		return nil
	}
	err := s.classify("", ce.ErrorObj)
	if platforms.Final(err) {
		return err
	}
	s.health.Set(bridge.HealthDegraded, "reconnecting: "+bridge.PublicError(err).Message)
	return nil
}

// envelope returns the ID and the payload of an event that has to be
// acknowledged, even if the SDK could not decode it. The ID of any other event
// is empty.
func envelope(e socketmode.Event) (string, []byte) {
	if e.Request != nil && e.Request.EnvelopeID != "" {
		return e.Request.EnvelopeID, e.Request.Payload
	}
	bad, ok := e.Data.(*socketmode.ErrorBadMessage)
	if !ok {
		return "", nil
	}
	var env struct {
		ID      string          `json:"envelope_id"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(bad.Message, &env) != nil {
		return "", nil
	}
	return env.ID, env.Payload
}
