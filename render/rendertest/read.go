package rendertest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A page is the text that a person would see in a payload. Each line begins
// with its kind, in two columns:
//
//	!  notification           -  small text        ?  input
//	   text (no mark)         >  quote             +  file
//	`  code                   »  collapsed quote   =  title of a dialog
//	•  item, also 1.          |  bar of a card     [] buttons of a row
//
// An arrow precedes the data that a control sends.
type page struct {
	lines []string
	all   []*object
	said  map[string]bool // text for screen readers
}

// hidden matches invisible characters.
var hidden = regexp.MustCompile(`\p{Cf}`)

// add appends the lines of a text.
func (p *page) add(kind, text string) {
	for line := range strings.SplitSeq(hidden.ReplaceAllStringFunc(text, func(s string) string { return fmt.Sprintf("⟨%X⟩", []rune(s)[0]) }), "\n") {
		mark := fmt.Sprintf("%-2s", kind)
		if len([]rune(kind)) > 1 {
			mark += " "
		}
		line = mark + line
		if trimmed := strings.TrimRight(line, " "); len(trimmed) < len(line) && line != mark {
			line = trimmed + "␠" // an invisible space
		}
		p.lines = append(p.lines, strings.TrimRight(line, " "))
	}
}

// apart separates a code block or a quote from the same kind of block before
// it.
func (p *page) apart(kind string) {
	if n := len(p.lines); kind != "" && n > 0 && strings.HasPrefix(p.lines[n-1], kind) {
		p.lines = append(p.lines, "")
	}
}

// text returns the lines. If a line or a pair of lines repeats at least three
// times, it appears once with the number of repetitions.
func (p *page) text() string {
	var b strings.Builder
	for at := 0; at < len(p.lines); {
		count, period := 1, 1
		for of := 1; of <= 2 && count < 3; of++ {
			period, count = of, 1
			for k := at + of; k+of <= len(p.lines) && slices.Equal(p.lines[at:at+of], p.lines[k:k+of]); k += of {
				count++
			}
		}
		if count < 3 {
			count, period = 1, 1
		}
		for n, line := range p.lines[at : at+period] {
			if n == 0 && count > 1 {
				line += fmt.Sprintf("  ×%d", count)
			}
			b.WriteString(line + "\n")
		}
		at += count * period
	}
	return b.String()
}

// unknown is the panic of a reader that finds an unknown part.
type unknown string

func fail(format string, args ...any) { panic(unknown(fmt.Sprintf(format, args...))) }

// A Reader writes the text that a person sees in a payload.
type Reader func(p *page, o *object)

// read returns the text that a person sees in a decoded payload. Its error
// names the fields that the reader did not read.
func (r Reader) read(payload map[string]any) (text string, err error) {
	p := &page{said: map[string]bool{}}
	defer func() {
		if e := recover(); e != nil {
			why, ok := e.(unknown)
			if !ok {
				panic(e)
			}
			err = fmt.Errorf("%s", why)
		}
	}()
	r(p, p.object("payload", payload))
	for _, o := range p.all {
		for _, key := range slices.Sorted(maps.Keys(o.fields)) {
			if !o.seen[key] {
				return "", fmt.Errorf("%s: the reader does not know the field %q: %v", o.at, key, o.fields[key])
			}
		}
	}
	return p.text(), nil
}

// An object is a part of a payload. Readers must read every field.
type object struct {
	p      *page
	at     string
	fields map[string]any
	seen   map[string]bool
}

func (p *page) object(at string, fields map[string]any) *object {
	o := &object{p, at, fields, map[string]bool{}}
	p.all = append(p.all, o)
	return o
}

// field reads a field. It returns the zero value if the field is missing.
func field[T any](o *object, key string) (value T) {
	o.seen[key] = true
	if v := o.fields[key]; v != nil {
		typed, ok := v.(T)
		if !ok {
			fail("%s.%s is %v", o.at, key, v)
		}
		return typed
	}
	return value
}

func (o *object) str(key string) string { return field[string](o, key) }
func (o *object) is(key string) bool    { return field[bool](o, key) }
func (o *object) num(key string) int    { return int(field[float64](o, key)) }

// has reports whether a field exists.
func (o *object) has(key string) bool { return o.fields[key] != nil }

// hide marks invisible fields as read.
func (o *object) hide(keys ...string) {
	for _, k := range keys {
		o.seen[k] = true
	}
}

// sub reads an object. If the field is missing, the object has no fields.
func (o *object) sub(key string) *object {
	return o.p.object(o.at+"."+key, field[map[string]any](o, key))
}

// list reads the objects of a list.
func (o *object) list(key string) []*object {
	var out []*object
	for n, v := range field[[]any](o, key) {
		fields, ok := v.(map[string]any)
		if !ok {
			fail("%s.%s has %v", o.at, key, v)
		}
		out = append(out, o.p.object(fmt.Sprintf("%s.%s.%d", o.at, key, n), fields))
	}
	return out
}

// notes joins the properties of a control.
type notes []string

func (n *notes) when(ok bool, format string, args ...any) {
	if ok {
		*n = append(*n, fmt.Sprintf(format, args...))
	}
}

func (n notes) String() string {
	if len(n) == 0 {
		return ""
	}
	return ", " + strings.Join(n, ", ")
}

// sent describes the data that a control sends.
func sent(value string) string {
	if value == "" {
		return ""
	}
	return " → " + strings.TrimPrefix(value, tokenMark)
}

// A run is a text with uniform formats.
type run struct {
	text  string
	marks []string // outermost first
}

// Marks of the formats.
const (
	bold, italic, strike, code = "**", "_", "~~", "`"
)

var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "<http", `\<http`, "{", `\{`)

// marked writes runs in Markdown. It escapes literal Markdown characters.
func marked(runs []run) string {
	var b strings.Builder
	var open []string
	for _, r := range append(runs, run{}) {
		keep := 0
		for keep < min(len(open), len(r.marks)) && open[keep] == r.marks[keep] {
			keep++
		}
		for _, m := range slices.Backward(open[keep:]) {
			b.WriteString(m)
		}
		for _, m := range r.marks[keep:] {
			b.WriteString(m)
		}
		open = r.marks
		if slices.Contains(open, code) {
			b.WriteString(strings.ReplaceAll(r.text, "`", "\\`"))
		} else {
			b.WriteString(r.text) // escaped by the caller
		}
	}
	return b.String()
}

// choices writes the options of an input, with the mark of its kind.
func (p *page) choices(on, off string, options []choice) {
	for n, c := range options {
		mark := off
		if c.chosen {
			mark = on
		}
		line := mark + " " + c.label
		if c.hint != "" {
			line += " — " + c.hint
		}
		if c.value != fmt.Sprint(n) {
			line += " → " + strings.TrimPrefix(c.value, tokenMark)
		}
		p.add("", line)
	}
}

type choice struct {
	label, hint, value string
	chosen             bool
}
