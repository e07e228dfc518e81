package sandbox

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// What members do and see, and how services misbehave. See package core.
type (
	Action       = core.Action
	Reaction     = core.Reaction
	Place        = core.Place
	Control      = core.Control
	Fault        = core.Fault
	ChatState    = core.ChatState
	PrivateState = core.PrivateState
	ViewState    = core.ViewState
)

// Credentials and places of a sandbox. They are no secrets.
const (
	SlackBotToken      = slack.BotToken
	SlackAppToken      = slack.AppToken
	SlackSigningSecret = slack.SigningSecret
	SlackChannel       = slack.Channel
	SlackBotUser       = slack.BotUser
	SlackUserGroup     = slack.UserGroup

	DiscordToken       = discord.Token
	DiscordApplication = discord.Application
	DiscordGuild       = discord.Guild
	DiscordChannel     = discord.Channel
	DiscordBotUser     = discord.BotUser
	DiscordRole        = discord.Role

	TelegramToken = telegram.Token
	TelegramChat  = telegram.Chat
	TelegramBotID = telegram.BotID
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

// accounts are the members as one service knows them.
func accounts(members []Member, id func(Member) string) []core.Account {
	out := make([]core.Account, len(members))
	for n, m := range members {
		out[n] = core.Account{Key: m.Key, Name: m.Name, ID: id(m)}
	}
	return out
}

// Options configures a sandbox.
type Options struct {
	// NoLimits switches the services' rate limits off.
	NoLimits bool
	// Slack, Discord and Telegram callback URLs select the HTTP mode of each;
	// empty: Socket Mode, gateway, long polling.
	SlackURL, DiscordURL string
	TriggerTTL           time.Duration // of Slack triggers and Discord's first response; 0: 3 s
	Heartbeat            time.Duration // of Discord's gateway; 0: 41.25 s, as the real one says
	// Log records every request at the level debug. Nil discards them.
	Log *slog.Logger
}

// Sandbox is the three services. It is safe for concurrent use; Close ends its
// connections.
type Sandbox struct {
	hub      *core.Hub
	log      *slog.Logger
	mux      *http.ServeMux
	members  []Member
	services map[string]core.Service
	slack    *slack.Emulator
	discord  *discord.Emulator
	telegram *telegram.Emulator
}

// New returns a sandbox with one channel, chat or guild on each service.
func New(o Options) *Sandbox {
	hub, members := core.NewHub(o.NoLimits), SampleMembers()
	s := &Sandbox{
		hub: hub, log: o.Log, members: members, mux: http.NewServeMux(), services: map[string]core.Service{},
		slack: slack.New(hub, accounts(members, func(m Member) string { return m.Slack }),
			slack.Options{URL: o.SlackURL, TriggerTTL: o.TriggerTTL}),
		discord: discord.New(hub, accounts(members, func(m Member) string { return m.Discord }),
			discord.Options{URL: o.DiscordURL, ResponseTTL: o.TriggerTTL, Heartbeat: o.Heartbeat}),
		telegram: telegram.New(hub, accounts(members, func(m Member) string { return strconv.FormatInt(m.Telegram, 10) })),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, service := range []core.Service{s.slack, s.discord, s.telegram} {
		s.services[service.Name()] = service
		s.mux.Handle("/"+service.Name()+"/", service)
	}
	control := core.Controlled{Hub: hub, State: func() any { return s.State() }, Act: s.Act, Disconnect: s.Disconnect}
	s.mux.Handle("/control/", control.Handler())
	s.mux.Handle("/", pageRoutes())
	return s
}

// Close ends every connection.
func (s *Sandbox) Close() { s.hub.Close() }

// maxBody is what the most generous of the services takes: Discord's 25 MiB of
// files, and their frame.
const maxBody = 26 << 20

// ServeHTTP implements http.Handler.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.log.Debug("request", "method", r.Method, "path", r.URL.Path)
	service, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if f := s.hub.Fault(service, "", "skew"); f != nil {
		w.Header().Set("Date", time.Now().Add(f.Delay).UTC().Format(http.TimeFormat))
	}
	s.mux.ServeHTTP(w, r)
}

// Wait returns once ok holds, which is asked after each change with the lock
// not held, or ctx's error.
func (s *Sandbox) Wait(ctx context.Context, ok func() bool) error { return s.hub.Wait(ctx, ok) }

// AddFault adds a rule.
func (s *Sandbox) AddFault(f Fault) { s.hub.AddFault(f) }

// ClearFaults removes every rule.
func (s *Sandbox) ClearFaults() { s.hub.ClearFaults() }

// Act lets a member do something and returns once the app has answered, or
// the service's patience ends. The error says that the action is impossible,
// such as pressing what is not there.
func (s *Sandbox) Act(ctx context.Context, a Action) (Reaction, error) {
	service, known := s.services[a.Service]
	if !known {
		return Reaction{}, fmt.Errorf("there is no service %q", a.Service)
	}
	return service.Act(ctx, a)
}

// Disconnect ends the connections of a service as the service itself does.
// Code is the close code of Discord's gateway; 0 asks to reconnect.
func (s *Sandbox) Disconnect(service string, code int) error {
	if on, known := s.services[service]; known {
		return on.Disconnect(code)
	}
	return fmt.Errorf("%s has no connections to end", service)
}

// SetGroup says who is in a group: of Slack a user group's id, of Discord a
// role's, of Telegram the chat whose administrators they are.
func (s *Sandbox) SetGroup(service, group string, members ...string) {
	if on, known := s.services[service]; known {
		on.SetGroup(group, members...)
	}
}

// State is everything people see, for the page and for tests.
type State struct {
	Revision int64          `json:"revision"`
	Members  []Member       `json:"members"`
	Slack    slack.State    `json:"slack"`
	Discord  discord.State  `json:"discord"`
	Telegram telegram.State `json:"telegram"`
}

// State returns a copy of what people see.
func (s *Sandbox) State() State {
	s.hub.Lock()
	defer s.hub.Unlock()
	return State{
		Revision: s.hub.Revision(), Members: slices.Clone(s.members),
		Slack: s.slack.State(), Discord: s.discord.State(), Telegram: s.telegram.State(),
	}
}

// Message returns a message, also a private one; nil if there is none.
func (s *Sandbox) Message(p Place) map[string]any {
	if on, known := s.services[p.Service]; known {
		return on.Message(p.Channel, p.Message)
	}
	return nil
}

// DiscordPublicKey is the key with which Discord's HTTP requests are signed.
func (s *Sandbox) DiscordPublicKey() ed25519.PublicKey { return s.discord.PublicKey() }

// DiscordKey is the private key with which requests are signed; tests forge
// with it.
func (s *Sandbox) DiscordKey() ed25519.PrivateKey { return s.discord.Key() }

// SignSlack signs a request body as Slack does.
func SignSlack(h http.Header, secret string, at time.Time, body []byte) {
	slack.Sign(h, secret, at, body)
}

// SignDiscord signs a request body as Discord does.
func SignDiscord(h http.Header, key ed25519.PrivateKey, at time.Time, body []byte) {
	discord.Sign(h, key, at, body)
}

// CheckSlackModal reports what Slack would refuse in a view; empty if nothing.
func CheckSlackModal(encoded []byte) []string { return slack.CheckModal(encoded) }

// CheckDiscordModal reports what Discord would refuse in the data of a modal
// response; empty if nothing.
func CheckDiscordModal(encoded []byte) string { return discord.CheckModal(encoded) }

// CheckDiscordMessage reports what Discord would refuse in the body of a
// message. It is empty if Discord takes it.
func CheckDiscordMessage(m map[string]any) string { return discord.CheckMessage(m) }

// Texts is everything that is written on a message, markup included.
func Texts(m map[string]any) string { return raw.Texts(m) }

// Controls lists what can be pressed on a message.
func Controls(service string, m map[string]any) []Control {
	switch service {
	case slack.Name:
		return slack.Controls(m)
	case discord.Name:
		return discord.Controls(m)
	case telegram.Name:
		return telegram.Controls(m)
	}
	return nil
}
