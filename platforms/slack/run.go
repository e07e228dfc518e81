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
	// stalledAfter is the maximum time without a connection. After that, nod
	// replaces the client, because the SDK's own loop has states that it never
	// leaves.
	stalledAfter = 45 * time.Second
	watchEvery   = time.Second
	// ackWait is the time limit for an acknowledgment. Slack requires it within
	// 3 seconds.
	ackWait = 3 * time.Second
)

// socket receives events through Socket Mode.
type socket struct {
	*workspace
	in     inbound
	rivals *rivals
	work   *platforms.Work
	lanes  *platforms.Lanes
}

// client is a running Socket Mode client.
type client struct {
	stop  context.CancelFunc
	ready chan int   // receives Slack's count of connections
	ended chan error // receives nil if the client has stalled and must be replaced
	once  bool       // the client has been ready once
}

// run receives events until ctx ends or an administrator must act.
func (s socket) run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wg.Go(func() { platforms.Recheck(ctx, &s.health, s.check) })
	wg.Go(func() { s.self(ctx) }) // so that no reply has to wait for the query
	s.work = platforms.NewWork(&wg)
	refusals := 0
	now, look := s.start(ctx, &wg, &s.health), time.NewTimer(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case n := <-now.ready:
			refusals, now.once = 0, true
			look.Reset(s.rivals.count(ctx, n))
		case <-look.C:
			if next := s.takeOver(ctx, &wg, now); next != nil {
				now = next
			}
			look.Reset(lookEvery)
		case err := <-now.ended:
			now.stop()
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				if platforms.Final(err) {
					refusals++
				}
				if refusals > 1 {
					s.health.Set(bridge.HealthDown, bridge.PublicError(err).Message)
					return err
				}
				s.health.Set(bridge.HealthDegraded, bridge.PublicError(err).Message)
				bridge.Pause(ctx, platforms.SecondLook)
			}
			now = s.start(ctx, &wg, &s.health)
		}
	}
}

// start starts a client. Until the client is connected, it has its own health.
func (s socket) start(ctx context.Context, wg *sync.WaitGroup, health *platforms.HealthBox) *client {
	ctx, stop := context.WithCancel(ctx)
	c := &client{stop: stop, ready: make(chan int, 1), ended: make(chan error, 1)}
	wg.Go(func() { c.ended <- s.connect(ctx, c.ready, health) })
	return c
}

// takeOver replaces a client with a new one, because only a new connection
// reports the number of connections. Until the new client is ready, the old
// client receives events. Then it acknowledges the events that it has received.
// It returns nil if no new client becomes ready.
func (s socket) takeOver(ctx context.Context, wg *sync.WaitGroup, old *client) *client {
	if !old.once {
		return nil
	}
	next, patience := s.start(ctx, wg, &platforms.HealthBox{}), time.NewTimer(stalledAfter)
	defer patience.Stop()
	select {
	case n := <-next.ready:
		next.ready <- n - 1 // without the old client
		wg.Go(func() {
			bridge.Pause(ctx, ackWait)
			old.stop()
		})
		return next
	case <-next.ended:
	case <-patience.C:
	case <-ctx.Done():
	}
	next.stop()
	return nil
}

// connect runs one Socket Mode client. It passes the number of connections to
// ready each time the client connects. It returns nil if the client has stalled
// and must be replaced, and an error if there is no connection. A final error
// means that Slack refuses it.
func (s socket) connect(ctx context.Context, ready chan<- int, health *platforms.HealthBox) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client := socketmode.New(s.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan error, 1)
	wg.Go(func() { ended <- client.RunContext(ctx) })
	lost := time.Now()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			if ctx.Err() != nil {
				return nil
			}
			return s.classify("", err)
		case <-watch.C:
			if !lost.IsZero() && time.Since(lost) > stalledAfter {
				s.log.Warn("socket stalled; starting a new one", "platform", s.name)
				return nil
			}
		case e := <-client.Events:
			if err := s.follow(e, &lost, health); err != nil {
				return err
			}
			if e.Type == socketmode.EventTypeHello && e.Request != nil {
				health = &s.health
				health.Set(bridge.HealthUp, "")
				select {
				case ready <- e.Request.NumConnections:
				default: // no one has read the previous value yet
				}
			}
			if id, raw := envelope(e); id != "" {
				s.receive(ctx, client, id, s.in.read(raw))
			}
		}
	}
}

// receive handles one payload and acknowledges it. It does not block, because a
// client that waits would miss pings. Work that has started is finished even if
// the socket closes. The messages from a person keep their order.
func (s socket) receive(ctx context.Context, client *socketmode.Client, id string, in payload) {
	wait, leave := s.lanes.Enter(in.Event.author())
	acknowledge := func(r reaction) {
		ctx, cancel := context.WithTimeout(ctx, ackWait)
		defer cancel()
		if err := client.AckCtx(ctx, id, r.reply); err != nil {
			s.log.Warn("click recorded but not acknowledged", "platform", s.name, "error", err)
		}
	}
	s.work.Do(ctx, wait, func(work context.Context) func(context.Context) {
		r := s.in.handle(work, in)
		if r.first == nil {
			acknowledge(r)
			if r.then == nil {
				return nil
			}
			return r.finish
		}
		return func(work context.Context) {
			r := r.begin(work)
			acknowledge(r)
			r.finish(work)
		}
	}, leave)
}

// follow updates the health after an event of the connection. It also updates
// lost, the time when the connection was lost. It returns an error if Slack
// refuses the connection.
func (s socket) follow(e socketmode.Event, lost *time.Time, health *platforms.HealthBox) error {
	switch e.Type {
	case socketmode.EventTypeHello:
		*lost = time.Time{}
	case socketmode.EventTypeConnecting, socketmode.EventTypeDisconnect, socketmode.EventTypeIncomingError:
		if lost.IsZero() {
			*lost = time.Now()
			health.Set(bridge.HealthDegraded, "reconnecting")
		}
	case socketmode.EventTypeConnectionError:
		return s.connectionError(e.Data, lost, health)
	}
	return nil
}

// connectionError returns an error if Slack refuses the connection. The SDK would
// retry forever. A client that waits for as long as Slack names has not stalled.
func (s socket) connectionError(data any, lost *time.Time, health *platforms.HealthBox) error {
	ce, ok := data.(*slack.ConnectionErrorEvent)
	if !ok {
		return nil
	}
	err := s.classify("", ce.ErrorObj)
	if platforms.Final(err) {
		return err
	}
	e := bridge.PublicError(err)
	*lost = time.Now().Add(e.RetryAfter)
	health.Set(bridge.HealthDegraded, "reconnecting: "+e.Message)
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
