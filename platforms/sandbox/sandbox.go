package sandbox

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/discord"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
	"github.com/nodbridge/nod/platforms/sandbox/slack"
	"github.com/nodbridge/nod/platforms/sandbox/telegram"
)

// Types of members' actions, of state and of faults. See package core.
type (
	Action       = core.Action
	Reaction     = core.Reaction
	Place        = core.Place
	Control      = core.Control
	Fault        = core.Fault
	ChatState    = core.ChatState
	PrivateState = core.PrivateState
	ViewState    = core.ViewState
	Clock        = core.Clock
)

// Credentials and places of a sandbox. They are not secret.
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
	TelegramForum = telegram.Forum
	TelegramTopic = telegram.Topic
	TelegramSmall = telegram.Small
	TelegramGrown = telegram.Grown
	TelegramBotID = telegram.BotID
)

// Member is a person with an account on each service.
type Member struct {
	Key      string `json:"key"` // name of the member in the control API
	Name     string `json:"name"`
	Slack    string `json:"slack"`
	Discord  string `json:"discord"`
	Telegram int64  `json:"telegram"`
}

// SampleMembers returns the members of a new sandbox.
func SampleMembers() []Member {
	return []Member{
		{"ana", "Ana Lima", "U0ANA00001", "300000000000000001", 7001},
		{"bo", "Bo Chen", "U0BO000002", "300000000000000002", 7002},
		{"cy", "Cy Okafor", "U0CY000003", "300000000000000003", 7003},
		{"mal", "Mal Ory", "U0MAL00004", "300000000000000004", 7004},
	}
}

// Options configures a sandbox.
type Options struct {
	// NoLimits turns off the services' rate limits.
	NoLimits bool
	// Callbacks holds the addresses that receive interactions over HTTP, by
	// service. Without an address, Slack uses Socket Mode, and Discord uses the
	// gateway.
	Callbacks map[string]string
	// Clock measures the deadlines of bots, such as the 3 seconds for an answer
	// to a click. A nil Clock is the system clock.
	Clock *Clock
	// Heartbeat is the heartbeat interval of Discord's gateway. Zero means the
	// real value, 41.25 seconds.
	Heartbeat time.Duration
	// DiscordStarts is the number of gateway sessions that a bot may start in the
	// period DiscordStartsPer before Discord resets its token. Zero means the real
	// values, 1000 in 24 hours.
	DiscordStarts    int
	DiscordStartsPer time.Duration
	// Log records every request at level debug. A nil Log discards them.
	Log *slog.Logger
}

// Sandbox emulates the three services. It is safe for concurrent use. Close
// ends its connections.
type Sandbox struct {
	hub      *core.Hub
	log      *slog.Logger
	mux      *http.ServeMux
	members  []Member
	services map[string]core.Service
	slack    *slack.Emulator
	discord  *discord.Emulator
	telegram *telegram.Emulator
	story    Story // guarded by the lock of hub
	calls    atomic.Int64
}

// NewClock returns a clock that moves only when its owner advances it.
func NewClock() *Clock { return core.NewClock() }

// New returns a sandbox with one channel, chat or guild on each service.
func New(o Options) *Sandbox {
	s := &Sandbox{
		hub: core.NewHub(o.NoLimits), log: o.Log, members: SampleMembers(), mux: http.NewServeMux(), services: map[string]core.Service{},
	}
	s.hub.Clock = o.Clock
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, k := range Kinds {
		s.services[k.Name] = k.emulator(s.hub, o)
		s.mux.Handle("/"+k.Name+"/", s.services[k.Name])
	}
	s.slack, _ = s.services[slack.Name].(*slack.Emulator)
	s.discord, _ = s.services[discord.Name].(*discord.Emulator)
	s.telegram, _ = s.services[telegram.Name].(*telegram.Emulator)
	control := core.Controlled{Hub: s.hub, State: func() any { return s.State() }, Act: s.Act, Disconnect: s.Disconnect}
	s.mux.Handle("/control/", control.Handler())
	s.mux.Handle("/", pageRoutes())
	return s
}

// Calls returns the number of calls since the start, and the number of calls
// that the services refused because of their rate limits. Early is the longest
// time by which a refused call came too early.
func (s *Sandbox) Calls() (all, refused int, early time.Duration) {
	s.hub.Lock()
	defer s.hub.Unlock()
	refused, early = s.hub.Limits.Refused()
	return int(s.calls.Load()), refused, early
}

// Close ends every connection.
func (s *Sandbox) Close() { s.hub.Close() }

// maxBody is the maximum size of a request body: 25 MiB of files, which is
// Discord's limit, and their framing.
const maxBody = 26 << 20

// ServeHTTP implements http.Handler.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	s.calls.Add(1)
	s.log.Debug("request", "method", r.Method, "path", r.URL.Path)
	s.slack.At(r)
	service, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if f := s.hub.Fault(service, "", "skew"); f != nil {
		w.Header().Set("Date", time.Now().Add(f.Delay).UTC().Format(http.TimeFormat))
	}
	s.mux.ServeHTTP(w, r)
}

// Wait blocks until ok returns true. It calls ok after each change. It returns
// ctx.Err() if ctx ends first.
func (s *Sandbox) Wait(ctx context.Context, ok func() bool) error { return s.hub.Wait(ctx, ok) }

// Changed returns a channel that is closed at the next change that members see.
func (s *Sandbox) Changed() <-chan struct{} { return s.hub.Changed() }

// AddFault adds a rule.
func (s *Sandbox) AddFault(f Fault) { s.hub.AddFault(f) }

// ClearFaults removes every rule.
func (s *Sandbox) ClearFaults() { s.hub.ClearFaults() }

// Act lets a member do something. It returns when the app has answered or the
// service times out. It returns an error if the action is impossible, such as a
// click on a control that does not exist.
func (s *Sandbox) Act(ctx context.Context, a Action) (Reaction, error) {
	return s.on(a.Service).Act(ctx, a)
}

// Disconnect closes the connections of a service as the service does. Code is
// the close code of Discord's gateway. Zero asks bots to reconnect.
func (s *Sandbox) Disconnect(service string, code int) error { return s.on(service).Disconnect(code) }

// SetGroup sets the members of a group. On Slack, group is the ID of a user
// group, and on Discord, the ID of a role. On Telegram, it is the ID of a chat,
// and the members are its administrators.
func (s *Sandbox) SetGroup(service, group string, members ...string) {
	s.on(service).SetGroup(group, members...)
}

// AddChannels adds n channels to a service and returns their IDs. On Telegram,
// it adds groups. Call it at most once for each service.
func (s *Sandbox) AddChannels(service string, n int) []string {
	var out []string
	for k := range n {
		out = append(out, s.on(service).AddChannel(k))
	}
	return out
}

// State is a copy of everything that members see, for the page and for tests.
type State struct {
	Revision int64          `json:"revision"`
	Members  []Member       `json:"members"`
	Slack    slack.State    `json:"slack"`
	Discord  discord.State  `json:"discord"`
	Telegram telegram.State `json:"telegram"`
	Story    Story          `json:"story"`
}

// State returns a copy of everything that members see.
func (s *Sandbox) State() State {
	s.hub.Lock()
	defer s.hub.Unlock()
	return State{
		Revision: s.hub.Revision(), Members: slices.Clone(s.members),
		Slack: s.slack.State(), Discord: s.discord.State(), Telegram: s.telegram.State(),
		Story: s.story,
	}
}

// Chats returns a copy of the channels, threads and chats of a service.
func (s *Sandbox) Chats(service string) []ChatState {
	s.hub.Lock()
	defer s.hub.Unlock()
	return s.on(service).States()
}

// Connections returns the number of connections of bots to a service. On
// Telegram, it is 1 after a bot has polled or set a webhook.
func (s *Sandbox) Connections(service string) int {
	s.hub.Lock()
	defer s.hub.Unlock()
	return s.on(service).Connections()
}

// Modals returns a copy of the open modals in Slack.
func (s *Sandbox) Modals() []ViewState {
	s.hub.Lock()
	defer s.hub.Unlock()
	return s.slack.Modals()
}

// Message returns a copy of a message, including a private one, or nil.
func (s *Sandbox) Message(p Place) map[string]any {
	return s.on(p.Service).Message(p.Channel, p.Message)
}

// DiscordPublicKey returns the key that verifies Discord's HTTP requests.
func (s *Sandbox) DiscordPublicKey() ed25519.PublicKey { return s.discord.PublicKey() }

// DiscordKey returns the private key that signs requests. Tests forge requests
// with it.
func (s *Sandbox) DiscordKey() ed25519.PrivateKey { return s.discord.Key() }

// SignSlack signs a request body like Slack.
func SignSlack(h http.Header, secret string, at time.Time, body []byte) {
	slack.Sign(h, secret, at, body)
}

// SignDiscord signs a request body like Discord.
func SignDiscord(h http.Header, key ed25519.PrivateKey, at time.Time, body []byte) {
	discord.Sign(h, key, at, body)
}

// CheckSlackMessage returns the reasons why Slack would refuse the arguments of
// chat.postMessage and chat.update.
func CheckSlackMessage(encoded []byte) []string { return slack.CheckMessage(encoded) }

// CheckSlackHome returns the reasons why Slack would refuse a Home tab.
func CheckSlackHome(encoded []byte) []string { return slack.CheckHome(encoded) }

// CheckTelegramMessage returns the reason why Telegram would refuse the
// arguments of sendMessage, or "".
func CheckTelegramMessage(encoded []byte) string { return telegram.CheckMessage(encoded) }

// CheckSlackModal returns the reasons why Slack would refuse a view.
func CheckSlackModal(encoded []byte) []string { return slack.CheckModal(encoded) }

// CheckDiscordModal returns the reason why Discord would refuse the data of a
// modal response, or "".
func CheckDiscordModal(encoded []byte) string { return discord.CheckModal(encoded) }

// CheckDiscordMessage returns the reason why Discord would refuse the body of a
// message, or "".
func CheckDiscordMessage(m map[string]any) string { return discord.CheckMessage(m) }

// Texts returns every text of a message, including markup.
func Texts(m map[string]any) string { return raw.Texts(m) }
