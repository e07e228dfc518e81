package sandbox

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Member is a person with an account on each service.
type Member struct {
	Key      string `json:"key"` // how the control API names them
	Name     string `json:"name"`
	Slack    string `json:"slack"`
	Discord  string `json:"discord"`
	Telegram int64  `json:"telegram"`
}

// SampleMembers are the people of a new sandbox.
func SampleMembers() []Member {
	return []Member{
		{"ana", "Ana Lima", "U0ANA00001", "300000000000000001", 7001},
		{"bo", "Bo Chen", "U0BO000002", "300000000000000002", 7002},
		{"cy", "Cy Okafor", "U0CY000003", "300000000000000003", 7003},
		{"mal", "Mal Ory", "U0MAL00004", "300000000000000004", 7004},
	}
}

// Credentials and places of a sandbox. They are no secrets.
const (
	SlackBotToken      = "xoxb-sandbox"
	SlackAppToken      = "xapp-sandbox"
	SlackSigningSecret = "sandbox-slack-signing-secret"
	SlackChannel       = "C0DEPLOYS1"
	SlackBotUser       = "U0BOT00000"

	DiscordToken       = "sandbox-discord-token"
	DiscordApplication = "200000000000000001"
	DiscordGuild       = "100000000000000001"
	DiscordChannel     = "100000000000000002"
	DiscordBotUser     = "200000000000000001"

	TelegramToken = "7000:sandbox-telegram-token"
	TelegramChat  = int64(-1001000000001)
	TelegramBotID = int64(7000)
)

// Options configures a sandbox.
type Options struct {
	// NoLimits switches the services' rate limits off.
	NoLimits bool
	// Slack, Discord and Telegram callback URLs select the HTTP mode of each;
	// empty: Socket Mode, gateway, long polling.
	SlackURL, DiscordURL string
	TriggerTTL           time.Duration // of Slack triggers and Discord's first response; 0: 3 s
	Heartbeat            time.Duration // of Discord's gateway; 0: 41.25 s, as the real one says
	Log                  *slog.Logger
}

// Sandbox is the three services. It is safe for concurrent use; Close ends its
// connections.
type Sandbox struct {
	opts    Options
	log     *slog.Logger
	mux     *http.ServeMux
	members []Member
	ctx     context.Context
	stop    context.CancelFunc

	mu       sync.Mutex // guards everything below
	seq      int64
	revision int64
	groups   map[string][]string // keys of members, by service and group
	changed  chan struct{}       // closed and replaced at each change
	faults   []*Fault
	limits   limiter
	slack    *slackWorld
	discord  *discordWorld
	telegram *telegramWorld
	client   *http.Client
}

// New returns a sandbox with one channel, chat or guild on each service.
func New(o Options) *Sandbox {
	ctx, stop := context.WithCancel(context.Background())
	s := &Sandbox{opts: o, log: o.Log, members: SampleMembers(), ctx: ctx, stop: stop, groups: map[string][]string{}, changed: make(chan struct{}), client: &http.Client{Timeout: 10 * time.Second}}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.opts.Heartbeat == 0 {
		s.opts.Heartbeat = discordHeartbeat
	}
	if s.opts.TriggerTTL == 0 {
		s.opts.TriggerTTL = 3 * time.Second
	}
	s.limits = limiter{off: o.NoLimits, buckets: map[string]*bucket{}}
	s.slack, s.discord, s.telegram = newSlackWorld(s), newDiscordWorld(s), newTelegramWorld(s)
	s.mux = http.NewServeMux()
	s.mux.Handle("/slack/", s.slack.routes())
	s.mux.Handle("/discord/", s.discord.routes())
	s.mux.Handle("/telegram/", s.telegram.routes())
	s.mux.Handle("/control/", s.controlRoutes())
	s.mux.Handle("/", pageRoutes())
	return s
}

// Close ends every connection.
func (s *Sandbox) Close() { s.stop() }

// DiscordPublicKey is the key with which Discord's HTTP requests are signed.
func (s *Sandbox) DiscordPublicKey() ed25519.PublicKey {
	return s.discord.key.Public().(ed25519.PublicKey)
}

// ServeHTTP implements http.Handler.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 26<<20) // Discord takes 25 MiB, the most of the three
	service, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if f := s.fault(service, "", "skew"); f != nil {
		w.Header().Set("Date", time.Now().Add(f.Delay).UTC().Format(http.TimeFormat))
	}
	s.mux.ServeHTTP(w, r)
}

// touch notes a change of what people see. The caller holds mu.
func (s *Sandbox) touch() {
	s.revision++
	close(s.changed)
	s.changed = make(chan struct{})
}

// next returns a number that was not used before. The caller holds mu.
func (s *Sandbox) next() int64 {
	s.seq++
	return s.seq
}

// Wait returns once ok holds, which is asked after each change with the lock
// not held, or ctx's error.
func (s *Sandbox) Wait(ctx context.Context, ok func() bool) error {
	for {
		s.mu.Lock()
		ch := s.changed
		s.mu.Unlock()
		if ok() {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ch:
		}
	}
}

func (s *Sandbox) member(key string) (Member, error) {
	for _, m := range s.members {
		if m.Key == key {
			return m, nil
		}
	}
	return Member{}, fmt.Errorf("there is no member %q", key)
}

// object is decoded JSON as a bot sent it.
type object = map[string]any

func str(o object, key string) string { v, _ := o[key].(string); return v }

func sub(o object, key string) object { v, _ := o[key].(object); return v }

func list(o object, key string) []any { v, _ := o[key].([]any); return v }

func number(o object, key string) (float64, bool) { v, ok := o[key].(float64); return v, ok }

func clone(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("sandbox: stored data does not marshal: " + err.Error())
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		panic("sandbox: stored data does not unmarshal: " + err.Error())
	}
	return out
}

func cloneObject(o object) object { v, _ := clone(o).(object); return v }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

func bearer(r *http.Request) string {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token
}

func runes(s string) int { return len([]rune(s)) }
