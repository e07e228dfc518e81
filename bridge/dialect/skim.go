package dialect

import (
	"encoding/json"
	"slices"
)

const (
	// maxSkimName limits the length of the names that a Skim compares, in
	// bytes. maxSkimmed limits the number of values that it keeps for a name.
	maxSkimName, maxSkimmed = 100, 8
)

// Skim reads a few members of a JSON object of any size and shape. The object
// does not have to be complete or valid, and its texts may contain invalid
// UTF-8. Members of inner objects do not count. Write never fails.
type Skim struct {
	// Limits holds the names of the members to keep, and the maximum size of
	// their values in bytes. Skim keeps only the start of a longer value.
	Limits map[string]int

	found map[string][]skimmed

	depth, base   int  // number of open brackets, now and at the outermost object
	text, escaped bool // whether the position is in a string, and after its backslash
	key           bool // the next string is a name
	name          []byte
	capture       bool // the value after the colon must be kept
	reading       bool // this value is being read
	limit         int
	value         []byte
	long          bool
}

// skimmed is the value of a member. Long means that raw is only its start.
type skimmed struct {
	raw  []byte
	long bool
}

// Write implements io.Writer.
func (s *Skim) Write(p []byte) (int, error) {
	for _, c := range p {
		s.next(c)
	}
	return len(p), nil
}

func (s *Skim) outermost() bool { return s.base > 0 && s.depth == s.base }

// next reads one byte.
func (s *Skim) next(c byte) {
	if s.text {
		s.inText(c)
		return
	}
	if s.capture && c > ' ' && c != ',' && c != '}' && c != ']' {
		s.capture, s.reading = false, true
		s.value, s.long = nil, false
	}
	switch c {
	case '"':
		s.text = true
		if s.key && s.outermost() {
			s.name = s.name[:0]
		}
		s.keep(c)
	case '{', '[':
		s.keep(c)
		s.depth++
		if c == '{' && s.base == 0 {
			s.base = s.depth
		}
		s.key = c == '{' && s.outermost()
	case '}', ']':
		s.close(c)
	case ',':
		if s.outermost() {
			s.end()
			s.key = true
		}
		s.keep(c)
	case ':':
		s.keep(c)
		if s.outermost() && s.key {
			s.key = false
			s.begin()
		}
	case ' ', '\t', '\r', '\n':
	default:
		s.keep(c)
	}
}

// inText reads a byte of a string.
func (s *Skim) inText(c byte) {
	s.keep(c)
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		if s.text = false; s.reading && s.outermost() {
			s.end()
		}
		return
	}
	if s.key && s.outermost() && len(s.name) <= maxSkimName {
		s.name = append(s.name, c)
	}
}

func (s *Skim) close(c byte) {
	if s.outermost() {
		s.end()
		s.base, s.key = 0, false
	}
	s.keep(c)
	if s.depth = max(s.depth-1, 0); s.outermost() {
		s.end()
	}
}

// begin prepares for the value of the current name.
func (s *Skim) begin() {
	var name string
	if json.Unmarshal(slices.Concat([]byte{'"'}, s.name, []byte{'"'}), &name) != nil {
		return
	}
	s.limit, s.capture = s.Limits[name], s.Limits[name] > 0
	s.name = []byte(name)
}

// keep adds a byte to the current value.
func (s *Skim) keep(c byte) {
	switch {
	case !s.reading:
	case len(s.value) < s.limit:
		s.value = append(s.value, c)
	default:
		s.long = true
	}
}

// end stores the current value.
func (s *Skim) end() {
	s.capture = false
	if !s.reading {
		return
	}
	s.reading = false
	if s.found == nil {
		s.found = map[string][]skimmed{}
	}
	if name := string(s.name); len(s.found[name]) < maxSkimmed {
		s.found[name] = append(s.found[name], skimmed{s.value, s.long})
	}
	s.value = nil
}

// one returns the value of a member. It returns false if the member is missing
// or has several different values.
func (s *Skim) one(name string) (skimmed, bool) {
	all := s.found[name]
	if len(all) == 0 || slices.ContainsFunc(all, func(v skimmed) bool { return string(v.raw) != string(all[0].raw) }) {
		return skimmed{}, false
	}
	return all[0], true
}

// Texts returns the distinct texts of a member.
func (s *Skim) Texts(name string) []string {
	var out []string
	for _, v := range s.found[name] {
		if text, ok := v.text(); ok && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Text returns the text of a member, or "" if the member is missing or has
// several different values.
func (s *Skim) Text(name string) string {
	if all := s.Texts(name); len(all) == 1 {
		return all[0]
	}
	return ""
}

// True reports whether a member is true.
func (s *Skim) True(name string) bool {
	v, ok := s.one(name)
	return ok && string(v.raw) == "true"
}

// maxEscape is the length of the longest escape in a string, which is a
// surrogate pair.
const maxEscape = 12

// text decodes a string. If the string was cut off, it returns the start.
func (v skimmed) text() (string, bool) {
	var text string
	if !v.long {
		return text, json.Unmarshal(v.raw, &text) == nil && len(v.raw) > 0 && v.raw[0] == '"'
	}
	if len(v.raw) == 0 || v.raw[0] != '"' {
		return "", false
	}
	for cut := range min(maxEscape, len(v.raw)) {
		if json.Unmarshal(append(slices.Clone(v.raw[:len(v.raw)-cut]), '"'), &text) == nil {
			return text, true
		}
	}
	return "", false
}
