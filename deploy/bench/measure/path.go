package measure

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/cmd/nod/sandboxed"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/sandbox"
)

// installation is a daemon that is connected to emulated chats.
type installation struct {
	*daemon.Daemon
	chats *sandbox.Sandbox
	url   string
	token string // token of the agent
	agent *client.Client
	ana   *client.Client
	stop  func()
}

// install starts a daemon on the Redis of the benchmark, under its own key
// prefix.
func (b *harness) install(ctx context.Context, prefix string, change func(*config.Config)) (*installation, error) {
	return b.installOn(ctx, sandbox.New(sandbox.Options{NoLimits: true}), prefix, false, change)
}

// installOn is install with chats that the caller provides.
func (b *harness) installOn(
	ctx context.Context, on *sandbox.Sandbox, prefix string, paced bool, change func(*config.Config),
) (*installation, error) {
	s := &installation{chats: on}
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
	own := newClient(b.addr)
	end := func() {
		s.chats.Close()
		chats.CloseClientConnections()
		chats.Close()
		own.Close()
	}
	var err error
	if s.Daemon, err = daemon.New(ctx, daemon.Options{Config: c, Redis: own, Log: slog.New(slog.DiscardHandler), Paced: paced}); err != nil {
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
	wg.Go(func() { _ = s.Serve(run, l) }) // the figures show a failure
	s.url = "http://" + l.Addr().String()
	s.token = token
	s.agent, s.ana = client.New(s.url, token, nil), client.New(s.url, anas, nil)
	s.stop = func() { cancel(); wg.Wait(); end() }
	return s, awaitReady(ctx, s.url)
}

// awaitReady returns once a daemon is ready.
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

// restart compares the start of a daemon with many pending requests to one with
// none, and measures the first answer to one of them.
func (b *harness) restart(ctx context.Context, id bridge.ID) (start, first figures, err error) {
	timed := func(prefix string) (*installation, float64, error) {
		began := time.Now()
		s, err := b.install(ctx, prefix, func(c *config.Config) { c.Receipts.Key = config.NewSecret(hex.EncodeToString(ownKey)) })
		return s, time.Since(began).Seconds(), err
	}
	empty, none, err := timed("empty")
	if err != nil {
		return start, first, err
	}
	empty.stop()
	s, full, err := timed(store.DefaultPrefix)
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

// toOnePlatform removes all but one destination from the default route.
func toOnePlatform(c *config.Config) {
	route := c.Routes[bridge.DefaultRoute]
	route.To = route.To[:1]
	c.Routes[bridge.DefaultRoute] = route
}

// inbound compares the time that a click over HTTP takes until it is
// acknowledged with the time that the store alone takes to resolve such a
// request. In both cases, the request is stored and its card is posted. Before
// each measurement, a pause lets the posting jobs end, and a read warms up the
// connection.
func inbound(ctx context.Context, b *harness) ([]figures, error) {
	s, err := b.install(ctx, "inbound", func(c *config.Config) {
		s := sandboxed.Slack(c)
		s.AppToken, s.SigningSecret = config.Secret{}, config.NewSecret(sandbox.SlackSigningSecret)
		toOnePlatform(c)
	})
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	var acks, settles []float64
	var used time.Duration
	for end := time.Now().Add(2 * b.span); len(acks) == 0 || time.Now().Before(end); {
		ack, cost, err := s.acknowledged(ctx)
		if err != nil {
			return nil, err
		}
		settle, err := s.settled(ctx)
		if err != nil {
			return nil, err
		}
		acks, settles, used = append(acks, ack), append(settles, settle), used+cost
	}
	b.processCost(0, "callback", used, len(acks))
	return []figures{{median(acks), median(settles)}}, nil
}

// acknowledged returns the duration of a callback in µs, and the processor time
// that this process uses for it.
func (s *installation) acknowledged(ctx context.Context) (float64, time.Duration, error) {
	rec, err := s.shown(ctx)
	if err != nil {
		return 0, 0, err
	}
	body, err := s.clickBody(rec.Messages[0])
	if err != nil {
		return 0, 0, err
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/slack/interactions", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	sandbox.SignSlack(r.Header, sandbox.SlackSigningSecret, time.Now(), []byte(body))
	w := httptest.NewRecorder()
	if err := s.quiet(ctx, rec.Interaction.ID); err != nil {
		return 0, 0, err
	}
	before, began := cpuTime(), time.Now()
	s.ServeHTTP(w, r)
	took, used := time.Since(began), cpuTime()-before
	if w.Code != http.StatusOK {
		return 0, 0, bridge.Errorf(bridge.CodeInternal, "the callback got status %d", w.Code)
	}
	return float64(took.Microseconds()), used, nil
}

// settled returns the duration of a resolution in µs.
func (s *installation) settled(ctx context.Context) (float64, error) {
	rec, err := s.shown(ctx)
	if err != nil {
		return 0, err
	}
	t := yes(rec.Interaction.ID)
	if err := s.quiet(ctx, t.ID); err != nil {
		return 0, err
	}
	began := time.Now()
	_, _, err = s.Store().Resolve(ctx, t)
	return float64(time.Since(began).Microseconds()), err
}

// quiet waits until the jobs of a posting have ended, and reads the record.
func (s *installation) quiet(ctx context.Context, id bridge.ID) error {
	if !bridge.Pause(ctx, settleAfter) {
		return ctx.Err()
	}
	_, err := s.Store().Load(ctx, id)
	return err
}

// shown opens a request and returns it once its cards are posted.
func (s *installation) shown(ctx context.Context) (bridge.Record, error) {
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

// clickBody returns the callback in which Slack reports a click by ana on a
// card.
func (s *installation) clickBody(ref bridge.MessageRef) (string, error) {
	for _, c := range sandbox.Controls("slack", s.chats.Message(sandbox.Place{Service: "slack", Channel: ref.Channel, Message: ref.Message})) {
		if c.Label == "Call tool" {
			p := fmt.Sprintf(`{"type":"block_actions","user":{"id":%q},"container":{"channel_id":%q,"message_ts":%q},"actions":[{"type":"button","value":%q}]}`,
				sandbox.SampleMembers()[0].Slack, ref.Channel, ref.Message, c.Value)
			return "payload=" + url.QueryEscape(p), nil
		}
	}
	return "", bridge.Errorf(bridge.CodeInternal, "the card has no control")
}

var pathRows = []row{
	{"agent's call to cards on three platforms, p50", "ms", "time that the platforms take", 2, true},
	{"click to agent unblocked, p50", "ms", limited, 1, true},
	{"click to agent unblocked, p99", "ms", limited, 1, true},
	{"callback acknowledged while many wait, p99", "ms", limited, 1, true},
}

const (
	serviceTime = 50 * time.Millisecond // duration of a call to an emulated platform
	mostClick   = 2                     // ms, p50
	mostClick99 = 10                    // ms, p99
	mostAck     = 300                   // ms, a tenth of the time limit of Slack
	// beforeClick is the time between a card and a click, which is much less
	// than a person needs. After this time, the agent is waiting, and the
	// posting jobs have ended.
	beforeClick = 10 * time.Millisecond
	waitingPath = 10_000 // fewer if --pending is less
)

// wholePath measures the path from the agent to the chats and back.
func wholePath(ctx context.Context, b *harness) ([]figures, error) {
	s, err := b.install(ctx, "path", nil)
	if s != nil {
		defer s.stop()
	}
	if err != nil {
		return nil, err
	}
	shown, err := s.callsToCards(ctx, 2*b.span)
	if err != nil {
		return nil, err
	}
	clicks, err := s.clicks(ctx, 4*b.span)
	if err != nil {
		return nil, err
	}
	acks, err := b.acksUnderLoad(ctx, s)
	return []figures{{median(shown), float64(serviceTime.Milliseconds())}, {median(clicks), mostClick}, {percentile(clicks, 99), mostClick99}, {acks, mostAck}}, err
}

// callsToCards returns the times in ms from an agent's call until its card is on
// all platforms, which take serviceTime for each call.
func (s *installation) callsToCards(ctx context.Context, span time.Duration) ([]float64, error) {
	for _, service := range []string{"slack", "discord", "telegram"} {
		s.chats.AddFault(sandbox.Fault{Service: service, Kind: "delay", Delay: serviceTime})
	}
	defer s.chats.ClearFaults()
	var shown []float64
	for end := time.Now().Add(span); len(shown) == 0 || time.Now().Before(end); {
		began := time.Now()
		if _, err := s.shown(ctx); err != nil {
			return nil, err
		}
		shown = append(shown, time.Since(began).Seconds()*1000)
	}
	return shown, nil
}

// clicks returns the times in ms from a click on Slack until the agent's call
// returns.
func (s *installation) clicks(ctx context.Context, span time.Duration) ([]float64, error) {
	var clicks []float64
	for end := time.Now().Add(span); len(clicks) == 0 || time.Now().Before(end); {
		rec, err := s.shown(ctx)
		if err != nil {
			return nil, err
		}
		took, err := s.clickToUnblocked(ctx, rec)
		if err != nil {
			return nil, err
		}
		clicks = append(clicks, took)
	}
	return clicks, nil
}

// clickToUnblocked returns the time in ms from a click on Slack until the
// agent's call returns.
func (s *installation) clickToUnblocked(ctx context.Context, rec bridge.Record) (float64, error) {
	done := make(chan time.Time, 1)
	go func() {
		if _, err := s.agent.Wait(ctx, rec.Interaction.ID); err == nil {
			done <- time.Now()
		}
		close(done)
	}()
	bridge.Pause(ctx, beforeClick)
	ref := rec.Messages[0]
	began := time.Now()
	if _, err := s.chats.Person("ana").Press(ctx, sandbox.Place{Service: "slack", Channel: ref.Channel, Message: ref.Message}, "Call tool"); err != nil {
		return 0, err
	}
	at, ok := <-done
	if !ok {
		return 0, bridge.Errorf(bridge.CodeInternal, "the agent was not unblocked")
	}
	return at.Sub(began).Seconds() * 1000, nil
}

// acksUnderLoad returns the 99th percentile of the time in ms until a click is
// acknowledged while many callers wait at the same daemon.
func (b *harness) acksUnderLoad(ctx context.Context, s *installation) (float64, error) {
	loaded := &harness{client: b.client, store: s.Store(), addr: b.addr, span: b.span, pending: min(b.pending, waitingPath)}
	c, err := loaded.gather(ctx, loaded.pending, func(i *bridge.Interaction) { i.Grace = bridge.Duration(time.Hour) })
	defer c.disperse()
	if err != nil {
		return 0, err
	}
	var acks []float64
	for end := time.Now().Add(b.span); len(acks) == 0 || time.Now().Before(end); {
		rec, err := s.shown(ctx)
		if err != nil {
			return 0, err
		}
		ref := rec.Messages[0]
		began := time.Now()
		if _, err := s.chats.Person("ana").Press(ctx, sandbox.Place{Service: "slack", Channel: ref.Channel, Message: ref.Message}, "Call tool"); err != nil {
			return 0, err
		}
		acks = append(acks, time.Since(began).Seconds()*1000) // Press returns with the acknowledgment
	}
	return percentile(acks, 99), nil
}
