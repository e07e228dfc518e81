package config

import "slices"

// MentionResponders is the default of Route.Mention.
const MentionResponders = "responders"

// checkAttention checks how the requests of a route get attention.
func (r Route) checkAttention(bad func(key, format string, args ...any)) {
	if !slices.Contains([]string{"", MentionResponders, "group", "none"}, r.Mention) {
		bad(".mention", "unknown value %q (responders, group or none)", r.Mention)
	}
}
