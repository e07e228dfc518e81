package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/broker"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// playing is a daemon beside emulated chats.
type playing struct {
	*daemon.Daemon
	chats *sandbox.Sandbox
	url   string
	agent *client.Client
	ana   *client.Client
	stop  func()
}

// play starts a daemon on the bench's Redis, with keys of its own.
func (b *benching) play(ctx context.Context, prefix string, change func(*config.Config)) (*playing, error) {
	s := &playing{chats: sandbox.New(sandbox.Options{NoLimits: true})}
	chats := httptest.NewServer(s.chats)
	c := sandboxed.Config(chats.URL)
	c.Redis.Prefix = prefix
	c.Retention = config.Duration(time.Hour)
	token, anas := config.NewToken(), config.NewToken()
	c.Agents["bench"] = config.Agent{Token: config.NewSecret(token)}
	ana := c.People["ana"]
	ana.Token = config.NewSecret(anas)
	c.People["ana"] = ana
	if change != nil {
		change(&c)
	}
	own := redis.NewClient(&redis.Options{Addr: b.addr, ContextTimeoutEnabled: true})
	end := func() {
		s.chats.Close()
		chats.CloseClientConnections()
		chats.Close()
		own.Close()
	}
	var err error
	if s.Daemon, err = daemon.New(ctx, daemon.Options{Config: c, Redis: own, Log: slog.New(slog.DiscardHandler)}); err != nil {
		end()
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		end()
		return nil, err
	}
	run, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(run, l) }) // what fails shows in the figures
	s.url = "http://" + l.Addr().String()
	s.agent, s.ana = client.New(s.url, token, nil), client.New(s.url, anas, nil)
	s.stop = func() { cancel(); wg.Wait(); end() }
	return s, awaitReady(ctx, s.url)
}

// awaitReady returns once a daemon takes requests and can ask somebody.
func awaitReady(ctx context.Context, url string) error {
	for {
		resp, err := http.Get(url + "/readyz") //nolint:noctx,gosec // an address of our own
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		if !bridge.Pause(ctx, 2*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// restart compares the start of a daemon with many pending to one with none,
// and measures the first answer to one of them.
func (b *benching) restart(ctx context.Context, id bridge.ID) (start, first figures, err error) {
	timed := func(prefix string) (*playing, float64, error) {
		began := time.Now()
		s, err := b.play(ctx, prefix, func(c *config.Config) {
			// The pending requests were stored without a daemon, so without proofs.
			c.TokenKey, c.Receipts.Key = config.Secret{}, config.Secret{}
		})
		return s, time.Since(began).Seconds(), err
	}
	empty, none, err := timed("empty")
	if err != nil {
		return start, first, err
	}
	empty.stop()
	s, full, err := timed(broker.DefaultPrefix)
	if err != nil {
		return start, first, err
	}
	defer s.stop()
	began := time.Now()
	if _, err := s.ana.Respond(ctx, id, bridge.Reply{Decision: bridge.DecideOnce}); err != nil {
		return start, first, err
	}
	return figures{max(0, full-none), mostStart}, figures{time.Since(began).Seconds() * 1000, mostFirst}, nil
}

// inbound compares a press that comes in by HTTP, from its bytes to those of
// the acknowledgement, with the settling alone.
func inbound(ctx context.Context, b *benching) ([]figures, error) {
	s, err := b.play(ctx, "inbound", func(c *config.Config) {
		c.Slack.AppToken, c.Slack.SigningSecret = config.Secret{}, config.NewSecret(sandbox.SlackSigningSecret)
		route := c.Routes[bridge.DefaultRoute]
		route.To = route.To[:1]
		c.Routes[bridge.DefaultRoute] = route
	})
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	var acks, settles []float64
	for end := time.Now().Add(2 * b.span); time.Now().Before(end); {
		body, err := s.pressed(ctx)
		if err != nil {
			return nil, err
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/slack/interactions", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		sandbox.SignSlack(r.Header, sandbox.SlackSigningSecret, time.Now(), []byte(body))
		w := httptest.NewRecorder()
		began := time.Now()
		s.ServeHTTP(w, r)
		acks = append(acks, float64(time.Since(began).Microseconds()))
		if w.Code != http.StatusOK {
			return nil, bridge.Errorf(bridge.CodeInternal, "the callback was answered with %d", w.Code)
		}
		o, err := b.opening()
		if err != nil {
			return nil, err
		}
		o.Awaited = false
		if _, _, err := b.store.Open(ctx, o); err != nil {
			return nil, err
		}
		began = time.Now()
		if _, _, err := b.store.Settle(ctx, yes(o.Interaction.ID)); err != nil {
			return nil, err
		}
		settles = append(settles, float64(time.Since(began).Microseconds()))
	}
	return []figures{{median(acks), median(settles)}}, nil
}

// shown opens a request and returns it once its cards are there.
func (s *playing) shown(ctx context.Context) (bridge.Record, error) {
	rec, err := s.agent.Open(ctx, bridge.Request{Ask: bridge.Ask{
		Prompt: "Deploy version 2?", Approval: &bridge.Approval{Tool: "deploy", Input: []byte(`{"command":"kubectl apply"}`)},
	}}, "")
	for err == nil && len(rec.Messages) < len(rec.Interaction.Destinations) {
		if !bridge.Pause(ctx, time.Millisecond) {
			return rec, ctx.Err()
		}
		rec, err = s.Engine().Get(ctx, rec.Interaction.ID)
	}
	return rec, err
}

// pressed is the body with which Slack tells of ana's press on a new card.
func (s *playing) pressed(ctx context.Context) (string, error) {
	rec, err := s.shown(ctx)
	if err != nil {
		return "", err
	}
	ref := rec.Messages[0]
	for _, c := range sandbox.Controls(config.PlatformSlack, s.chats.Message(sandbox.Place{Service: config.PlatformSlack, Channel: ref.Channel, Message: ref.Message})) {
		if c.Label == "Run command" {
			p := fmt.Sprintf(`{"type":"block_actions","user":{"id":%q},"container":{"channel_id":%q,"message_ts":%q},"actions":[{"type":"button","value":%q}]}`,
				sandbox.SampleMembers()[0].Slack, ref.Channel, ref.Message, c.Value)
			return "payload=" + url.QueryEscape(p), nil
		}
	}
	return "", bridge.Errorf(bridge.CodeInternal, "the card has no control")
}

var pathRows = []row{
	{"agent's call to cards on three platforms, p50", "ms", "what the services take of it", 2, true},
	{"press to agent unblocked, p50", "ms", limited, 1, true},
	{"callback acknowledged while many wait, p99", "ms", limited, 1, true},
}

const (
	serviceTime = 50 * time.Millisecond // that emulated services take for a call
	mostPress   = 50                    // ms
	mostAck     = 3000                  // ms, Slack's patience
	waitingPath = 10_000                // or as many as --pending says, if that is less
)

// wholePath measures from the agent to the chats and back.
func wholePath(ctx context.Context, b *benching) ([]figures, error) {
	s, err := b.play(ctx, "path", nil)
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	var shown, back []float64
	for end := time.Now().Add(2 * b.span); time.Now().Before(end); {
		for _, service := range []string{config.PlatformSlack, config.PlatformDiscord, config.PlatformTelegram} {
			s.chats.AddFault(sandbox.Fault{Service: service, Kind: "delay", Delay: serviceTime})
		}
		began := time.Now()
		rec, err := s.shown(ctx)
		if err != nil {
			return nil, err
		}
		shown = append(shown, time.Since(began).Seconds()*1000)
		s.chats.ClearFaults()
		took, err := s.pressedToUnblocked(ctx, rec)
		if err != nil {
			return nil, err
		}
		back = append(back, took)
	}
	acks, err := b.acksBeside(ctx, s)
	return []figures{{median(shown), float64(serviceTime.Milliseconds())}, {median(back), mostPress}, {acks, mostAck}}, err
}

// pressedToUnblocked is how many ms pass from a press on Slack to the return
// of the agent's call.
func (s *playing) pressedToUnblocked(ctx context.Context, rec bridge.Record) (float64, error) {
	done := make(chan time.Time, 1)
	go func() {
		if _, err := s.agent.Wait(ctx, rec.Interaction.ID); err == nil {
			done <- time.Now()
		}
		close(done)
	}()
	bridge.Pause(ctx, 5*time.Millisecond) // it waits by then
	ref := rec.Messages[0]
	began := time.Now()
	if _, err := s.chats.Person("ana").Press(ctx, sandbox.Place{Service: config.PlatformSlack, Channel: ref.Channel, Message: ref.Message}, "Run command"); err != nil {
		return 0, err
	}
	at, ok := <-done
	if !ok {
		return 0, bridge.Errorf(bridge.CodeInternal, "the agent was not unblocked")
	}
	return at.Sub(began).Seconds() * 1000, nil
}

// acksBeside is the 99th percentile of how many ms presses take to be
// acknowledged while many callers wait at the same daemon.
func (b *benching) acksBeside(ctx context.Context, s *playing) (float64, error) {
	beside := &benching{client: b.client, store: s.Store(), addr: b.addr, span: b.span, pending: min(b.pending, waitingPath)}
	c, err := beside.gather(ctx, beside.pending, func(i *bridge.Interaction) { i.Grace = bridge.Duration(time.Hour) })
	defer c.disperse()
	if err != nil {
		return 0, err
	}
	var acks []float64
	for end := time.Now().Add(b.span); time.Now().Before(end); {
		rec, err := s.shown(ctx)
		if err != nil {
			return 0, err
		}
		ref := rec.Messages[0]
		began := time.Now()
		if _, err := s.chats.Person("ana").Press(ctx, sandbox.Place{Service: config.PlatformSlack, Channel: ref.Channel, Message: ref.Message}, "Run command"); err != nil {
			return 0, err
		}
		acks = append(acks, time.Since(began).Seconds()*1000) // the press returns with the acknowledgement
	}
	return percentile(acks, 99), nil
}
