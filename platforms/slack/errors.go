package slack

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/platforms"
)

// reinstall is the fix for an error caused by a missing scope or setting of the
// app.
const reinstall = "check the scopes of the app at api.slack.com/apps > your app > OAuth & Permissions, then reinstall it"

// Errors is the table of the errors of Slack's methods that nod calls:
// docs.slack.dev/reference/methods.
var Errors = platforms.Table{
	{About: platforms.AboutService, Errors: []string{
		"internal_error", "fatal_error", "service_unavailable", "request_timeout", "update_failed", "external_channel_migrating",
		"team_added_to_org", "org_login_required",
	}},
	{About: platforms.AboutLimit, Errors: []string{"ratelimited", "rate_limited"}},
	{About: platforms.AboutLimit, Errors: []string{"message_limit_exceeded"}, Wait: time.Minute,
		Fix: "find out what else posts to the workspace"},
	{About: platforms.AboutAccount, Errors: []string{
		"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive",
	}, Fix: "check the app's tokens, then reinstall it"},
	{About: platforms.AboutFeature, Errors: []string{"not_agent_app", "feature_disabled", "unknown_method"}},
	{About: platforms.AboutFeature, Errors: []string{"not_enabled"}, Fix: "turn on the Home tab at api.slack.com/apps > your app > App Home"},
	{About: platforms.AboutPermission, Errors: []string{
		"missing_scope", "no_permission", "access_denied", "not_allowed_token_type", "ekm_access_denied",
		"two_factor_setup_required", "team_access_not_granted", "enterprise_is_restricted", "forbidden_team",
	}, Fix: reinstall},
	{About: platforms.AboutPermission, Errors: []string{"link_disabled", "forbidden"},
		Fix: "turn on Socket Mode at api.slack.com/apps > your app > Socket Mode"},
	{About: platforms.AboutPermission, Errors: []string{"no_such_subteam", "subteam_disabled", "permission_denied"},
		Fix: "correct the ID of the user group in the config"},
	{About: platforms.AboutThread, Errors: []string{
		"cannot_reply_to_message", "thread_not_found", "restricted_action_thread_locked", "restricted_action_non_threadable_channel",
	}, Fix: "unlock the thread, or remove it from the config"},
	{About: platforms.AboutChannel, Errors: []string{"channel_not_found", "not_in_channel"}, Fix: "invite the bot to the channel"},
	{About: platforms.AboutClosed, Errors: []string{"is_archived", "is_inactive"}, Fix: "choose another channel"},
	{About: platforms.AboutChannel, Errors: []string{
		"restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel",
		"restricted_action_thread_only", "slack_connect_canvas_sharing_blocked", "slack_connect_file_link_sharing_blocked",
	}, Fix: "let the app post in the channel: the channel's settings > Posting permissions"},
	{About: platforms.AboutChannel, Errors: []string{"messages_tab_disabled", "cannot_dm_bot"},
		Fix: "turn on the Messages tab at api.slack.com/apps > your app > App Home"},
	{About: platforms.AboutPerson, Errors: []string{
		"user_not_in_channel", "user_not_found", "user_not_visible", "users_not_found", "user_disabled",
	}, Fix: "check the person's member ID in the config"},
	{About: platforms.AboutDeleted, Errors: []string{"message_not_found"}},
	{About: platforms.AboutFrozen, Errors: []string{
		"cant_update_message", "edit_window_closed", "cant_delete_message", "compliance_exports_prevent_deletion", "block_mismatch",
		"cant_broadcast_message", "streaming_state_conflict",
	}, Fix: "let apps edit their messages: the workspace's settings > Permissions > Message Editing & Deletion"},
	{About: platforms.AboutLate, Errors: []string{
		"expired_trigger_id", "trigger_expired", "exchanged_trigger_id", "trigger_exchanged", "invalid_trigger_id", "not_found",
		"view_not_found", "hash_conflict", "push_limit_reached", "expired_url", "used_url",
	}},
	{About: platforms.AboutContent, Errors: []string{
		"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long", "no_text", "invalid_attachments",
		"too_many_attachments", "attachment_payload_limit_exceeded", "invalid_metadata_format", "invalid_metadata_schema",
		"metadata_too_large", "metadata_must_be_sent_from_app", "markdown_text_conflict", "view_too_large", "duplicate_external_id",
		"only_one_table_allowed", "no_dual_broadcast_content_update", "too_many_contact_cards", "invalid_arguments",
		"invalid_arg_name", "invalid_array_arg", "invalid_charset", "invalid_form_data", "invalid_json", "json_not_object",
		"invalid_post_type", "missing_post_type", "method_deprecated", "deprecated_endpoint", platforms.AnyOther,
	}, Fix: "report it as a bug in nod, with the log line"},
}

// classify assigns a row of the table to an error of the API. A refusal of the
// token only triggers another check of the token.
func (w *workspace) classify(channel string, err error) error {
	if err == nil {
		return nil
	}
	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		return rowOf("ratelimited").WithWait(limited.RetryAfter).Err(err, "slack: rate limited")
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		switch status.Code {
		case http.StatusTooManyRequests:
			return rowOf("ratelimited").Err(err, "slack: rate limited")
		case http.StatusRequestEntityTooLarge:
			return rowOf("msg_too_long").Err(err, "slack: HTTP %d", status.Code)
		}
		return rowOf("service_unavailable").Err(err, "slack: HTTP %d", status.Code)
	}
	answer, ok := errors.AsType[slack.SlackErrorResponse](err)
	if !ok {
		return platforms.NetworkError("slack", err)
	}
	row := rowOf(answer.Err)
	if row.About == platforms.AboutAccount {
		w.health.Suspect("Slack refused the token: " + answer.Err)
	}
	return row.Err(err, "slack: %s", described(answer, channel))
}

func rowOf(name string) platforms.Row {
	return Errors.Find(func(known string) bool { return known == name })
}

// described returns an error with its details and its channel.
func described(answer slack.SlackErrorResponse, channel string) string {
	parts := []string{answer.Err}
	if answer.Needed != "" {
		parts = append(parts, "(needed: "+answer.Needed+")")
	}
	if about := rowOf(answer.Err).About; channel != "" && (about == platforms.AboutChannel || about == platforms.AboutClosed) {
		parts = append(parts, channel)
	}
	if len(answer.ResponseMetadata.Messages) > 0 {
		parts = append(parts, fmt.Sprint(answer.ResponseMetadata.Messages))
	}
	return strings.Join(parts, " ")
}

// mayBePosted reports whether Slack may have posted a message although the call
// failed.
func mayBePosted(err error) bool {
	return bridge.ErrorCode(err) == bridge.CodeUnavailable || bridge.ErrorCode(err) == bridge.CodeInternal
}
