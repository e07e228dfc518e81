package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

const (
	openTimeout  = 20 * time.Second // for Hello and Ready; the SDK has no limit
	watchEvery   = time.Second
	clicksAtOnce = 64
	retryFirst   = time.Second // an application has 1000 identifies a day
	retryMost    = time.Minute
	maxBody      = 1 << 20
	window       = 5 * time.Minute // age of a signed request; Discord prescribes none
)

// Close codes after which connecting again is useless.
var fatalCodes = []int{4004, 4010, 4011, 4012, 4013, 4014}

// Run implements bridge.Platform.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error {
	if p.key != nil {
		return platforms.Watch(ctx, &p.health, func(ctx context.Context) error {
			err := p.do(ctx, http.MethodGet, discordgo.EndpointUser("@me"), nil, nil)
			if err == nil {
				p.register(ctx)
			}
			return err
		})
	}
	wait := retryFirst
	for ctx.Err() == nil {
		began := time.Now()
		err := p.runGateway(ctx, sink)
		if ctx.Err() != nil {
			return nil
		}
		if websocket.IsCloseError(err, fatalCodes...) {
			p.health.Set(bridge.HealthDown, "the gateway refuses the bot: "+err.Error())
			return bridge.Wrap(bridge.CodeForbidden, err, "discord: the gateway refuses the bot").WithHint("check DISCORD_BOT_TOKEN")
		}
		p.health.Set(bridge.HealthDegraded, "reconnecting")
		p.log.Warn("gateway lost", "platform", p.name, "error", err)
		if time.Since(began) > retryMost {
			wait = retryFirst
		}
		bridge.Pause(ctx, wait)
		wait = min(2*wait, retryMost)
	}
	return nil
}

// wire keeps the connection under a session, to end it from outside: the SDK
// holds its lock while it waits for the gateway.
type wire struct {
	mu   sync.Mutex
	conn net.Conn
	cut  bool
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: openTimeout}).DialContext(ctx, network, addr)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.cut {
		c.Close()
		return nil, net.ErrClosed
	}
	w.conn = c
	return c, err
}

func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	if w.conn != nil {
		w.conn.Close()
	}
}

// runGateway holds one gateway session from Identify to its end. A lost
// session is never resumed: the SDK deadlocks when a resume is answered with
// anything but success, and an interaction replayed by a resume is too old to
// be answered.
func (p *Platform) runGateway(ctx context.Context, sink bridge.Sink) error {
	s, err := p.session()
	if err != nil {
		return err
	}
	w := &wire{}
	s.Dialer = &websocket.Dialer{NetDialContext: w.dial, HandshakeTimeout: openTimeout, Proxy: http.ProxyFromEnvironment}
	lost := make(chan struct{}, 1)
	s.AddHandler(func(_ *discordgo.Session, _ *discordgo.Disconnect) {
		select {
		case lost <- struct{}{}:
		default:
		}
	})
	var clicks sync.WaitGroup
	slots := make(chan struct{}, clicksAtOnce)
	s.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		if e.Type != "INTERACTION_CREATE" {
			return
		}
		slots <- struct{}{}
		defer func() { <-slots }()
		clicks.Add(1)
		defer clicks.Done()
		// A click under way is finished even when the gateway ends.
		p.handle(context.WithoutCancel(ctx), sink, bytes.Clone(e.RawData))
	})
	opened := make(chan error, 1)
	go func() { opened <- s.Open() }()
	defer clicks.Wait()
	select {
	case err = <-opened:
	case <-time.After(openTimeout):
		err = errors.New("the gateway does not say hello")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		p.health.Set(bridge.HealthUp, "")
		clicks.Go(func() { p.register(ctx) })
		err = p.watchGateway(ctx, s, lost)
	}
	w.close()
	closed := make(chan struct{})
	go func() { // the SDK sleeps a second here
		defer close(closed)
		if cerr := s.Close(); cerr != nil {
			p.log.Debug("gateway session closed", "platform", p.name, "error", cerr)
		}
	}()
	<-closed
	return err
}

// watchGateway returns when the session is lost or deaf.
func (p *Platform) watchGateway(ctx context.Context, s *discordgo.Session, lost <-chan struct{}) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-lost:
			return errors.New("connection lost")
		case <-tick.C:
			s.RLock()
			ack := s.LastHeartbeatAck
			s.RUnlock()
			if time.Since(ack) > p.deaf {
				return errors.New("no heartbeat for " + p.deaf.String())
			}
		}
	}
}

// Handler serves the interactions endpoint of HTTP mode. It answers 401 to
// everything that Discord did not sign, as Discord itself tests.
func (p *Platform) Handler(sink bridge.Sink) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.key == nil || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if !discordgo.VerifyInteraction(r, p.key) || !fresh(r.Header.Get("X-Signature-Timestamp")) {
			p.log.Warn("request with a bad signature", "platform", p.name)
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		}
		raw, err := io.ReadAll(r.Body)
		var in struct {
			ID   string `json:"id"`
			Type int    `json:"type"`
		}
		if err != nil || json.Unmarshal(raw, &in) != nil {
			http.Error(w, "bad interaction", http.StatusBadRequest)
			return
		}
		if in.Type == typePing {
			w.Header().Set("Content-Type", "application/json")
			if _, err := io.WriteString(w, `{"type":1}`); err != nil {
				p.log.Debug("ping not answered", "platform", p.name, "error", err)
			}
			return
		}
		if p.replayed(in.ID) {
			http.Error(w, "replayed", http.StatusUnauthorized)
			return
		}
		p.handle(context.WithoutCancel(r.Context()), sink, raw)
		w.WriteHeader(http.StatusAccepted) // answered by the callback route
	})
}

func fresh(timestamp string) bool {
	n, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Since(time.Unix(n, 0))
	return err == nil && age < window && age > -window
}

// replayed reports whether the interaction was handled before, within the time
// for which its signature is taken.
func (p *Platform) replayed(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for k, at := range p.seen {
		if now.Sub(at) > 2*window {
			delete(p.seen, k)
		}
	}
	if _, ok := p.seen[id]; ok {
		return true
	}
	p.seen[id] = now
	return false
}
