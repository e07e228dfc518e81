package slackmsg

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"

	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/render"
)

// Hidden compares the blocks of a message with those that Slack returned for
// it, and describes the text that people cannot read. It returns an empty
// string if they can read everything.
//
// Slack rewrites texts: it escapes them, joins leaves, turns URLs into links,
// and writes emoji as codes. Hidden therefore compares the texts in order,
// without spaces and emoji. It does not compare the texts of context blocks,
// which contain nothing to decide about.
func Hidden(sent, got []slack.Block) string {
	if len(got) == 0 && len(sent) > 0 {
		return "the service returned no blocks"
	}
	if len(got) < len(sent) {
		return "blocks are missing from it"
	}
	rest := squeeze(literally(visible(got)))
	for _, want := range segments(visible(sent)) {
		at := strings.Index(rest, want)
		if at < 0 {
			return "text is missing from it: " + render.Cut(want, 60, render.Runes)
		}
		rest = rest[at+len(want):]
	}
	return ""
}

// visible returns the texts of blocks in order, separated by line breaks.
func visible(blocks []slack.Block) string {
	raw, err := json.Marshal(slack.Blocks{BlockSet: blocks})
	if err != nil {
		return ""
	}
	var all any
	if json.Unmarshal(raw, &all) != nil {
		return ""
	}
	var b strings.Builder
	collect(&b, all)
	return date.ReplaceAllString(b.String(), "\n")
}

// date matches a token that Slack may rewrite.
var date = regexp.MustCompile(`<!date\^[^>]*>`)

// textFields lists the fields with visible text, in the order of display.
var textFields = []string{"label", "text", "hint", "placeholder", "options", "option_groups", "description", "element", "elements", "fields"}

func collect(b *strings.Builder, v any) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			collect(b, e)
		}
	case map[string]any:
		switch x["type"] {
		case "context": // Slack rewrites URLs in it
			return
		case "date": // Slack may rewrite it, as the token
			return
		case "link":
			if x["text"] == nil {
				b.WriteString(fmt.Sprint(x["url"]) + "\n")
			}
		}
		for _, name := range textFields {
			switch t := x[name].(type) {
			case string:
				b.WriteString(t + "\n")
			case nil:
			default:
				collect(b, t)
			}
		}
	}
}

// segments splits a text at the characters that Slack may rewrite, and removes
// spaces.
func segments(s string) []string {
	var out []string
	for piece := range strings.FieldsFuncSeq(literally(s), emoji) {
		if piece = squeeze(piece); piece != "" {
			out = append(out, piece)
		}
	}
	return out
}

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// literally returns a text without escapes, no matter how often it was escaped.
func literally(s string) string {
	for {
		plain := html.UnescapeString(s)
		if plain == s {
			return s
		}
		s = plain
	}
}

// emoji reports whether Slack may write a character as a code.
func emoji(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) && r > 0x7f || r == 0x200d || r >= 0xfe00 && r <= 0xfe0f || r == 0x20e3
}
