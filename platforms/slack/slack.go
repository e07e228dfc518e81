// Package slack connects nod to a Slack workspace through Socket Mode or
// signed HTTP requests.
//
// The package decodes interaction payloads itself. The SDK drops a whole click
// if the message contains an element type that it does not know, and it cannot
// distinguish an input that was left empty from one that was not shown.
//
// The package calls Slack and receives its callbacks. The sink applies clicks,
// and package slackmsg builds messages and modals.
package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
	"github.com/nodbridge/nod/render/slackmsg"
)

// Options configures a workspace.
type Options struct {
	Name          string
	BotToken      string // xoxb-
	AppToken      string // xapp-; set for Socket Mode
	SigningSecret string // set for HTTP mode, and only if AppToken is empty
	APIURL        string // with a trailing slash; if empty, Slack's own
	HTTPClient    *http.Client
	NoPacing      bool // send without delay until Slack limits the rate
	Log           *slog.Logger
}

// Platform is one Slack workspace. It implements bridge.Platform.
type Platform struct {
	name   string
	api    *slack.Client
	http   *http.Client
	base   string // of the Web API
	secret string
	socket bool
	log    *slog.Logger
	health platforms.HealthBox
	pacer  *platforms.Pacer

	mu   sync.Mutex
	team string // address of the workspace, once it is known
}

var (
	_ bridge.Platform = (*Platform)(nil)
	_ bridge.Healther = (*Platform)(nil)
	_ bridge.Threader = (*Platform)(nil)
	_ bridge.Notifier = (*Platform)(nil)
)

// New returns a workspace. It makes no network calls.
func New(o Options) (*Platform, error) {
	switch {
	case o.BotToken == "":
		return nil, bridge.Errorf(bridge.CodeInvalid, "slack: bot_token: required").WithHint("set SLACK_BOT_TOKEN to the token that starts with xoxb-")
	case (o.AppToken == "") == (o.SigningSecret == ""):
		return nil, bridge.Errorf(bridge.CodeInvalid, "slack: exactly one of app_token (Socket Mode) and signing_secret (HTTP mode) is required")
	}
	web := client(o.HTTPClient)
	opts := []slack.Option{slack.OptionHTTPClient(web)}
	if o.AppToken != "" {
		opts = append(opts, slack.OptionAppLevelToken(o.AppToken))
	}
	if o.APIURL != "" {
		opts = append(opts, slack.OptionAPIURL(o.APIURL))
	}
	p := &Platform{
		name: o.Name, http: web, base: cmp.Or(o.APIURL, slack.APIURL), api: slack.New(o.BotToken, opts...), secret: o.SigningSecret, socket: o.AppToken != "", log: o.Log,
		// chat.postMessage takes about one call per second and channel, with
		// short bursts.
		pacer: platforms.NewPacer(time.Second, 5, o.NoPacing),
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p, nil
}

func client(c *http.Client) *http.Client {
	if c == nil {
		return platforms.Client()
	}
	return c
}

// Name implements bridge.Platform.
func (p *Platform) Name() string { return p.name }

// Health implements bridge.Healther.
func (p *Platform) Health() bridge.Health { return p.health.Get() }

// Check implements bridge.Platform.
func (p *Platform) Check(i bridge.Interaction, _ bridge.Destination) error {
	v := bridge.NewView(bridge.Record{Interaction: i, State: bridge.StatePending}, 0, nil, func(bridge.Control) string {
		return fmt.Sprintf("%0*d", bridge.TokenLength, 0)
	})
	_, err := slackmsg.Build(v)
	return err
}

// Post implements bridge.Platform. Slack cannot recognize a repeated post, so a
// message is posted twice if the first response is lost.
func (p *Platform) Post(ctx context.Context, d bridge.Destination, v bridge.View, parts *bridge.Parts) (bridge.MessageRef, error) {
	m, err := slackmsg.Build(v)
	if err != nil {
		return bridge.MessageRef{}, err
	}
	if err := p.sendParts(ctx, d, v, m, parts); err != nil {
		return bridge.MessageRef{}, err
	}
	return p.send(ctx, d, m, platforms.NextTurn(v.Record.Interaction, len(m.Parts)))
}

func message(m slackmsg.Message) []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(m.Text, false), slack.MsgOptionBlocks(m.Blocks...), slack.MsgOptionParse(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// Update implements bridge.Platform. While parts are missing, the card has no
// controls, not even those that it had before.
func (p *Platform) Update(ctx context.Context, ref bridge.MessageRef, v bridge.View, parts *bridge.Parts) error {
	m, err := slackmsg.Build(v)
	if err != nil {
		return err
	}
	if len(parts.Sent()) >= len(m.Parts) {
		return p.edit(ctx, ref, v, m)
	}
	if len(parts.Sent()) == 0 || parts.Closed() {
		first, err := slackmsg.Build(v.Unfinished())
		if err != nil {
			return err
		}
		if err := p.edit(ctx, ref, v, first); err != nil || parts.Closed() {
			return err
		}
	}
	if err := p.sendParts(ctx, bridge.Destination{Channel: ref.Channel, Thread: ref.Thread}, v, m, parts); err != nil {
		return err
	}
	return p.edit(ctx, ref, v, m)
}

// Thread implements bridge.Threader. The first message of a session is the root
// of its thread.
func (p *Platform) Thread(_ context.Context, d bridge.Destination, first bridge.MessageRef, _ string) (bridge.Destination, error) {
	d.Thread = first.Message
	if first.Thread != "" {
		d.Thread = first.Thread
	}
	return d, nil
}

// Notify implements bridge.Notifier. Slack does not guarantee that an
// ephemeral message arrives.
func (p *Platform) Notify(ctx context.Context, ref bridge.MessageRef, user, text string) error {
	notice, blocks := slackmsg.Note(text)
	opts := []slack.MsgOption{slack.MsgOptionText(notice, false), slack.MsgOptionBlocks(blocks...), slack.MsgOptionParse(false)}
	if ref.Thread != "" {
		opts = append(opts, slack.MsgOptionTS(ref.Thread))
	}
	_, err := p.api.PostEphemeralContext(ctx, ref.Channel, user, opts...)
	return p.classify(ref.Channel, err)
}

// Errors that an administrator must resolve. Slack's method pages list them.
var fatal = []string{
	"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "missing_scope", "not_allowed_token_type",
	"no_permission", "access_denied", "ekm_access_denied", "two_factor_setup_required", "team_access_not_granted",
	"enterprise_is_restricted", "forbidden_team", "link_disabled",
}

// Errors after which the same call may succeed. A message may have been posted.
var transient = []string{
	"internal_error", "fatal_error", "service_unavailable", "request_timeout", "update_failed", "external_channel_migrating",
	"team_added_to_org", "org_login_required", "ratelimited", "rate_limited",
}

// classify adds a code to an error of the API.
func (p *Platform) classify(channel string, err error) error {
	if err == nil {
		return nil
	}
	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		p.pacer.Hold(channel, limited.RetryAfter)
		e := bridge.Wrap(bridge.CodeRateLimited, err, "slack: rate limited")
		e.RetryAfter = limited.RetryAfter
		return e
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		if status.Code == http.StatusTooManyRequests {
			return bridge.Wrap(bridge.CodeRateLimited, err, "slack: rate limited")
		}
		return bridge.Wrap(bridge.CodeUnavailable, err, "slack: HTTP %d", status.Code)
	}
	answer, ok := errors.AsType[slack.SlackErrorResponse](err)
	switch {
	case !ok:
		return platforms.NetworkError("slack", err)
	case slices.Contains(transient, answer.Err):
		code := bridge.CodeUnavailable
		if answer.Err == "ratelimited" || answer.Err == "rate_limited" {
			code = bridge.CodeRateLimited
		}
		return bridge.Wrap(code, err, "slack: %s", answer.Err)
	case slices.Contains(fatal, answer.Err):
		p.health.Refuse(answer.Err)
		return bridge.Wrap(bridge.CodeForbidden, err, "slack: %s", answer.Err).WithHint("check the app's tokens and scopes, then reinstall it")
	case answer.Err == "channel_not_found" || answer.Err == "not_in_channel":
		return bridge.Wrap(bridge.CodeNotFound, err, "slack: %s %s", answer.Err, channel).WithHint("invite the bot to the channel")
	}
	return bridge.Wrap(bridge.CodeInvalid, err, "slack: %s %v", answer.Err, answer.ResponseMetadata.Messages)
}
