package slackmsg

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"github.com/slack-go/slack"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/bridge/visible"
	"github.com/nodbridge/nod/render"
)

// Hidden compares the blocks of a message with the blocks that Slack returned,
// and describes the text that people cannot read. It returns an empty string if
// people can read everything.
//
// Slack rewrites texts: it escapes them, joins leaves, turns URLs into links,
// and writes emoji as codes. Hidden therefore compares the texts in order,
// without spaces and emoji. It skips the texts of context blocks, which are not
// part of the decision.
func Hidden(sent, got []slack.Block) string {
	if len(got) == 0 && len(sent) > 0 {
		return "the service returned no blocks"
	}
	if len(got) < len(sent) {
		return "blocks are missing from it"
	}
	rest := squeeze(literally(shown(got)))
	for _, want := range segments(shown(sent)) {
		at := strings.Index(rest, want)
		if at < 0 {
			return "text is missing from it: " + render.Cut(want, 60, render.Runes)
		}
		rest = rest[at+len(want):]
	}
	return ""
}

// shown returns the texts of blocks in order, separated by line breaks.
func shown(blocks []slack.Block) string {
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
var date = lazyregexp.New(`<!date\^[^>]*>`)

// textFields lists the fields with visible text, in display order.
var textFields = []string{"label", "text", "hint", "placeholder", "options", "option_groups", "description", "element", "elements", "fields"}

func collect(b *strings.Builder, v any) {
	switch x := v.(type) {
	case []any:
		for _, e := range x {
			collect(b, e)
		}
	case map[string]any:
		switch x["type"] {
		case "context": // Slack rewrites its URLs
			return
		case "date": // Slack may rewrite the text and the token
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

// segments splits a text at the emoji, which Slack may rewrite, and removes
// spaces.
func segments(s string) []string {
	var out []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	for g := uniseg.NewGraphemes(literally(s)); g.Next(); {
		if strings.ContainsFunc(g.Str(), emoji) {
			end()
			continue
		}
		for piece := range strings.SplitAfterSeq(squeeze(g.Str()), joiner) {
			b.WriteString(strings.TrimSuffix(piece, joiner))
			if strings.HasSuffix(piece, joiner) {
				end()
			}
		}
	}
	end()
	return out
}

// joiner is part of some letters. Slack may drop it.
const joiner = "\u200d"

func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// literally removes all escapes from a text, even if it was escaped several
// times.
func literally(s string) string {
	for {
		plain := html.UnescapeString(s)
		if plain == s {
			return s
		}
		s = plain
	}
}

// emoji reports whether Slack may write a character, with the rest of its
// grapheme cluster, as a code.
func emoji(r rune) bool {
	const keycap, emojiStyle = 0x20e3, 0xfe0f
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) && r > 0x7f || r == keycap || r == emojiStyle || visible.Pictograph(r)
}
