// Package discord connects nod to a Discord application through the gateway or
// signed HTTP requests.
//
// An interaction arrives at the gateway (gateway.go) or, signed, at the
// endpoint (endpoint.go). From there, inbound.go passes it to the sink and
// replies to the person; forms.go has the modals, and command.go the slash
// command. The poster sends and edits cards (post.go, edit.go).
//
// nod has its own code for the gateway connection, because the SDK cannot
// resume a session reliably, reconnects without a limit, and cannot decode the
// components of current modals. Requests use the SDK's RequestWithBucketID,
// because its structs have no nonce and cannot carry those components.
//
// The package calls Discord and receives its callbacks. The [bridge.Sink] of
// the daemon applies clicks, and package discordmsg builds messages and modals.
package discord

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// Options configures an application.
type Options struct {
	Name     string
	BotToken string
	// PublicKey is the application's key in hex. It selects HTTP mode. If it is
	// empty, the platform uses the gateway.
	PublicKey  string
	APIURL     string // replaces https://discord.com if set
	HTTPClient *http.Client
	NoPacing   bool // sends as fast as Discord's own limits allow
	// Turns shares the rate limits with other daemons. If it is nil, nothing
	// is delayed.
	Turns bridge.Turns
	// DeafAfter is the time without a heartbeat answer after which a connection
	// is replaced. Zero means defaultDeafAfter.
	DeafAfter time.Duration
	Log       *slog.Logger
}

// defaultDeafAfter is more than two heartbeat intervals of the gateway.
const defaultDeafAfter = 100 * time.Second

// Platform is one Discord application. It implements bridge.Platform.
type Platform struct {
	name     string
	health   *platforms.HealthBox
	places   *places
	poster   *poster
	people   *people
	commands *commands
	gateway  *gateway  // only in gateway mode
	endpoint *endpoint // only in HTTP mode; otherwise nil
	doctor   doctor
	api      *api
	seen     platforms.Seen // interactions
	log      *slog.Logger
}

var (
	_ bridge.Platform        = (*Platform)(nil)
	_ bridge.HealthReporter  = (*Platform)(nil)
	_ bridge.Threader        = (*Platform)(nil)
	_ bridge.SteeringNoter   = (*Platform)(nil)
	_ bridge.Exclusive       = (*Platform)(nil)
	_ bridge.Grouper         = (*Platform)(nil)
	_ bridge.ReminderPoster  = (*Platform)(nil)
	_ bridge.Linker          = (*Platform)(nil)
	_ bridge.Mentioner       = (*Platform)(nil)
	_ bridge.Diagnoser       = (*Platform)(nil)
	_ bridge.DirectMessenger = (*Platform)(nil)
)

// New returns an application. It does not touch the network.
func New(o Options) (*Platform, error) {
	if o.BotToken == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "discord: bot_token is empty").WithHint("set DISCORD_BOT_TOKEN")
	}
	key, err := parseKey(o.PublicKey)
	if err != nil {
		return nil, err
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("platform", o.Name)
	client := o.HTTPClient
	if client == nil {
		client = platforms.Client(platforms.CallTimeout)
	}
	health := &platforms.HealthBox{Log: log}
	a, err := newAPI(o.BotToken, o.APIURL, client, health)
	if err != nil {
		return nil, err
	}
	members := &people{api: a, log: log, roles: map[string]roles{}}
	p := &Platform{
		name: o.Name, health: health, api: a, log: log,
		places:   newPlaces(a),
		people:   members,
		commands: &commands{api: a, log: log},
		doctor:   doctor{api: a, people: members, name: o.Name, key: key},
	}
	p.poster = newPoster(a, p.places, o, log)
	p.gateway = &gateway{
		api: a, token: o.BotToken, sockets: &http.Client{Transport: client.Transport}, unpaced: o.NoPacing,
		deaf: cmp.Or(o.DeafAfter, defaultDeafAfter), health: health, commands: p.commands, log: log,
	}
	if key != nil {
		p.endpoint = &endpoint{key: key, log: log}
	}
	return p, nil
}

// parseKey returns the public key of HTTP mode, or nil if s is empty.
func parseKey(s string) (ed25519.PublicKey, error) {
	if s == "" {
		return nil, nil
	}
	key, err := hex.DecodeString(s)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, bridge.Errorf(bridge.CodeInvalid, "discord: invalid public_key").
			WithHint("copy it from the application's general information; it has 64 hex digits")
	}
	return key, nil
}

// Name implements bridge.Platform.
func (p *Platform) Name() string { return p.name }

// Health implements bridge.HealthReporter.
func (p *Platform) Health() bridge.Health { return p.health.Get() }

// ExclusiveKey implements bridge.Exclusive. Every gateway session receives every
// interaction, but only one may respond to it.
func (p *Platform) ExclusiveKey() string {
	if p.endpoint != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(p.gateway.token))
	return "discord:" + hex.EncodeToString(sum[:8])
}

// Check implements bridge.Platform.
func (p *Platform) Check(i bridge.Interaction) error {
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
		return strings.Repeat("0", bridge.TokenLength)
	})
	_, err := discordmsg.Build(v)
	return err
}

// Thread implements bridge.Threader: a thread on the session's first message.
func (p *Platform) Thread(
	ctx context.Context, d bridge.Destination, first bridge.MessageRef, title string,
) (bridge.Destination, error) {
	return p.places.thread(ctx, d, first, title)
}

// Post implements bridge.Platform. It is idempotent: nod records the message in
// parts before the message becomes a card, and for a few minutes, Discord
// answers a repeated nonce with the first message. A notice is complete after
// one request.
func (p *Platform) Post(
	ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts,
) (bridge.MessageRef, error) {
	return p.poster.post(ctx, d, v, parts)
}

// Update implements bridge.Platform.
func (p *Platform) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	return p.poster.update(ctx, ref, v, parts)
}

// Remind implements bridge.ReminderPoster. It posts a reply to the card. The
// reply mentions only r.Users, regardless of its text. Without Read Message
// History, it posts a separate message.
func (p *Platform) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	return p.poster.remind(ctx, card, r)
}

// Link implements bridge.Linker.
func (p *Platform) Link(ctx context.Context, ref bridge.MessageRef) string {
	return p.places.link(ctx, ref)
}

// Tell implements bridge.DirectMessenger.
func (p *Platform) Tell(ctx context.Context, user, text string) error {
	return p.poster.tell(ctx, user, text)
}

// Belongs implements bridge.Grouper. A group is GUILD/ROLE.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	return p.people.belongs(ctx, group, user)
}

// Direct implements bridge.Mentioner.
func (p *Platform) Direct(d bridge.Destination) bool { return strings.HasPrefix(d.Channel, "@") }

// DirectChannel implements bridge.Mentioner.
func (p *Platform) DirectChannel(user string) string { return "@" + user }

// Pings implements bridge.Mentioner. Discord notifies the members of a role
// only if anyone can mention it.
func (p *Platform) Pings(ctx context.Context, group string) bool { return p.people.pings(ctx, group) }

// Invite returns the URL that adds the bot to a server.
func (p *Platform) Invite(ctx context.Context) (string, error) { return p.doctor.invite(ctx) }

// Diagnose implements bridge.Diagnoser. It does not check intents, because nod
// needs no privileged intent.
func (p *Platform) Diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	return p.doctor.diagnose(ctx, needs)
}
