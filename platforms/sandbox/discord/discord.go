// Package discord emulates one Discord guild with one application: the REST
// routes that interactive bots call, the gateway and HTTP delivery, and what
// members do in the client. SDKs connect to it unchanged.
//
// Code belongs here if it is specific to Discord. Each file holds one family of
// routes, and limits.go holds every limit with its source. Code that applies to
// every chat service belongs to the core. The package does not know any bot or
// any other emulator.
//
// It has these additional faults: missing_permission removes the permission in
// Method, such as ATTACH_FILES, from the bot; freeze leaves heartbeats
// unanswered; old_messages makes new messages two hours old; endpoint gives the
// application an interactions endpoint; sessions leaves few gateway sessions.
package discord

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
)

// Name is the name of the service.
const Name = "discord"

// Credentials and places of a guild. They are not secret.
const (
	Token       = "sandbox-discord-token"
	Application = "200000000000000001"
	Guild       = "100000000000000001"
	Channel     = "100000000000000002"
	BotUser     = "200000000000000001"
	Role        = "400000000000000001" // has no members at first
)

const otherChannel = "100000000000000003"

// Options configures a guild.
type Options struct {
	// URL is the address that receives interactions. If it is empty, they go
	// through the gateway.
	URL       string
	Heartbeat time.Duration // interval of the gateway; zero means the real 41.25 seconds
	// Starts is the number of gateway sessions that a bot may start in the period
	// StartsPer before its token is reset. Zero means the real 1000 in 24 hours.
	Starts    int
	StartsPer time.Duration
}

// Emulator is one Discord guild with one application. It is safe for concurrent
// use.
type Emulator struct {
	*guild
	gateway *gateway
	client  client
	mux     *http.ServeMux
}

// New returns a guild with two channels.
func New(h *core.Hub, members []core.Account, o Options) *Emulator {
	if o.Heartbeat == 0 {
		o.Heartbeat = defaultHeartbeat
	}
	if o.Starts == 0 {
		o.Starts = defaultStarts
	}
	if o.StartsPer == 0 {
		o.StartsPer = defaultStartsPer
	}
	g := newGuild(core.NewBase(h, Name, members), o)
	gw := &gateway{guild: g, sessions: map[string]*session{}}
	inter := interactionsAPI{g}
	e := &Emulator{guild: g, gateway: gw, client: client{g, gw, inter}}
	e.mux = newREST(g, gw, inter).routes()
	return e
}

// ServeHTTP implements http.Handler.
func (e *Emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

// PublicKey returns the key that verifies interactions over HTTP.
func (e *Emulator) PublicKey() ed25519.PublicKey { return e.publicKey() }

// Key returns the private key that signs interactions. Tests forge interactions
// with it.
func (e *Emulator) Key() ed25519.PrivateKey { return e.key }

// Act implements core.Service. Members click buttons, choose from selects,
// submit and close modals, send commands and ask for suggestions, write and
// reply, moderate threads, and hide embeds.
func (e *Emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil {
		return core.Reaction{}, err
	}
	return e.client.act(ctx, m, a)
}

// Disconnect closes every gateway connection with a code. Zero asks the bot to
// reconnect.
func (e *Emulator) Disconnect(code int) error {
	e.gateway.disconnect(e.Context(), code)
	return nil
}
