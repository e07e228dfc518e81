// Package discord connects nod to a Discord application through the gateway or
// signed HTTP requests.
//
// The gateway connection is its own: the SDK cannot resume a session reliably,
// reconnects without a limit, and cannot decode the components of current
// modals. Requests use the SDK's RequestWithBucketID, because its structs have
// no nonce and cannot carry those components.
//
// The package calls Discord and receives its callbacks. The sink applies clicks,
// and package discordmsg builds messages and modals.
package discord

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

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
	NoPacing   bool          // sends as fast as Discord's own limits allow
	DeafAfter  time.Duration // without a heartbeat answer; 0: 100 s, over two of the gateway's intervals
	Log        *slog.Logger
}

// Platform is one Discord application. It implements bridge.Platform.
type Platform struct {
	name   string
	token  string
	key    ed25519.PublicKey
	client *http.Client
	// sockets connects to the gateway, whose URL is not rewritten.
	sockets *http.Client
	unpaced bool
	rest    *discordgo.Session
	deaf    time.Duration
	log     *slog.Logger
	health  platforms.HealthBox
	pacer   *platforms.Pacer
	edits   *platforms.Pacer // of old messages

	mu      sync.Mutex
	dms     map[string]string    // channel of a direct message by user
	seen    map[string]time.Time // interactions of HTTP mode, against replays
	threads map[string]bool      // threads of sessions
	// registered reports that the application's command is registered.
	registered bool
}

var (
	_ bridge.Platform  = (*Platform)(nil)
	_ bridge.Healther  = (*Platform)(nil)
	_ bridge.Threader  = (*Platform)(nil)
	_ bridge.Exclusive = (*Platform)(nil)
)

// New returns an application. It does not touch the network.
func New(o Options) (*Platform, error) {
	if o.BotToken == "" {
		return nil, bridge.Errorf(bridge.CodeInvalid, "discord: bot_token is empty").WithHint("set DISCORD_BOT_TOKEN")
	}
	p := &Platform{
		name: o.Name, token: o.BotToken, deaf: o.DeafAfter, log: o.Log, dms: map[string]string{}, seen: map[string]time.Time{},
		threads: map[string]bool{},
		// A channel takes about five messages in five seconds. The headers have
		// the exact limit; the pacer avoids most rate-limited requests.
		pacer: platforms.NewPacer(time.Second, 5, o.NoPacing),
		edits: platforms.NewPacer(oldEditsEvery, oldEdits, o.NoPacing),
	}
	if o.PublicKey != "" {
		key, err := hex.DecodeString(o.PublicKey)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return nil, bridge.Errorf(bridge.CodeInvalid, "discord: public_key is not a key").WithHint("copy it from the application's general information; it has 64 hex digits")
		}
		p.key = key
	}
	if p.deaf == 0 {
		p.deaf = 100 * time.Second
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	c := o.HTTPClient
	if c == nil {
		c = platforms.Client()
	}
	p.sockets, p.unpaced = &http.Client{Transport: c.Transport}, o.NoPacing
	copied := *c
	if o.APIURL != "" {
		target, err := url.Parse(o.APIURL)
		if err != nil || target.Host == "" {
			return nil, bridge.Errorf(bridge.CodeInvalid, "discord: api_url is not a URL")
		}
		copied.Transport = elsewhere{base: c.Transport, target: target}
	}
	p.client = &copied
	s, err := p.newREST()
	if err != nil {
		return nil, err
	}
	p.rest = s
	return p, nil
}

// elsewhere redirects requests for discord.com to another server. The SDK keeps
// its addresses in package variables, which a process could set only once.
type elsewhere struct {
	base   http.RoundTripper
	target *url.URL
}

// RoundTrip implements http.RoundTripper.
func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = e.target.Scheme, e.target.Host, e.target.Host
	r.URL.Path = strings.TrimRight(e.target.Path, "/") + r.URL.Path
	base := e.base
	if base == nil {
		base = http.DefaultTransport
	}
	return base.RoundTrip(r)
}

// newREST returns a client of the API that does not retry, wait or cache on its
// own.
func (p *Platform) newREST() (*discordgo.Session, error) {
	s, err := discordgo.New("Bot " + p.token)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "discord: session")
	}
	s.Client = p.client
	s.StateEnabled = false
	s.ShouldRetryOnRateLimit = false
	s.MaxRestRetries = 0
	s.LogLevel = -1 // it prints what it sends
	return s, nil
}

// Name implements bridge.Platform.
func (p *Platform) Name() string { return p.name }

// Health implements bridge.Healther.
func (p *Platform) Health() bridge.Health { return p.health.Get() }

// ExclusiveKey implements bridge.Exclusive. Every gateway session receives every
// interaction, but only one may respond to it.
func (p *Platform) ExclusiveKey() string {
	if p.key != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(p.token))
	return "discord:" + hex.EncodeToString(sum[:8])
}

// Check implements bridge.Platform.
func (p *Platform) Check(i bridge.Interaction, _ bridge.Destination) error {
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(c bridge.Control) string {
		return strings.Repeat("0", bridge.TokenLength)
	})
	_, err := discordmsg.Build(v)
	return err
}

// channel returns the ID of the channel or thread of a destination. If the
// destination is "@" and a user ID, it opens the direct message channel.
func (p *Platform) channel(ctx context.Context, d bridge.Destination) (string, error) {
	if d.Thread != "" {
		return d.Thread, nil
	}
	user, direct := strings.CutPrefix(d.Channel, "@")
	if !direct {
		return d.Channel, nil
	}
	p.mu.Lock()
	id := p.dms[user]
	p.mu.Unlock()
	if id != "" {
		return id, nil
	}
	var out struct {
		ID string `json:"id"`
	}
	if err := p.do(ctx, http.MethodPost, discordgo.EndpointUserChannels("@me"), map[string]string{"recipient_id": user}, &out); err != nil {
		return "", err
	}
	p.mu.Lock()
	p.dms[user] = out.ID
	p.mu.Unlock()
	return out.ID, nil
}

func (p *Platform) do(ctx context.Context, method, endpoint string, args, out any) error {
	raw, err := p.rest.RequestWithBucketID(method, endpoint, args, bucket(endpoint), discordgo.WithContext(ctx))
	return p.finish(endpoint, raw, err, out)
}

// callbackBuckets limits how many interactions get a response at the same time:
// the SDK sends the requests of a bucket one after the other.
const callbackBuckets = 64

// bucket returns the SDK's rate limit bucket for an endpoint. Interaction
// callbacks share a fixed number of buckets, because the SDK never frees one.
func bucket(endpoint string) string {
	if !strings.Contains(endpoint, "/interactions/") {
		return endpoint
	}
	h := fnv.New32a()
	h.Write([]byte(endpoint))
	return "interactions " + strconv.Itoa(int(h.Sum32()%callbackBuckets))
}

// send makes a request that may carry a file.
func (p *Platform) send(ctx context.Context, method, endpoint string, args any, f *discordmsg.File, out any) error {
	if f == nil {
		return p.do(ctx, method, endpoint, args, out)
	}
	kind, raw, err := discordgo.MultipartBodyWithJSON(args, []*discordgo.File{{Name: f.Name, ContentType: "text/plain; charset=utf-8", Reader: bytes.NewReader(f.Data)}})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "discord: multipart")
	}
	answer, err := p.rest.RequestRaw(method, endpoint, kind, raw, bucket(endpoint), 0, discordgo.WithContext(ctx))
	return p.finish(endpoint, answer, err, out)
}

func (p *Platform) finish(endpoint string, raw []byte, err error, out any) error {
	if err != nil {
		return p.classify(endpoint, err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "discord: invalid response")
	}
	return nil
}

// classify converts an error of the API to a bridge error.
func (p *Platform) classify(endpoint string, err error) error {
	if limited, ok := errors.AsType[*discordgo.RateLimitError](err); ok {
		wait := time.Second
		if limited.TooManyRequests != nil {
			wait = max(wait, limited.RetryAfter)
		}
		if tooManyEdits(err) {
			wait = max(wait, oldEditsPause)
		}
		e := bridge.Wrap(bridge.CodeRateLimited, err, "discord: rate limited")
		e.RetryAfter = wait
		return e
	}
	re, ok := errors.AsType[*discordgo.RESTError](err)
	if !ok {
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return bridge.Errorf(bridge.CodeUnavailable, "discord: the response is not JSON") // Cloudflare's
		}
		return platforms.NetworkError("discord", err)
	}
	status, code, text := re.Response.StatusCode, 0, ""
	if re.Message != nil {
		code, text = re.Message.Code, re.Message.Message
	}
	switch {
	case status == http.StatusUnauthorized && code != 50027 || code == 40001 || code == 50014:
		p.health.Refuse("the token is refused")
		return bridge.Wrap(bridge.CodeForbidden, err, "discord: the token is refused").WithHint("reset the bot's token and set DISCORD_BOT_TOKEN")
	case status == http.StatusTooManyRequests, code == 20028, code == 20029, code == 20016:
		e := bridge.Wrap(bridge.CodeRateLimited, err, "discord: %s", text)
		e.RetryAfter = 20 * time.Second // Discord sends no time for these
		return e
	case status >= 500 || code == 130000:
		return bridge.Wrap(bridge.CodeUnavailable, err, "discord: HTTP %d", status)
	case status == http.StatusNotFound:
		return bridge.Wrap(bridge.CodeNotFound, err, "discord: %s", text)
	case code == codeArchived || code == codeLocked:
		return bridge.Wrap(bridge.CodeForbidden, err, "discord: %s", text).WithHint("unlock the thread")
	case status == http.StatusForbidden:
		return bridge.Wrap(bridge.CodeForbidden, err, "discord: %s", text).WithHint("run nod doctor: it names the permission that the bot lacks there")
	}
	return bridge.Wrap(bridge.CodeInvalid, err, "discord: HTTP %d %d %s", status, code, text)
}
