package oncall

import "strings"

// nod reads calendars with its own code, except for recurrence rules, for which
// it uses rrule-go. No library does the rest of what on-call schedules need.
// golang-ical and go-ical read lines and components, which is the smallest
// part. Neither supports the zones that a calendar defines, moved occurrences,
// or shifts by wall time. golang-ical would replace 40 lines of this file. But
// it reads names of parameters only in upper case, so someone who declined
// would be on call, and it refuses the event of an attendee whose name contains
// quotation marks. go-ical refuses the complete calendar for such a line, and
// panics on a line that ends after "=".

// block is a component of a calendar, such as VEVENT.
type block struct {
	name  string
	props map[string][]prop // properties by name, in order
	parts []*block
	lines []string // lines with its properties
	bad   string   // first line that is not a property
}

// prop is a property of a component.
type prop struct {
	params map[string]string
	value  string
}

func (p prop) param(name string) string { return p.params[name] }

// text returns the first value of a property as text, or "" if there is none.
func (b *block) text(name string) string {
	all := b.props[name]
	if len(all) == 0 {
		return ""
	}
	return unescaped.Replace(all[0].value)
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";")

// all returns the components with a name.
func (b *block) all(name string) []*block {
	var out []*block
	for _, p := range b.parts {
		if p.name == name {
			out = append(out, p)
		}
	}
	return out
}

// count returns the number of properties with a name in all components.
func (b *block) count(name string) int {
	n := len(b.props[name])
	for _, p := range b.parts {
		n += p.count(name)
	}
	return n
}

// parse returns the calendars in a text. It returns false if there are none, or
// if the text ends early.
func parse(text string) ([]*block, bool) {
	root := &block{}
	open := []*block{root}
	for _, line := range unfolded(text) {
		in := open[len(open)-1]
		name, p, ok := property(line)
		switch {
		case !ok:
			in.bad = line
		case name == "BEGIN":
			b := &block{name: strings.ToUpper(strings.TrimSpace(p.value)), props: map[string][]prop{}}
			in.parts, open = append(in.parts, b), append(open, b)
		case name == "END":
			if len(open) == 1 || in.name != strings.ToUpper(strings.TrimSpace(p.value)) {
				return nil, false
			}
			open = open[:len(open)-1]
		case in.props != nil:
			in.props[name] = append(in.props[name], p)
			in.lines = append(in.lines, line)
		}
	}
	found := root.all("VCALENDAR")
	return found, len(found) > 0 && len(open) == 1
}

// unfolded returns the lines of a text, with continuation lines joined.
func unfolded(text string) []string {
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case line == "":
		case (line[0] == ' ' || line[0] == '\t') && out.Len() > 0:
			out.WriteString(line[1:])
		default:
			out.WriteString("\n" + line)
		}
	}
	return strings.Split(strings.TrimPrefix(out.String(), "\n"), "\n")
}

// property returns the name of a property in upper case, its parameters and its
// value.
func property(line string) (string, prop, bool) {
	var parts []string // the name and the parameters
	start, quoted := 0, false
	for n := range len(line) {
		switch c := line[n]; {
		case c == '"':
			quoted = !quoted
		case quoted || c != ';' && c != ':':
		case c == ';':
			parts, start = append(parts, line[start:n]), n+1
		default:
			parts = append(parts, line[start:n])
			p := prop{params: map[string]string{}, value: line[n+1:]}
			for _, param := range parts[1:] {
				name, value, _ := strings.Cut(param, "=")
				p.params[strings.ToUpper(name)] = strings.Trim(value, `"`)
			}
			return strings.ToUpper(parts[0]), p, parts[0] != ""
		}
	}
	return "", prop{}, false
}
