// Package discord emulates one Discord guild with one application: the REST
// routes that interactive bots call, the gateway and HTTP delivery, and what
// members do in the client. SDKs connect to it unchanged.
//
// What belongs here is what Discord does. One file holds one family of routes;
// limits.go holds every limit with its source. What every chat service has
// belongs to the core. The package knows no bot and no other emulator.
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

// Credentials and places of a guild. They are no secrets.
const (
	Token       = "sandbox-discord-token"
	Application = "200000000000000001"
	Guild       = "100000000000000001"
	Channel     = "100000000000000002"
	BotUser     = "200000000000000001"
	Role        = "400000000000000001" // nobody has it at first
)

const otherChannel = "100000000000000003"

// Options configures a guild.
type Options struct {
	// URL is where interactions are sent. If it is empty, they go through the
	// gateway.
	URL         string
	ResponseTTL time.Duration // of the first response; zero means 3 seconds
	Heartbeat   time.Duration // of the gateway; zero means 41.25 seconds, as the real one says
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
	if o.ResponseTTL == 0 {
		o.ResponseTTL = defaultResponseTTL
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

// PublicKey is the key with which interactions over HTTP are signed.
func (e *Emulator) PublicKey() ed25519.PublicKey { return e.publicKey() }

// Key is the private key with which interactions are signed; tests forge with
// it.
func (e *Emulator) Key() ed25519.PrivateKey { return e.key }

// Act implements core.Service. Members press buttons, choose from selects,
// submit and close modals, give commands, and hide embeds.
func (e *Emulator) Act(ctx context.Context, a core.Action) (core.Reaction, error) {
	m, err := e.Member(a.As)
	if err != nil {
		return core.Reaction{}, err
	}
	return e.client.act(ctx, m, a)
}

// Disconnect closes every gateway connection with a code; 0 asks to reconnect.
func (e *Emulator) Disconnect(code int) error {
	e.gateway.disconnect(e.Context(), code)
	return nil
}
