package slack

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// workspace is nod's app in a workspace of Slack. All parts of a Platform share
// it.
type workspace struct {
	name   string
	api    *slack.Client
	http   *http.Client
	log    *slog.Logger
	health platforms.HealthBox
	posts  *platforms.Pacer
	edits  *platforms.Pacer

	console    bool   // whether the console is on
	consoleURL string // of nod, for links to the console; may be empty

	mu sync.Mutex
	me slack.AuthTestResponse // empty until Slack has returned it
}

// check returns an error if Slack does not accept the bot token.
func (w *workspace) check(ctx context.Context) error {
	_, err := w.api.AuthTestContext(ctx)
	return w.classify("", err)
}

// self returns who nod is in the workspace. It is empty if Slack does not
// return it.
func (w *workspace) self(ctx context.Context) slack.AuthTestResponse {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.me.UserID == "" {
		me, err := w.api.AuthTestContext(ctx)
		if err != nil {
			return slack.AuthTestResponse{}
		}
		w.me = *me
	}
	return w.me
}

// url returns the URL of the workspace, for links to cards. It is empty if
// Slack does not return it.
func (w *workspace) url(ctx context.Context) string {
	if me := w.self(ctx); me.URL != "" {
		return strings.TrimRight(me.URL, "/") + "/"
	}
	return ""
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
func (w *workspace) classify(channel string, err error) error {
	if err == nil {
		return nil
	}
	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
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
		w.health.Refuse(answer.Err)
		return bridge.Wrap(bridge.CodeForbidden, err, "slack: %s", answer.Err).
			WithHint("check the app's tokens and scopes, then reinstall it")
	case answer.Err == "channel_not_found" || answer.Err == "not_in_channel":
		return bridge.Wrap(bridge.CodeNotFound, err, "slack: %s %s", answer.Err, channel).
			WithHint("invite the bot to the channel")
	}
	return bridge.Wrap(bridge.CodeInvalid, err, "slack: %s %v", answer.Err, answer.ResponseMetadata.Messages)
}
