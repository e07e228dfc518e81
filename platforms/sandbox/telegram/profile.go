package telegram

import "github.com/nodbridge/nod/platforms/sandbox/raw"

// Rights of administrators and of restricted members. Clients expect all of
// these fields: core.telegram.org/bots/api#chatmember.
var (
	adminRights = []string{
		"can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages", "can_manage_video_chats",
		"can_restrict_members", "can_promote_members", "can_change_info", "can_invite_users", "can_post_stories",
		"can_edit_stories", "can_delete_stories", "can_manage_direct_messages", "can_manage_tags",
		"can_send_welcome_messages",
	}
	memberRights = []string{
		"can_send_messages", "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos",
		"can_send_video_notes", "can_send_voice_notes", "can_send_polls", "can_send_other_messages",
		"can_add_web_page_previews", "can_react_to_messages", "can_edit_tag", "can_change_info", "can_invite_users",
		"can_pin_messages", "can_manage_topics",
	}
	abilities = []string{
		"can_connect_to_business", "has_main_web_app", "has_topics_enabled", "allows_users_to_create_topics",
		"can_manage_bots", "supports_guest_queries", "supports_join_request_queries",
	}
	gifts = []string{"unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"}
)

// none returns an object whose fields are all false.
func none(fields []string) raw.Object {
	out := raw.Object{}
	for _, f := range fields {
		out[f] = false
	}
	return out
}

// full returns a chat in the format of getChat.
func (c *chat) full() raw.Object {
	out := c.json()
	out["accent_color_id"], out["max_reaction_count"], out["accepted_gift_types"] = 0, 11, none(gifts)
	return out
}
