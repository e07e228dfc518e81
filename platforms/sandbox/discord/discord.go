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
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"net/http"
	"time"

	"github.com/nodbridge/nod/platforms/sandbox/core"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
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
// use. The lock of the hub guards its state.
type Emulator struct {
	*core.Base
	mux          *http.ServeMux
	opts         Options
	key          ed25519.PrivateKey
	sessions     map[string]*session // gateway sessions
	gatewayURL   string              // address of the last connection; bots resume there
	channels     map[string]*channel
	interactions map[string]*interaction   // by token
	modals       map[string]*modal         // by id
	suggested    map[string]map[string]any // last suggestions for each member: values by name
	nonces       map[string]string         // IDs of messages by nonce
	files        core.Files
	attached     map[string][]raw.Object // attachments by message, including those in components
	noEmbeds     map[string]bool         // users whose client hides embeds
	commands     map[string]raw.Object   // by name
	starts       starts
	lastID       int64
}

// New returns a guild with two channels.
func New(h *core.Hub, members []core.Account, o Options) *Emulator {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic("sandbox: no random numbers: " + err.Error())
	}
	o.Heartbeat, o.Starts = cmp.Or(o.Heartbeat, defaultHeartbeat), cmp.Or(o.Starts, defaultStarts)
	o.StartsPer = cmp.Or(o.StartsPer, defaultStartsPer)
	e := &Emulator{
		Base: core.NewBase(h, Name, members), mux: http.NewServeMux(), opts: o, key: key, sessions: map[string]*session{},
		channels: map[string]*channel{}, interactions: map[string]*interaction{}, modals: map[string]*modal{},
		suggested: map[string]map[string]any{}, nonces: map[string]string{}, commands: map[string]raw.Object{},
		attached: map[string][]raw.Object{}, noEmbeds: map[string]bool{},
	}
	e.add(Channel, "deploys", textChannel)
	e.add(otherChannel, "oncall", textChannel)
	e.addRoutes()
	return e
}

// ServeHTTP implements http.Handler.
func (e *Emulator) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.mux.ServeHTTP(w, r) }

// PublicKey returns the key that verifies interactions over HTTP.
func (e *Emulator) PublicKey() ed25519.PublicKey { return e.key.Public().(ed25519.PublicKey) }

// Key returns the private key that signs interactions. Tests forge interactions
// with it.
func (e *Emulator) Key() ed25519.PrivateKey { return e.key }
