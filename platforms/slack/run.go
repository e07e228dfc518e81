package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	// stalledAfter is how long the socket may be without a connection before
	// nod replaces the client. The SDK's own loop has states that it never
	// leaves.
	stalledAfter = 45 * time.Second
	watchEvery   = time.Second
	clicksAtOnce = 64
	maxBody      = 1 << 20 // Slack's payloads are far smaller
)

// Run implements bridge.Platform.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error {
	check := func(ctx context.Context) error {
		_, err := p.api.AuthTestContext(ctx)
		return p.classify("", err)
	}
	if !p.socket {
		return platforms.Watch(ctx, &p.health, check)
	}
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { platforms.Recheck(ctx, &p.health, check) })
	for ctx.Err() == nil {
		if err := p.runSocket(ctx, sink); err != nil && ctx.Err() == nil {
			p.health.Set(bridge.HealthDown, bridge.PublicError(err).Message)
			return err
		}
	}
	return nil
}

// runSocket runs one Socket Mode client. It returns nil if the client has
// stalled and must be replaced, and an error if an administrator must act.
func (p *Platform) runSocket(ctx context.Context, sink bridge.Sink) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client := socketmode.New(p.api, socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan error, 1)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { ended <- client.RunContext(ctx) })
	slots := make(chan struct{}, clicksAtOnce)
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
			return p.classify("", err)
		case <-watch.C:
			if !lost.IsZero() && time.Since(lost) > stalledAfter {
				p.log.Warn("socket stalled, starting a new one", "platform", p.name)
				return nil
			}
		case e := <-client.Events:
			if err := p.follow(e, &lost); err != nil {
				return err
			}
			if id, raw := envelope(e); id != "" {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return nil
				}
				wg.Go(func() {
					defer func() { <-slots }()
					// Finish a click that has begun even if the socket closes.
					r := p.handle(context.WithoutCancel(ctx), sink, raw)
					p.acknowledge(ctx, client, id, r.reply)
					r.finish(ctx)
				})
			}
		}
	}
}

// follow updates the health after an event of the connection, and lost, the
// time when the connection was lost. It returns an error if an administrator
// must act.
func (p *Platform) follow(e socketmode.Event, lost *time.Time) error {
	switch e.Type {
	case socketmode.EventTypeHello:
		*lost = time.Time{}
		p.health.Set(bridge.HealthUp, "")
	case socketmode.EventTypeConnecting, socketmode.EventTypeDisconnect, socketmode.EventTypeIncomingError:
		if lost.IsZero() {
			*lost = time.Now()
			p.health.Set(bridge.HealthDegraded, "reconnecting")
		}
	case socketmode.EventTypeInvalidAuth:
		return bridge.Errorf(bridge.CodeForbidden, "slack: Slack does not accept the app token")
	case socketmode.EventTypeConnectionError:
		return p.connectionError(e.Data)
	}
	return nil
}

// connectionError returns an error if no connection is possible until an
// administrator acts. The SDK would retry forever.
func (p *Platform) connectionError(data any) error {
	ce, ok := data.(*slack.ConnectionErrorEvent)
	if !ok {
		return nil
	}
	if answer, ok := errors.AsType[slack.SlackErrorResponse](ce.ErrorObj); ok && slices.Contains(fatal, answer.Err) {
		return p.classify("", ce.ErrorObj)
	}
	p.log.Warn("socket not connected, retrying", "platform", p.name, "error", ce.ErrorObj)
	p.health.Set(bridge.HealthDegraded, "reconnecting")
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

func (p *Platform) acknowledge(ctx context.Context, client *socketmode.Client, id string, reply any) {
	if err := client.AckCtx(ctx, id, reply); err != nil && ctx.Err() == nil {
		p.log.Warn("click recorded but not acknowledged", "platform", p.name, "error", err)
	}
}

// Handler serves the request URL of HTTP mode. It refuses requests without a
// signature of Slack from the last five minutes, and every request in Socket
// Mode.
func (p *Platform) Handler(sink bridge.Sink) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.secret == "" || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
			return
		}
		if !p.signed(r.Header, body) {
			p.log.Warn("request with a bad signature", "platform", p.name)
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		raw, err := interaction(r.Header.Get("Content-Type"), body)
		if err != nil {
			http.Error(w, "bad form", http.StatusBadRequest)
			return
		}
		if len(raw) == 0 {
			w.WriteHeader(http.StatusOK) // ssl_check
			return
		}
		reaction := p.handle(r.Context(), sink, raw)
		p.respond(w, reaction.reply)
		reaction.finish(r.Context())
	})
}

// respond acknowledges a request in full before the handler returns, as nod may
// have more to do for it.
func (p *Platform) respond(w http.ResponseWriter, reply any) {
	var body []byte
	var err error
	if reply != nil {
		w.Header().Set("Content-Type", "application/json")
		body, err = json.Marshal(reply)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	if err != nil {
		p.log.Warn("click recorded but not acknowledged", "platform", p.name, "error", err)
	}
}

// interaction returns the payload of a request in the format of Socket Mode.
// Slack sends events as JSON, and everything else as a form.
func interaction(kind string, body []byte) ([]byte, error) {
	if strings.HasPrefix(kind, "application/json") {
		return body, nil
	}
	form, err := url.ParseQuery(string(body))
	if err == nil && form.Get("command") != "" {
		return command(form), nil
	}
	return []byte(form.Get("payload")), err
}

// command returns a slash command in the format of Socket Mode.
func command(form url.Values) []byte {
	flat := map[string]string{}
	for _, name := range []string{"command", "text", "user_id", "user_name", "channel_id"} {
		flat[name] = form.Get(name)
	}
	raw, _ := json.Marshal(flat) // strings always marshal
	return raw
}

// signed reports whether a request has a valid v0 signature. The verifier of
// the SDK compares in constant time and refuses requests older than five
// minutes.
func (p *Platform) signed(h http.Header, body []byte) bool {
	v, err := slack.NewSecretsVerifier(h, p.secret)
	if err != nil {
		return false
	}
	if _, err := v.Write(body); err != nil {
		return false
	}
	return v.Ensure() == nil
}
