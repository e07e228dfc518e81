package telegram

import "github.com/nodbridge/nod/platforms/sandbox/raw"

// inside lists the fields of messages that only the page and members need.
var inside = []string{"edits", "detected_mentions", "preview"}

// public returns a copy of a response or an update in the form that a bot gets.
// A message has the inline keyboard of its bot, and no other markup:
// core.telegram.org/bots/api#message.
func public(v any) any {
	v = raw.Clone(v)
	hide(v)
	return v
}

func hide(v any) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			hide(e)
		}
	case raw.Object:
		if markup := raw.Sub(x, "reply_markup"); markup != nil && markup["inline_keyboard"] == nil {
			delete(x, "reply_markup")
		}
		if x["message_id"] != nil {
			for _, key := range inside {
				delete(x, key)
			}
		}
		delete(raw.Sub(x, "document"), "url")
		for _, e := range x {
			hide(e)
		}
	}
}
