package slack

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/nodbridge/nod/bridge/lazyregexp"
	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// checker collects the mistakes for which Slack would refuse a payload, each
// with a JSON pointer.
type checker struct {
	problems []string
	on       surface
	blockIDs map[string]bool
	actions  map[string]bool // action IDs of the block
	focused  bool            // an element has focus_on_load
	markdown int             // characters of all Markdown blocks
	tables   int
}

// A rule checks a value of a payload.
type rule func(c *checker, at string, v any)

// A field is a field of an object. Slack refuses every other field.
type field struct {
	rule     rule
	required bool
}

// A shape maps the fields of an object to their rules. It does not contain the
// field type.
type shape map[string]field

func required(r rule) field { return field{r, true} }
func optional(r rule) field { return field{r, false} }

// with returns a shape with additional fields.
func (s shape) with(more shape) shape {
	out := make(shape, len(s)+len(more))
	maps.Copy(out, s)
	maps.Copy(out, more)
	return out
}

func (c *checker) fail(at, format string, args ...any) {
	c.problems = append(c.problems, "[ERROR] "+fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// object checks the fields of an object. Every object may have a type, which
// the caller checks.
func (c *checker) object(at string, o raw.Object, s shape) {
	for name := range o {
		if _, known := s[name]; !known && name != "type" {
			c.fail(at, "invalid additional property: %s", name)
		}
	}
	for name, f := range s {
		v, given := o[name]
		switch {
		case given && v != nil:
			f.rule(c, at+"/"+name, v)
		case f.required || given:
			c.fail(at+"/"+name, "missing required field: %s", name)
		}
	}
}

// objectOf is the rule for an object without a type.
func objectOf(s shape) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(raw.Object)
		if _, typed := o["type"]; !ok || typed {
			c.fail(at, "must provide an object")
			return
		}
		c.object(at, o, s)
	}
}

// listOf is the rule for an array.
func listOf(least, most int, item rule) rule {
	return func(c *checker, at string, v any) {
		items, ok := v.([]any)
		if !ok {
			c.fail(at, "must provide an array")
			return
		}
		switch n := len(items); {
		case n < least && most == math.MaxInt32:
			c.fail(at, "must have at least %d item", least)
		case n < least || n > most:
			c.fail(at, "must have %d to %d items", least, most)
		}
		for n, i := range items {
			item(c, fmt.Sprintf("%s/%d", at, n), i)
		}
	}
}

// units counts UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

var (
	unescaper = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">")
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
)

// length counts UTF-16 units, with &, < and > as entities. This is the
// strictest of the known ways to count.
func length(s string) int { return units(escaper.Replace(unescaper.Replace(s))) }

// text is the rule for a string.
func text(least, most int) rule {
	return func(c *checker, at string, v any) {
		s, ok := v.(string)
		switch n := units(s); {
		case !ok:
			c.fail(at, "must be a string")
		case n < least:
			c.fail(at, "must be %d to %d characters", least, most)
		case n > most:
			c.fail(at, "must be less than %d characters", most+1)
		}
	}
}

func matching(ok func(string) bool) rule {
	return func(c *checker, at string, v any) {
		if s, isText := v.(string); !isText || !ok(s) {
			c.fail(at, "invalid value %v", v)
		}
	}
}

func oneOf(values ...string) rule {
	return func(c *checker, at string, v any) {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			c.fail(at, "must be %s", strings.Join(values, " or "))
		}
	}
}

func flag(c *checker, at string, v any) {
	if _, ok := v.(bool); !ok {
		c.fail(at, "must be a boolean")
	}
}

func number(c *checker, at string, v any) {
	if _, ok := v.(float64); !ok {
		c.fail(at, "must be a number")
	}
}

func integer(least, most int64) rule {
	return func(c *checker, at string, v any) {
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
			c.fail(at, "must be an integer from %d to %d", least, most)
		}
	}
}

var webAddress = lazyregexp.New(`^(https?|mailto|slack|tel):\S+$`)

func address(c *checker, at string, v any) {
	text(1, maxURL)(c, at, v)
	if s, ok := v.(string); ok && !webAddress.MatchString(s) {
		c.fail(at, "must be a valid URL")
	}
}

var (
	plainText = shape{"text": required(text(0, math.MaxInt32)), "emoji": optional(flag)}
	mrkdwn    = shape{"text": required(text(0, math.MaxInt32)), "verbatim": optional(flag)}
)

// textObject is the rule for a text object. Kinds lists the allowed types.
func textObject(most int, kinds ...string) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(raw.Object)
		if !ok {
			c.fail(at, "must provide an object")
			return
		}
		fields := plainText
		switch kind := raw.Str(o, "type"); {
		case !slices.Contains(kinds, kind):
			c.fail(at+"/type", "unsupported type: %q", kind)
			return
		case kind == "mrkdwn":
			fields = mrkdwn
		}
		c.object(at, o, fields)
		n := length(raw.Str(o, "text"))
		if n == 0 {
			c.fail(at+"/text", "must be more than 0 characters")
		}
		if n > most {
			c.fail(at+"/text", "must be less than %d characters", most+1)
		}
	}
}

func plain(most int) rule { return textObject(most, "plain_text") }
func prose(most int) rule { return textObject(most, "plain_text", "mrkdwn") }

// hasOneOf checks that exactly one of two fields is set.
func (c *checker) hasOneOf(at string, o raw.Object, a, b string) {
	if (o[a] == nil) == (o[b] == nil) {
		c.fail(at, "exactly one of %s and %s is needed", a, b)
	}
}
