package slack

import (
	"bytes"
	"encoding/json"
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
	blockIDs map[string]bool // block IDs of the payload
	actions  map[string]bool // action IDs of the block
	focused  bool            // an element has focus_on_load
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
func (s shape) with(more ...shape) shape {
	out := maps.Clone(s)
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// A kind is a type of block, element or other object.
type kind struct {
	shape shape
	in    part // parts of blocks that accept it; all if empty
	// state is the end of the names of the fields with the initial value and with
	// the state of an element that keeps a member's input.
	state string
	// more checks conditions that the shape cannot express. It may be nil.
	more func(c *checker, at string, o raw.Object)
}

// A set maps the types of objects to their kinds.
type set map[string]kind

// rule is the rule for an object of the set in a part of a block.
func (s *set) rule(in part) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(raw.Object)
		k, known := (*s)[raw.Str(o, "type")]
		switch {
		case !ok:
			c.fail(at, "must provide an object")
		case known && k.in == inInput && in != inInput:
			c.fail(at+"/type", "only allowed in input")
		case known && k.in != 0 && k.in&in == 0 && in == inInput:
			c.fail(at+"/type", "not allowed in input")
		case !known || k.in != 0 && k.in&in == 0:
			c.fail(at+"/type", "unsupported type: %q", raw.Str(o, "type"))
		default:
			c.object(at, o, k.shape)
			if k.more != nil {
				k.more(c, at, o)
			}
		}
	}
}

func (c *checker) fail(at, format string, args ...any) {
	c.problems = append(c.problems, "[ERROR] "+fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// once checks that a value is not among those that were seen.
func (c *checker) once(seen map[string]bool, value, at, format string, args ...any) {
	if seen[value] {
		c.fail(at, format, args...)
	}
	seen[value] = true
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

// checkBlocks checks blocks against the published limits of Block Kit.
func checkBlocks(at string, all []any, most int) []string {
	c := checker{blockIDs: map[string]bool{}}
	if len(all) > most {
		c.fail(at, "no more than %d items allowed", most)
	}
	for n, b := range all {
		at := fmt.Sprintf("%s/%d", at, n)
		if _, ok := b.(raw.Object); !ok {
			c.fail(at, "must be a list of objects")
			continue
		}
		c.actions = map[string]bool{}
		blocks.rule(0)(&c, at, b)
	}
	slices.Sort(c.problems)
	return c.problems
}

// value is the rule for a value that satisfies a condition.
func value(ok func(v any) bool, format string, args ...any) rule {
	return func(c *checker, at string, v any) {
		if !ok(v) {
			c.fail(at, format, args...)
		}
	}
}

var (
	// anything is the rule for a field that only the complete kind can check.
	anything = value(func(any) bool { return true }, "")
	flag     = value(func(v any) bool { _, ok := v.(bool); return ok }, "must be a boolean")
	anyText  = text(1, math.MaxInt32)
	freeText = text(0, math.MaxInt32)
	filled   = value(func(v any) bool { s, _ := v.(string); return s != "" }, "must be more than 0 characters")
)

func oneOf(values ...string) rule {
	return value(func(v any) bool { s, ok := v.(string); return ok && slices.Contains(values, s) }, "must be %s", strings.Join(values, " or "))
}

func isWithin(v any, least, most float64) bool {
	n, ok := v.(float64)
	return ok && n == math.Trunc(n) && n >= least && n <= most
}

func integer(least, most int64) rule {
	return value(func(v any) bool { return isWithin(v, float64(least), float64(most)) }, "must be an integer from %d to %d", least, most)
}

// matching is the rule for a text that a function can read.
func matching[T any](read func(string) (T, error)) rule {
	return func(c *checker, at string, v any) {
		s, isText := v.(string)
		if _, err := read(s); !isText || err != nil {
			c.fail(at, "invalid value %v", v)
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
		switch n := len(items); {
		case !ok:
			c.fail(at, "must provide an array")
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

// anyList is the rule for an array of any length.
func anyList(item rule) rule { return listOf(0, math.MaxInt32, item) }

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

var webAddress = lazyregexp.New(`^(https?|mailto|slack|tel):\S+$`)

func address(c *checker, at string, v any) {
	text(1, maxURL)(c, at, v)
	if s, ok := v.(string); ok && !webAddress.MatchString(s) {
		c.fail(at, "must be a valid URL")
	}
}

// textObject is the rule for a text object. Kinds lists the allowed types.
func textObject(most int, kinds ...string) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(raw.Object)
		if kind := raw.Str(o, "type"); ok && !slices.Contains(kinds, kind) {
			c.fail(at+"/type", "unsupported type: %q", kind)
			return
		}
		texts.rule(0)(c, at, v)
		if !ok {
			return
		}
		filled(c, at+"/text", raw.Str(o, "text"))
		if length(raw.Str(o, "text")) > most {
			c.fail(at+"/text", "must be less than %d characters", most+1)
		}
	}
}

func plain(most int) rule { return textObject(most, "plain_text") }
func prose(most int) rule { return textObject(most, "plain_text", "mrkdwn") }
