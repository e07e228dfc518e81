package slack

import (
	"math"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

var (
	anyText = text(1, math.MaxInt32)

	style = objectOf(shape{
		"bold": optional(flag), "italic": optional(flag), "strike": optional(flag), "code": optional(flag),
		"underline": optional(flag), "highlight": optional(flag), "client_highlight": optional(flag), "unlink": optional(flag),
	})

	// leafKinds are the elements of a line of rich text.
	leafKinds = map[string]shape{
		"broadcast": {"range": required(oneOf("here", "channel", "everyone"))},
		"channel":   {"channel_id": required(anyText)},
		"color":     {"value": required(anyText)},
		"date": {
			"timestamp": required(integer(1, maxSeconds)), "format": required(anyText), "fallback": optional(text(0, math.MaxInt32)),
			"url": optional(address), "timezone": optional(anyText),
		},
		"emoji": {
			"name": required(anyText), "unicode": optional(anyText), "skin_tone": optional(integer(1, 6)), "url": optional(address),
		},
		"link":      {"url": required(address), "text": optional(text(0, math.MaxInt32)), "unsafe": optional(flag)},
		"team":      {"team_id": required(anyText)},
		"text":      {"text": required(filledText)},
		"user":      {"user_id": required(anyText)},
		"usergroup": {"usergroup_id": required(anyText)},
	}

	lines  = field{leaves, true}
	border = optional(integer(0, 1))
)

// richKinds are the elements of a rich text block. richBlockKinds is a rich
// text block inside another object.
var richKinds, richBlockKinds map[string]shape

func init() { // a list contains elements
	for name, s := range leafKinds {
		leafKinds[name] = s.with(shape{"style": optional(style)})
	}
	richBlockKinds = map[string]shape{"rich_text": {
		"elements": required(listOf(0, math.MaxInt32, richElement)), "block_id": optional(text(0, maxBlockID)),
	}}
	richKinds = map[string]shape{
		"rich_text_section":      {"elements": lines},
		"rich_text_quote":        {"elements": lines, "border": border},
		"rich_text_preformatted": {"elements": lines, "border": border, "language": optional(anyText)},
		"rich_text_list": {
			"elements": required(listOf(1, math.MaxInt32, listItem)), "style": required(oneOf("bullet", "ordered")),
			"indent": optional(indent), "offset": optional(integer(0, math.MaxInt32)), "border": border,
		},
	}
}

// filledText is the rule for the text of a leaf.
func filledText(c *checker, at string, v any) {
	if s, ok := v.(string); !ok || s == "" {
		c.fail(at, "must be more than 0 characters")
	}
}

func indent(c *checker, at string, v any) {
	if n, ok := v.(float64); !ok || n < 0 || n > maxIndent {
		c.fail(at, "must be 0 to %d", maxIndent)
	}
}

// typedAs is the rule for an object whose type selects its shape.
func typedAs(c *checker, at string, v any, kinds map[string]shape) {
	o, ok := v.(raw.Object)
	s, known := kinds[raw.Str(o, "type")]
	if !ok || !known {
		c.fail(at+"/type", "unsupported type: %q", raw.Str(o, "type"))
		return
	}
	c.object(at, o, s)
}

// richBlock is the rule for a rich text block inside another object.
func richBlock(c *checker, at string, v any) {
	typedAs(c, at, v, richBlockKinds)
}

func richElement(c *checker, at string, v any) { typedAs(c, at, v, richKinds) }

func listItem(c *checker, at string, v any) {
	if o, ok := v.(raw.Object); !ok || raw.Str(o, "type") != "rich_text_section" {
		c.fail(at, "list items must be sections")
		return
	}
	richElement(c, at, v)
}

// leaves is the rule for the content of a line.
func leaves(c *checker, at string, v any) {
	if l, ok := v.([]any); ok && len(l) == 0 {
		c.fail(at, "must not be empty")
		return
	}
	listOf(1, math.MaxInt32, func(c *checker, at string, v any) {
		typedAs(c, at, v, leafKinds)
	})(c, at, v)
}
