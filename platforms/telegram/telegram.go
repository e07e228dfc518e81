// Package telegram connects nod to a Telegram bot by long polling or a webhook.
//
// The SDK supports Bot API 5.5 and is not maintained. nod makes all calls with
// its MakeRequest and UploadFiles. nod does not use its update loop, because
// the loop confirms updates before they are handled and prints the token.
//
// The package calls Telegram and takes its updates. The [bridge.Sink] of the
// daemon applies clicks, and package telegrammsg builds texts and keyboards.
// Start with inbound.go and post.go.
package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/telegrammsg"
)

// Options configures a bot.
type Options struct {
	Name  string
	Token string
	// WebhookURL selects the webhook. If it is empty, nod polls.
	WebhookURL string
	// APIURL is the address of a Bot API server, without the /bot… part. If it
	// is empty, nod uses Telegram's own server.
	APIURL     string
	HTTPClient *http.Client
	NoPacing   bool // use only the service's own rate limits
	// Turns shares the rate limits with other daemons. If it is nil, nothing
	// is delayed.
	Turns bridge.Turns
	Notes platforms.Notes // stores the purpose of typed replies
	Log   *slog.Logger
}

// Platform is one Telegram bot. Its parts implement bridge.Platform: the
// receiver takes the updates and the inbound handles them, the poster sends and
// edits cards, and the client makes every call to Telegram.
type Platform struct {
	name      string
	exclusive string // see ExclusiveKey
	health    *platforms.HealthBox

	receiver *receiver
	poster   *poster
	people   *people
	doctor   *doctor
}

var (
	_ bridge.Platform        = (*Platform)(nil)
	_ bridge.HealthReporter  = (*Platform)(nil)
	_ bridge.SteeringNoter   = (*Platform)(nil)
	_ bridge.Exclusive       = (*Platform)(nil)
	_ bridge.ReminderPoster  = (*Platform)(nil)
	_ bridge.Linker          = (*Platform)(nil)
	_ bridge.Mentioner       = (*Platform)(nil)
	_ bridge.DirectMessenger = (*Platform)(nil)
	_ bridge.Grouper         = (*Platform)(nil)
	_ bridge.Diagnoser       = (*Platform)(nil)
)

// New returns a bot. It does not touch the network.
func New(o Options) (*Platform, error) {
	id, _, ok := strings.Cut(o.Token, ":")
	if _, err := strconv.ParseInt(id, 10, 64); err != nil || !ok {
		return nil, bridge.Errorf(bridge.CodeInvalid, "telegram: invalid bot_token").
			WithHint("a token looks like 123456:ABC…; set TELEGRAM_BOT_TOKEN")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := compose(o)
	if o.WebhookURL == "" {
		p.exclusive = "telegram:" + id
	}
	return p, nil
}

// WebhookSecret returns the secret that Telegram sends with each update to the
// webhook. It depends only on the token, so all daemons of a bot use the same
// one.
func WebhookSecret(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("nod telegram webhook"))
	return hex.EncodeToString(mac.Sum(nil))
}

// compose connects the parts of a bot.
func compose(o Options) *Platform {
	log, health := o.Log.With("platform", o.Name), &platforms.HealthBox{Log: o.Log.With("platform", o.Name)}
	chats := &chats{platform: o.Name, notes: o.Notes, log: log}
	client := newClient(o, chats, health, log)
	store := &promptStore{platform: o.Name, notes: o.Notes, client: client, log: log}
	replies := &replies{client: client, log: log}
	poster := &poster{client: client, chats: chats, files: &files{client}, prompts: store, log: log}
	commands := &commands{client: client, chats: chats, replies: replies, log: log}
	in := &inbound{
		platform: o.Name, chats: chats, commands: commands, poster: poster, replies: replies, log: log,
		prompts: &prompts{client: client, chats: chats, store: store, poster: poster, replies: replies, log: log},
	}
	return &Platform{
		name: o.Name, health: health, poster: poster,
		receiver: &receiver{
			client: client, inbound: in, commands: commands, health: health, log: log,
			webhook: o.WebhookURL, secret: WebhookSecret(o.Token),
		},
		people: &people{client: client, chats: chats},
		doctor: &doctor{name: o.Name, client: client, webhook: o.WebhookURL},
	}
}

// Name implements bridge.Platform.
func (p *Platform) Name() string { return p.name }

// Health implements bridge.HealthReporter.
func (p *Platform) Health() bridge.Health { return p.health.Get() }

// ExclusiveKey implements bridge.Exclusive: Telegram ends the older of two
// polls.
func (p *Platform) ExclusiveKey() string { return p.exclusive }

// Check implements bridge.Platform.
func (p *Platform) Check(i bridge.Interaction) error {
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
		return strings.Repeat("0", bridge.TokenLength)
	})
	_, err := telegrammsg.Build(v)
	return err
}

// Run implements bridge.Platform.
func (p *Platform) Run(ctx context.Context, sink bridge.Sink) error { return p.receiver.run(ctx, sink) }

// Handler serves the webhook. It refuses everything without the secret token,
// and everything while polling.
func (p *Platform) Handler(sink bridge.Sink) http.Handler { return p.receiver.handler(sink) }

// Post implements bridge.Platform. Telegram has no idempotent post. If a
// response is lost, a second card appears, and the first card closes when
// someone clicks it.
func (p *Platform) Post(ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	return p.poster.post(ctx, d, v, parts)
}

// Update implements bridge.Platform. It also removes the prompts that the card
// no longer needs, and posts a pending card again in the supergroup that its
// group became.
func (p *Platform) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	return p.poster.update(ctx, ref, v, parts)
}

// Remind implements bridge.ReminderPoster. It replies to the card. The reply
// mentions only the users of the reminder, regardless of its text.
func (p *Platform) Remind(ctx context.Context, _ bridge.Destination, card bridge.MessageRef, r bridge.Reminder) error {
	return p.poster.remind(ctx, card, r)
}

// Link implements bridge.Linker. Only the messages of supergroups and channels
// have a URL.
func (p *Platform) Link(_ context.Context, ref bridge.MessageRef) string {
	id, ok := strings.CutPrefix(ref.Channel, supergroups)
	if !ok {
		return ""
	}
	return "https://t.me/c/" + id + "/" + ref.Message
}

// Tell implements bridge.DirectMessenger. Telegram refuses a message to a person
// who has not started the bot.
func (p *Platform) Tell(ctx context.Context, user, text string) error {
	return p.poster.tell(ctx, user, text)
}

// Belongs implements bridge.Grouper: a group is a chat, and its members are the
// administrators of the chat.
func (p *Platform) Belongs(ctx context.Context, group, user string) (bool, error) {
	return p.people.belongs(ctx, group, user)
}

// Direct implements bridge.Mentioner: the chat with a person has a positive ID.
func (p *Platform) Direct(d bridge.Destination) bool {
	return !strings.HasPrefix(d.Channel, "-") && !strings.HasPrefix(d.Channel, "@")
}

// DirectChannel implements bridge.Mentioner.
func (p *Platform) DirectChannel(user string) string { return user }

// Pings implements bridge.Mentioner: Telegram has no mention of a group.
func (p *Platform) Pings(context.Context, string) bool { return false }

// Diagnose implements bridge.Diagnoser. It does not ask for updates, because
// that would end the poll of a running daemon.
func (p *Platform) Diagnose(ctx context.Context, needs bridge.Needs) []bridge.Finding {
	return p.doctor.diagnose(ctx, needs)
}

// Introduce waits for the next message to the bot. It must not be called while a
// daemon polls.
func (p *Platform) Introduce(ctx context.Context) (platforms.Introduced, error) {
	return p.doctor.introduce(ctx)
}
