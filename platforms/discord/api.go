package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// api calls Discord's HTTP API as the bot. Its errors are bridge errors.
type api struct {
	rest   *discordgo.Session
	client *http.Client         // sends the requests of rest
	health *platforms.HealthBox // told if Discord refuses the token
}

// newAPI returns a client that does not retry, wait or cache on its own. If
// apiURL is not empty, it replaces https://discord.com.
func newAPI(token, apiURL string, c *http.Client, health *platforms.HealthBox) (*api, error) {
	copied := *c
	copied.Transport = headers{c.Transport}
	if apiURL != "" {
		target, err := url.Parse(apiURL)
		if err != nil || target.Host == "" {
			return nil, bridge.Errorf(bridge.CodeInvalid, "discord: the address of the API is not a URL")
		}
		copied.Transport = elsewhere{base: copied.Transport, target: target}
	}
	s, err := discordgo.New("Bot " + token)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "discord: session")
	}
	s.Client = &copied
	s.StateEnabled = false
	s.ShouldRetryOnRateLimit = false
	s.MaxRestRetries = 0
	s.LogLevel = -1 // it prints what it sends
	return &api{rest: s, client: &copied, health: health}, nil
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

// do makes a request, and decodes the response into out unless out is nil.
func (a *api) do(ctx context.Context, method, endpoint string, args, out any) error {
	raw, err := a.rest.RequestWithBucketID(method, endpoint, args, bucket(endpoint), discordgo.WithContext(ctx))
	return a.finish(ctx, raw, err, out)
}

// send makes a request that may carry a file.
func (a *api) send(ctx context.Context, method, endpoint string, args any, f *discordmsg.File, out any) error {
	if f == nil {
		return a.do(ctx, method, endpoint, args, out)
	}
	file := &discordgo.File{Name: f.Name, ContentType: "text/plain; charset=utf-8", Reader: bytes.NewReader(f.Data)}
	kind, raw, err := discordgo.MultipartBodyWithJSON(args, []*discordgo.File{file})
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "discord: multipart")
	}
	answer, err := a.rest.RequestRaw(method, endpoint, kind, raw, bucket(endpoint), 0, discordgo.WithContext(ctx))
	return a.finish(ctx, answer, err, out)
}

// finish decodes a response, or classifies the error of the request.
func (a *api) finish(ctx context.Context, raw []byte, err error, out any) error {
	if err != nil {
		if refused(err) {
			a.health.Refuse("the token is refused")
		}
		if meterOf(ctx).all {
			err = fmt.Errorf("%w: %w", platforms.ErrAllChannels, err)
		}
		return classify(err)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "discord: invalid response")
	}
	return nil
}

// application is the answer of Get Current Application. The SDK's type has no
// endpoint.
type application struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Key      string  `json:"verify_key"`
	Endpoint *string `json:"interactions_endpoint_url"`
}

func (a *api) application(ctx context.Context) (application, error) {
	var app application
	err := a.do(ctx, http.MethodGet, discordgo.EndpointApplication("@me"), nil, &app)
	return app, err
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
