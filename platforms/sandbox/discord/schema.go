package discord

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nodbridge/nod/platforms/sandbox/raw"
)

// checker records the first mistake for which Discord would refuse a request.
type checker struct {
	bad   *failure
	ids   map[string]bool // custom IDs
	modal bool
}

// A rule checks a value of a request at a dotted path.
type rule func(c *checker, at string, v any)

// A field is a field of an object. The field "" is the object itself.
type field struct {
	name string
	rule rule
}

// A shape lists the fields of an object in the order in which Discord checks
// them. Discord ignores every other field.
type shape []field

// check checks an object of a request.
func (s shape) check(at string, o raw.Object, modal bool) *failure {
	c := &checker{ids: map[string]bool{}, modal: modal}
	s.rule(c, at, o)
	return c.bad
}

// rule is the rule for an object of the shape.
func (s shape) rule(c *checker, at string, v any) {
	o, _ := v.(raw.Object)
	for _, f := range s {
		switch {
		case f.name == "":
			f.rule(c, at, v)
		case at == "":
			f.rule(c, f.name, o[f.name])
		default:
			f.rule(c, at+"."+f.name, o[f.name])
		}
	}
}

func (c *checker) fail(path, code, format string, args ...any) {
	if c.bad == nil {
		c.bad = invalid(path, code, fmt.Sprintf(format, args...))
	}
}

// count checks the number of items or characters.
func (c *checker) count(path string, n, least, most int) {
	if n < least || n > most {
		c.fail(path, "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
	}
}

// whole is the field of a check that needs several fields of the object.
func whole(check func(c *checker, at string, o raw.Object)) field { return field{"", object(check)} }

// object is the rule for an object.
func object(check func(c *checker, at string, o raw.Object)) rule {
	return func(c *checker, at string, v any) {
		o, _ := v.(raw.Object)
		check(c, at, o)
	}
}

// optional is the rule for a field that may be missing.
func optional(r rule) rule {
	return func(c *checker, at string, v any) {
		if v != nil {
			r(c, at, v)
		}
	}
}

// that is the rule for a value that satisfies a condition. Below is the rest of
// the path of the mistake.
func that(ok func(v any) bool, below, code, format string, args ...any) rule {
	return func(c *checker, at string, v any) {
		if !ok(v) {
			c.fail(at+below, code, format, args...)
		}
	}
}

// holds is the field of a condition that needs several fields of the object.
func holds(ok func(o raw.Object) bool, below, code, format string, args ...any) field {
	return field{"", that(func(v any) bool { o, _ := v.(raw.Object); return ok(o) }, below, code, format, args...)}
}

func isList(v any) bool { _, list := v.([]any); return list }
func size(v any) int    { items, _ := v.([]any); return len(items) }

var (
	// present is the rule for a field that may not be missing, filled is the rule
	// for an array that may not be empty, and none is the rule for an array that
	// must be empty.
	present    = that(func(v any) bool { return v != nil }, "", "BASE_TYPE_REQUIRED", "This field is required")
	filled     = that(func(v any) bool { return size(v) > 0 }, "", "BASE_TYPE_REQUIRED", "This field is required")
	none       = that(func(v any) bool { return size(v) == 0 }, "", "BASE_TYPE_BAD_LENGTH", "Must be 0 in length.")
	iterable   = that(isList, "", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
	dictionary = that(func(v any) bool { _, ok := v.(raw.Object); return ok }, "", "MODEL_TYPE_CONVERT",
		"Only dictionaries may be used in a ModelType")
	color = that(func(v any) bool { n, _ := v.(float64); return n >= 0 && n <= maxColor }, "", "NUMBER_TYPE_MAX",
		"int value should be less than or equal to %d.", maxColor)
)

// text is the rule for a text. Limits are in code points.
func text(least, most int) rule {
	return func(c *checker, at string, v any) {
		s, ok := v.(string)
		if !ok && v != nil {
			c.fail(at, "STRING_TYPE_CONVERT", "Could not interpret %v as string.", v)
			return
		}
		c.count(at, raw.Runes(s), least, most)
	}
}

// trimmed is the rule for a text without leading and trailing spaces.
func trimmed(least, most int) rule {
	return func(c *checker, at string, v any) {
		if s, ok := v.(string); ok {
			v = strings.TrimSpace(s)
		}
		text(least, most)(c, at, v)
	}
}

// oneOf is the rule for a number that stands for a choice.
func oneOf(values ...int) rule {
	return that(func(v any) bool { n, ok := v.(float64); return ok && slices.Contains(values, int(n)) }, "", "BASE_TYPE_CHOICES",
		"Value must be one of {%s}.", listed(values))
}

func listed(values []int) string {
	var out []string
	for _, v := range values {
		out = append(out, strconv.Itoa(v))
	}
	return strings.Join(out, ", ")
}

// each is the rule for an array of any length.
func each(item rule) rule {
	return func(c *checker, at string, v any) {
		items, _ := v.([]any)
		for n, i := range items {
			item(c, at+"."+strconv.Itoa(n), i)
		}
	}
}

// between is the rule for an array with least to most items.
func between(least, most int, item rule) rule {
	return func(c *checker, at string, v any) {
		c.count(at, size(v), least, most)
		each(item)(c, at, v)
	}
}

// atMost is the rule for an array that may be empty.
func atMost(most int, item rule) rule {
	return all(that(func(v any) bool { return size(v) <= most }, "", "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", most), each(item))
}

// all is the rule for a value that several rules check.
func all(rules ...rule) rule {
	return func(c *checker, at string, v any) {
		for _, r := range rules {
			r(c, at, v)
		}
	}
}

// unique is the rule for an array without duplicates. It compares texts, or the
// field of objects that key names. Path is the field of the item in the error.
func unique(key, path, code, message string) rule {
	return func(c *checker, at string, v any) {
		seen := map[string]bool{}
		each(func(c *checker, at string, v any) {
			text, _ := v.(string)
			if o, ok := v.(raw.Object); ok {
				text = raw.Str(o, key)
			}
			if seen[text] {
				c.fail(at+path, code, "%s", message)
			}
			seen[text] = true
		})(c, at, v)
	}
}
