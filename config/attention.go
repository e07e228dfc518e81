package config

import "slices"

// The defaults of Route.Mention and Route.Preview.
const (
	MentionResponders = "responders"
	PreviewFull       = "full"
)

// checkAttention checks how the requests of a route get attention.
func (r Route) checkAttention(bad func(key, format string, args ...any)) {
	if !slices.Contains([]string{"", MentionResponders, "group", "none"}, r.Mention) {
		bad(".mention", "unknown value %q (responders, group or none)", r.Mention)
	}
	if !slices.Contains([]string{"", PreviewFull, "action", "none"}, r.Preview) {
		bad(".preview", "unknown value %q (full, action or none)", r.Preview)
	}
}
