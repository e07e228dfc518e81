package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/discordmsg"
)

// api calls Discord's HTTP API as the bot. Its errors are bridge errors.
type api struct {
	token  string
	rest   *discordgo.Session // computes permissions
	client *http.Client
	health *platforms.HealthBox // called when Discord refuses the token
}

// newAPI returns a client that does not retry or wait on its own. If
// apiURL is not empty, it replaces https://discord.com.
func newAPI(token, apiURL string, c *http.Client, health *platforms.HealthBox) (*api, error) {
	copied := *c
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
	s.LogLevel = -1 // the SDK logs the requests that it sends
	return &api{token: token, rest: s, client: &copied, health: health}, nil
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

// maxAnswer is the maximum size of a response: a message with a card.
const maxAnswer = 8 << 20

// userAgent is in the form that Discord demands.
const userAgent = "DiscordBot (https://github.com/nodbridge/nod, 1)"

// do makes a request, and decodes the response into out unless out is nil.
func (a *api) do(ctx context.Context, method, endpoint string, args, out any) error {
	var body []byte
	if args != nil {
		var err error
		if body, err = json.Marshal(args); err != nil {
			return bridge.Wrap(bridge.CodeInternal, err, "discord: request")
		}
	}
	return a.request(ctx, method, endpoint, "application/json", body, out)
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
	return a.request(ctx, method, endpoint, kind, raw, out)
}

// request makes a request. The SDK's own requests block each other, ignore the
// wait time in a response that is not JSON, and lack a code for some errors.
func (a *api) request(ctx context.Context, method, endpoint, kind string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, endpoint, bytes.NewReader(body))
	if err != nil {
		return bridge.Wrap(bridge.CodeInternal, err, "discord: request")
	}
	req.Header.Set("Authorization", "Bot "+a.token)
	req.Header.Set("User-Agent", userAgent)
	if len(body) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return platforms.NetworkError("discord", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return platforms.NetworkError("discord", err)
	}
	meterOf(ctx).read(resp.Header)
	if resp.StatusCode >= http.StatusMultipleChoices {
		return a.classify(resp, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return bridge.Wrap(bridge.CodeUnavailable, err, "discord: invalid response")
	}
	return nil
}

// application is the response of Get Current Application. The SDK's type has no
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
