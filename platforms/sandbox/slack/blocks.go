package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// checker collects the mistakes that Slack would refuse, each with a JSON
// pointer.
type checker struct {
	problems []string
	blockIDs map[string]bool
	actions  map[string]bool
}

// checkBlocks checks blocks against the published limits of Block Kit.
func checkBlocks(blocks []any, most int) []string {
	c := checker{blockIDs: map[string]bool{}}
	if len(blocks) > most {
		c.fail("/blocks", "no more than %d items allowed", most)
	}
	for n, b := range blocks {
		o, ok := b.(raw.Object)
		if !ok {
			c.fail("/blocks", "must be a list of objects")
			continue
		}
		c.block(fmt.Sprintf("/blocks/%d", n), o)
	}
	return c.problems
}

func (c *checker) fail(at, format string, args ...any) {
	c.problems = append(c.problems, "[ERROR] "+fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// length counts UTF-16 units, with &, < and > as entities. This is the
// strictest of the known ways to count.
func length(s string) int {
	s = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(s)
	return len(utf16.Encode([]rune(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s))))
}

// size returns the size of the JSON of blocks.
func size(blocks []any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(blocks); err != nil {
		return 0
	}
	return length(b.String())
}

// text checks a text object. Kinds lists the allowed types.
func (c *checker) text(at string, o raw.Object, key string, limit int, required bool, kinds string) {
	t, ok := o[key].(raw.Object)
	at += "/" + key
	if !ok {
		if required || o[key] != nil {
			c.fail(at, "missing required field")
		}
		return
	}
	kind := raw.Str(t, "type")
	if !strings.Contains(kinds, kind) || kind == "" {
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
	if t["emoji"] != nil && kind == "mrkdwn" {
		c.fail(at+"/emoji", "not allowed in mrkdwn")
	}
	n := length(raw.Str(t, "text"))
	if n == 0 {
		c.fail(at+"/text", "must be more than 0 characters")
	}
	if n > limit {
		c.fail(at+"/text", "must be less than %d characters", limit+1)
	}
}

func (c *checker) block(at string, b raw.Object) {
	c.blockID(at, raw.Str(b, "block_id"))
	c.actions = map[string]bool{}
	switch kind := raw.Str(b, "type"); kind {
	case "header":
		c.text(at, b, "text", maxHeader, true, "plain_text")
	case "section":
		c.text(at, b, "text", maxSection, b["fields"] == nil, "plain_text mrkdwn")
	case "divider":
	case "context":
		c.items(at, b, maxContext)
		for n, o := range raw.Objects(b, "elements") {
			c.text(fmt.Sprintf("%s/elements/%d", at, n), raw.Object{"text": o}, "text", maxSection, true, "plain_text mrkdwn")
		}
	case "actions":
		c.items(at, b, maxActions)
		for n, o := range raw.Objects(b, "elements") {
			c.element(fmt.Sprintf("%s/elements/%d", at, n), o, false)
		}
	case "input":
		c.text(at, b, "label", maxLabel, true, "plain_text")
		c.text(at, b, "hint", maxHint, false, "plain_text")
		c.element(at+"/element", raw.Sub(b, "element"), true)
	case "rich_text":
		c.richText(at, b)
	default:
		c.fail(at+"/type", "unsupported type: %q", kind)
	}
}

func (c *checker) blockID(at, id string) {
	if id == "" {
		return
	}
	if c.blockIDs[id] {
		c.fail(at+"/block_id", "`block_id` already exists: %s", id)
	}
	c.blockIDs[id] = true
	if len(id) > maxBlockID {
		c.fail(at+"/block_id", "must be less than %d characters", maxBlockID+1)
	}
}

func (c *checker) items(at string, b raw.Object, most int) {
	if n := len(raw.List(b, "elements")); n < 1 || n > most {
		c.fail(at+"/elements", "must have 1 to %d items", most)
	}
}

func (c *checker) richText(at string, b raw.Object) {
	for n, o := range raw.Objects(b, "elements") {
		at := fmt.Sprintf("%s/elements/%d", at, n)
		switch kind := raw.Str(o, "type"); kind {
		case "rich_text_section", "rich_text_preformatted", "rich_text_quote":
			c.leaves(at, o)
		case "rich_text_list":
			c.richList(at, o)
		default:
			c.fail(at+"/type", "unsupported type: %q", kind)
		}
	}
}

func (c *checker) richList(at string, o raw.Object) {
	if s := raw.Str(o, "style"); s != "bullet" && s != "ordered" {
		c.fail(at+"/style", "must be bullet or ordered")
	}
	if n, _ := raw.Number(o, "indent"); n < 0 || n > maxIndent {
		c.fail(at+"/indent", "must be 0 to %d", maxIndent)
	}
	for k, item := range raw.Objects(o, "elements") {
		if raw.Str(item, "type") != "rich_text_section" {
			c.fail(at, "list items must be sections")
		}
		c.leaves(fmt.Sprintf("%s/elements/%d", at, k), item)
	}
}

func (c *checker) leaves(at string, o raw.Object) {
	if len(raw.List(o, "elements")) == 0 {
		c.fail(at+"/elements", "must not be empty")
	}
	for n, leaf := range raw.Objects(o, "elements") {
		at := fmt.Sprintf("%s/elements/%d", at, n)
		switch kind := raw.Str(leaf, "type"); kind {
		case "text":
			if raw.Str(leaf, "text") == "" {
				c.fail(at+"/text", "must be more than 0 characters")
			}
		case "link":
			if u := raw.Str(leaf, "url"); !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
				c.fail(at+"/url", "must be a valid URL")
			}
		case "date":
			if n, ok := raw.Number(leaf, "timestamp"); !ok || n <= 0 || raw.Str(leaf, "format") == "" {
				c.fail(at, "date needs timestamp and format")
			}
		case "user", "usergroup", "broadcast", "channel", "emoji":
		default:
			c.fail(at+"/type", "unsupported type: %q", kind)
		}
	}
}
