package discord

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// unnamedPause is the pause after an error that limits the rate and has no time
// to wait.
const unnamedPause = 20 * time.Second

// isCode reports whether an error is one of the API with one of the codes:
// docs.discord.com/developers/topics/opcodes-and-status-codes.
func isCode(err error, codes ...int) bool {
	re, ok := errors.AsType[*discordgo.RESTError](err)
	if !ok || re.Message == nil {
		return false
	}
	for _, c := range codes {
		if re.Message.Code == c {
			return true
		}
	}
	return false
}

// isStatus reports whether an error is one of the API with an HTTP status.
func isStatus(err error, status int) bool {
	re, ok := errors.AsType[*discordgo.RESTError](err)
	return ok && re.Response != nil && re.Response.StatusCode == status
}

// refused reports whether an error means that Discord refuses the bot's token.
// The token of an interaction can be refused as well.
func refused(err error) bool {
	return isCode(err, discordgo.ErrCodeUnauthorized, discordgo.ErrCodeInvalidAuthenticationToken) ||
		isStatus(err, http.StatusUnauthorized) && !isCode(err, discordgo.ErrCodeInvalidWebhookTokenProvided)
}

// closedToUs reports whether an error means that a thread takes no messages
// from the bot: it was deleted or locked, or a permission is missing.
func closedToUs(err error) bool {
	return isCode(err, discordgo.ErrCodeUnknownChannel, discordgo.ErrCodeThreadIsLocked,
		discordgo.ErrCodePerformedOperationOnArchivedThread,
		discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions)
}

// tooManyEdits reports whether an error is 30046, the limit for old messages.
// The SDK keeps the text of a 429 and drops its code.
func tooManyEdits(err error) bool {
	limited, ok := errors.AsType[*discordgo.RateLimitError](err)
	return ok && limited.RateLimit != nil && limited.TooManyRequests != nil &&
		strings.Contains(limited.Message, "edits to messages older than")
}

// final reports whether an error is permanent.
func final(err error) bool {
	if err == nil {
		return false
	}
	code := bridge.ErrorCode(err)
	return code != bridge.CodeUnavailable && code != bridge.CodeRateLimited && code != bridge.CodeInternal
}

// classify converts an error of the SDK to a bridge error.
func classify(err error) error {
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
	if re, ok := errors.AsType[*discordgo.RESTError](err); ok {
		return classifyREST(re)
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return bridge.Errorf(bridge.CodeUnavailable, "discord: the response is not JSON") // Cloudflare's
	}
	return platforms.NetworkError("discord", err)
}

// classifyREST converts an error of the API to a bridge error.
func classifyREST(re *discordgo.RESTError) error {
	status, code, text := re.Response.StatusCode, 0, ""
	if re.Message != nil {
		code, text = re.Message.Code, re.Message.Message
	}
	switch {
	case refused(re):
		return bridge.Wrap(bridge.CodeForbidden, re, "discord: the token is refused").
			WithHint("reset the bot's token and set DISCORD_BOT_TOKEN")
	case status == http.StatusTooManyRequests || isCode(re, discordgo.ErrCodeChannelHasHitWriteRateLimit,
		discordgo.ErrCodeTheWriteActionYouArePerformingOnTheServerHasHitTheWriteRateLimit,
		discordgo.ErrCodeThisActionCannotBePerformedDueToSlowmodeRateLimit):
		e := bridge.Wrap(bridge.CodeRateLimited, re, "discord: %s", text)
		e.RetryAfter = unnamedPause
		return e
	case status >= 500 || code == discordgo.ErrCodeAPIResourceIsCurrentlyOverloaded:
		return bridge.Wrap(bridge.CodeUnavailable, re, "discord: HTTP %d", status)
	case status == http.StatusNotFound:
		return bridge.Wrap(bridge.CodeNotFound, re, "discord: %s", text)
	case isCode(re, discordgo.ErrCodePerformedOperationOnArchivedThread, discordgo.ErrCodeThreadIsLocked):
		return bridge.Wrap(bridge.CodeForbidden, re, "discord: %s", text).WithHint("unlock the thread")
	case status == http.StatusForbidden:
		return bridge.Wrap(bridge.CodeForbidden, re, "discord: %s", text).
			WithHint("run nod doctor: it names the permission that the bot lacks there")
	}
	return bridge.Wrap(bridge.CodeInvalid, re, "discord: HTTP %d %d %s", status, code, text)
}
