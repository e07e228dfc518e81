package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// Opcodes of the gateway:
// docs.discord.com/developers/topics/opcodes-and-status-codes.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

const (
	openTimeout  = 20 * time.Second // time limit of each step until the session is ready
	writeTimeout = 10 * time.Second
	maxFrame     = 16 << 20
	retryFirst   = time.Second
	retryMost    = time.Minute
	resumeTries  = 3 // number of failed connections before the session is abandoned
)

// Close codes after which a reconnect is useless, and close codes that end the
// session.
var (
	fatalCodes = []websocket.StatusCode{4004, 4010, 4011, 4012, 4013, 4014}
	newCodes   = []websocket.StatusCode{4003, 4007, 4009}
)

var (
	errReconnect = errors.New("the gateway asks to reconnect")
	errInvalid   = errors.New("the gateway does not know the session")
	errStalled   = errors.New("the gateway did not answer")
)

// gateway receives interactions, and replies to cards, on a websocket.
type gateway struct {
	api      *api
	token    string
	sockets  *http.Client // connects to the gateway, whose URL is not replaced
	unpaced  bool
	deaf     time.Duration // longest time without a heartbeat answer
	health   *platforms.HealthBox
	commands *commands // called as soon as the session is ready
	log      *slog.Logger
}

// session is a gateway session. It outlives its connection: Discord keeps it
// for a while, and sends the missed events to a connection that resumes it. A
// session without an ID must be started first.
type session struct {
	id    string
	bot   string // ID of the bot's user
	url   string // position for resuming
	seq   atomic.Int64
	tries int // failed connections since the session was ready
}

type frame struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
	S  int64           `json:"s"`
	T  string          `json:"t"`
}

type outgoing struct {
	Op int `json:"op"`
	D  any `json:"d"`
}

// run keeps a gateway session until ctx ends or Discord refuses the bot.
func (g *gateway) run(ctx context.Context, to *inbound) error {
	var clicks sync.WaitGroup
	defer clicks.Wait()
	in := inbox{to: to, work: platforms.NewWork(&clicks), lanes: &platforms.Lanes{}}
	s, wait, last, refusals := &session{}, retryFirst, time.Time{}, 0
	for {
		url, err := s.url, error(nil)
		if s.id == "" {
			url, err = g.start(ctx, last)
		}
		began := time.Now()
		if err == nil {
			err = g.connect(ctx, s, url, &last, in)
		}
		if ctx.Err() != nil {
			return nil
		}
		g.health.Set(bridge.HealthDegraded, "reconnecting: "+cause(err))
		if platforms.Is(err, platforms.AboutAccount) || slices.Contains(fatalCodes, websocket.CloseStatus(err)) {
			if refusals++; refusals > 1 {
				g.health.Set(bridge.HealthDown, "the gateway refuses the bot: "+cause(err))
				return bridge.Wrap(bridge.CodeForbidden, err, "discord: the gateway refuses the bot").
					WithHint("check DISCORD_BOT_TOKEN")
			}
			bridge.Pause(ctx, platforms.SecondLook)
			continue
		}
		refusals = 0
		if time.Since(began) > retryMost {
			wait = retryFirst
		}
		if s.id != "" && s.tries == 0 && time.Since(began) > startGap {
			continue // the session was ready for some time, so it is resumed immediately
		}
		pause := wait
		if e, ok := errors.AsType[*bridge.Error](err); ok {
			pause = max(pause, e.RetryAfter)
		}
		bridge.Pause(ctx, pause)
		wait = min(2*wait, retryMost)
	}
}

// cause returns the part of a connection error that an administrator may read.
func cause(err error) string {
	if _, ours := errors.AsType[*bridge.Error](err); ours {
		return bridge.PublicError(err).Message
	}
	switch code := websocket.CloseStatus(err); {
	case code == badToken:
		return "the token is refused"
	case code != -1:
		return "it ended the connection with code " + strconv.Itoa(int(code))
	}
	return err.Error()
}

// badToken is the close code for an invalid token.
const badToken = 4004

// inbox handles interactions and replies. It does not block: a reader that waits
// would miss heartbeats.
type inbox struct {
	to    *inbound
	work  *platforms.Work
	lanes *platforms.Lanes
}

// take handles an interaction, or a message of the given author. The messages of
// an author keep their order.
func (in inbox) take(ctx context.Context, author string, handle platforms.Handle) {
	wait, leave := in.lanes.Enter(author)
	in.work.Do(ctx, wait, handle, leave)
}

// connect runs one connection of a session, from Hello to its end. It resumes a
// session that has an ID. Otherwise, it starts the session.
func (g *gateway) connect(
	ctx context.Context, s *session, url string, last *time.Time, in inbox,
) error {
	if s.id != "" {
		if s.tries++; s.tries > resumeTries {
			s.id = ""
			return errors.New("the session cannot be resumed")
		}
	}
	c := &connection{g: g, s: s, in: in, url: url}
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.conn.CloseNow()
	if s.id == "" {
		*last = time.Now()
	}
	err := c.serve(ctx)
	code := websocket.CloseStatus(err)
	if errors.Is(err, errInvalid) || slices.Contains(newCodes, code) {
		s.id = ""
	}
	return err
}

// connection is one connection to the gateway.
type connection struct {
	g     *gateway
	s     *session
	in    inbox
	url   string
	conn  *websocket.Conn
	every time.Duration // interval of heartbeats
	acked atomic.Int64  // time of the last answer to a heartbeat, in Unix nanoseconds
	live  atomic.Bool   // whether the session is ready on this connection
}

// open connects and waits for Hello.
func (c *connection) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, c.url+"/?v=10&encoding=json", &websocket.DialOptions{HTTPClient: c.g.sockets})
	if err != nil {
		return err
	}
	conn.SetReadLimit(maxFrame)
	var f frame
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	err = wsjson.Read(ctx, conn, &f)
	if err == nil && (f.Op != opHello || json.Unmarshal(f.D, &hello) != nil || hello.Interval <= 0) {
		err = errors.New("the gateway did not send Hello")
	}
	if err != nil {
		conn.CloseNow()
		return err
	}
	c.conn, c.every = conn, time.Duration(hello.Interval)*time.Millisecond
	return nil
}

// serve starts or resumes the session and reads until the connection ends.
func (c *connection) serve(ctx context.Context) error {
	if err := c.identify(ctx); err != nil {
		return err
	}
	c.acked.Store(time.Now().UnixNano())
	// Reads end with the connection and not with ctx, because a close frame
	// would also end the session at Discord.
	ended := make(chan struct{})
	var beats sync.WaitGroup
	defer beats.Wait()
	defer close(ended)
	var stalled atomic.Bool
	beats.Go(func() {
		if c.beat(ctx, ended) {
			stalled.Store(true)
			c.conn.CloseNow()
		}
	})
	for {
		var f frame
		if err := wsjson.Read(context.WithoutCancel(ctx), c.conn, &f); err != nil {
			if stalled.Load() {
				return errStalled
			}
			return err
		}
		if err := c.frame(ctx, f); err != nil {
			return err
		}
	}
}

func (c *connection) identify(ctx context.Context) error {
	if c.s.id != "" {
		resume := map[string]any{"token": c.g.token, "session_id": c.s.id, "seq": c.s.seq.Load()}
		return c.send(ctx, opResume, resume)
	}
	c.s.seq.Store(0)
	return c.send(ctx, opIdentify, map[string]any{
		"token": c.g.token, "intents": intents,
		"properties": map[string]string{"os": "linux", "browser": "nod", "device": "nod"},
	})
}

// frame handles a frame of the gateway. Its error ends the connection.
func (c *connection) frame(ctx context.Context, f frame) error {
	switch f.Op {
	case opDispatch:
		c.s.seq.Store(f.S)
		return c.event(ctx, f)
	case opHeartbeat:
		return c.heartbeat(ctx)
	case opHeartbeatAck:
		c.acked.Store(time.Now().UnixNano())
	case opReconnect:
		return errReconnect
	case opInvalidSession:
		if string(f.D) == "true" {
			return errReconnect
		}
		return errInvalid
	}
	return nil
}

func (c *connection) event(ctx context.Context, f frame) error {
	switch f.T {
	case "READY":
		var ready struct {
			ID  string `json:"session_id"`
			URL string `json:"resume_gateway_url"`
			Bot user   `json:"user"`
		}
		if err := json.Unmarshal(f.D, &ready); err != nil {
			return err
		}
		c.s.id, c.s.url, c.s.bot = ready.ID, cmp.Or(ready.URL, c.url), ready.Bot.ID
		c.ready(ctx)
	case "RESUMED":
		c.ready(ctx)
	case "INTERACTION_CREATE":
		raw := slices.Clone(f.D)
		c.in.take(ctx, "", func(ctx context.Context) func(context.Context) { return c.in.to.handle(ctx, raw) })
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		m, ok := parseSaid(f.D, c.s.bot)
		if f.T == "MESSAGE_UPDATE" { // Discord also sends this event when it adds the preview of a link
			ok = ok && m.Edited != "" && c.in.to.seen.First(m.ID+" "+m.Edited, seenFor)
		}
		if ok {
			bot := c.s.bot
			c.in.take(ctx, m.Author.ID, func(ctx context.Context) func(context.Context) { return c.in.to.replied(ctx, m, bot) })
		}
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		var gone struct {
			ID      string   `json:"id"`
			IDs     []string `json:"ids"`
			Channel string   `json:"channel_id"`
		}
		if json.Unmarshal(f.D, &gone) == nil {
			then := c.in.to.deleted(gone.Channel, append(gone.IDs, gone.ID))
			c.in.take(ctx, "", func(context.Context) func(context.Context) { return then })
		}
	}
	return nil
}

func (c *connection) ready(ctx context.Context) {
	c.s.tries = 0
	c.live.Store(true)
	c.g.health.Set(bridge.HealthUp, "")
	c.in.work.Go(func() { c.g.commands.register(ctx) })
}

// beat sends heartbeats until the connection or ctx ends. It closes the
// connection at the end of ctx. It returns true if heartbeats stay unanswered,
// or if the session does not become ready.
func (c *connection) beat(ctx context.Context, ended <-chan struct{}) bool {
	late := time.Now().Add(openTimeout)
	next := time.NewTimer(time.Duration(rand.Float64() * float64(c.every)))
	defer next.Stop()
	check := time.NewTicker(min(c.every, time.Second))
	defer check.Stop()
	for {
		select {
		case <-ended:
			return false
		case <-ctx.Done():
			_ = c.conn.Close(websocket.StatusNormalClosure, "") // the reader ends in either case
			return false
		case <-next.C:
			if c.heartbeat(ctx) != nil {
				c.conn.CloseNow()
			}
			next.Reset(c.every)
		case <-check.C:
			deaf := time.Since(time.Unix(0, c.acked.Load())) > c.g.deaf
			if deaf || !c.live.Load() && time.Now().After(late) {
				return true
			}
		}
	}
}

func (c *connection) heartbeat(ctx context.Context) error {
	var seq any // null before the first event
	if n := c.s.seq.Load(); n > 0 {
		seq = n
	}
	return c.send(ctx, opHeartbeat, seq)
}

func (c *connection) send(ctx context.Context, op int, d any) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return wsjson.Write(ctx, c.conn, outgoing{op, d})
}
