package config

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/nodbridge/nod/bridge/removed"
	"github.com/nodbridge/nod/bridge/timespan"
	"github.com/nodbridge/nod/config/files"
)

// reader checks the nodes of a document against the types of a config before it
// decodes them, so that each problem has its line and its path. It replaces the
// sources of secrets with their values.
type reader struct {
	file string            // file name in messages; if empty, messages have only the line
	dir  string            // directory of relative paths
	env  map[string]string // environment, for secrets
	// at maps the path of each setting to its place: file and line, or a
	// variable.
	at   map[string]string
	used map[string]bool // variables that the file refers to
	from string          // variable that is being read, or ""
	errs []error
}

// maxDepth is the maximum number of levels of a document. Anchors can make a
// document endless.
const maxDepth = 32

// document decodes a YAML file into a config.
func (r *reader) document(raw []byte, c *Config) {
	dec := yaml.NewDecoder(strings.NewReader(string(raw)))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			r.syntax(err)
		}
		return
	}
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
		return
	case more.Content[0].ShortTag() != nullTag:
		r.bad(&more, "", "a second document begins here; nod reads only the first, so remove the line ---")
	}
	if doc.Content[0].ShortTag() == nullTag {
		return
	}
	r.value(doc.Content[0], reflect.TypeFor[Config](), "", "", 0)
	if len(r.errs) > 0 {
		return
	}
	if err := errors.Join(doc.Decode(c), c.settingsFrom(pairs(doc.Content[0], 0))); err != nil {
		r.syntax(err)
	}
}

// syntax adds an error from the YAML decoder, which starts with its line.
func (r *reader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok && r.file != "" {
		text = r.file + ":" + rest
	} else if r.file != "" {
		text = r.file + ": " + text
	}
	r.errs = append(r.errs, errors.New(text))
}

// where returns the place of a node for messages.
func (r *reader) where(n *yaml.Node) string {
	switch {
	case r.from != "":
		return r.from
	case r.file == "":
		return "line " + strconv.Itoa(n.Line)
	}
	return r.file + ":" + strconv.Itoa(n.Line)
}

// bad adds a problem with a node.
func (r *reader) bad(n *yaml.Node, path, format string, args ...any) {
	text := r.where(n) + ": "
	if path != "" {
		text += path + ": "
	}
	r.errs = append(r.errs, errors.New(text+fmt.Sprintf(format, args...)))
}

const (
	nullTag = "!!null"
	textTag = "!!str"
)

// value checks the node of a value against its type. Path is the path of the
// setting, and row is its path in docs/configuration.md.
func (r *reader) value(n *yaml.Node, t reflect.Type, path, row string, depth int) {
	at := n
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if path != "" {
		r.at[path] = r.where(n)
	}
	switch {
	case depth > maxDepth:
		r.bad(n, path, "too many levels; does an anchor contain itself?")
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		r.bad(n, path, "the tag %s is not supported", n.Tag)
	case path != "" && nothing(n) && !mayBeEmpty(n, t, row):
		hint := "set a value, or remove the key"
		if r.from != "" {
			hint = "set a value, or unset the variable"
		}
		r.bad(n, path, "empty; %s", hint)
	case t == reflect.TypeFor[Secret]():
		r.secret(n, path, row)
	case t == reflect.TypeFor[Duration]():
		r.duration(n, path, row)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time](), t.Kind() == reflect.Map:
		r.mapping(n, t, path, row, depth)
	case t.Kind() == reflect.Slice:
		r.list(at, n, t, path, row, depth)
	default:
		r.scalar(n, t, path, row)
	}
}

// nothing reports whether a node has no value.
func nothing(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.ShortTag() == nullTag || strings.TrimSpace(n.Value) == ""
	}
	return len(n.Content) == 0
}

// mayBeEmpty reports whether a setting may have no value in the file: an entry
// such as an agent whose token is in a variable, or a list for which an empty
// value has a meaning.
func mayBeEmpty(n *yaml.Node, t reflect.Type, row string) bool {
	if n.Kind == yaml.SequenceNode {
		return limitOf(row).empty
	}
	return t.Kind() == reflect.Struct && strings.HasSuffix(row, ".NAME") && (n.Kind == yaml.MappingNode || n.ShortTag() == nullTag)
}

// pair is a key of a mapping with its value.
type pair struct{ key, value *yaml.Node }

// pairs returns the keys of a mapping, including the keys that << merges into
// it.
func pairs(n *yaml.Node, depth int) []pair {
	var own, merged []pair
	for k := 1; k < len(n.Content); k += 2 {
		key, value := n.Content[k-1], n.Content[k]
		if key.Tag != "!!merge" {
			own = append(own, pair{key, value})
			continue
		}
		sources := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			sources = value.Content
		}
		for _, s := range sources {
			if s.Kind == yaml.AliasNode {
				s = s.Alias
			}
			if s.Kind == yaml.MappingNode && depth < maxDepth {
				merged = append(merged, pairs(s, depth+1)...)
			}
		}
	}
	for _, m := range merged {
		if !slices.ContainsFunc(own, func(p pair) bool { return p.key.Value == m.key.Value }) {
			own = append(own, m)
		}
	}
	return own
}

func (r *reader) mapping(n *yaml.Node, t reflect.Type, path, row string, depth int) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == nullTag {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.bad(n, path, "a mapping is required, not %s", kindOf(n))
		return
	}
	seen := map[string]int{}
	for _, p := range pairs(n, depth) {
		key := p.key.Value
		if line, twice := seen[key]; twice {
			r.bad(p.key, path, "duplicate key %q; line %d has it as well", key, line)
			continue
		}
		seen[key] = p.key.Line
		if t.Kind() == reflect.Map {
			r.value(p.value, t.Elem(), below(path, key), below(row, "NAME"), depth+1)
			continue
		}
		f, known := field(t, key)
		if known {
			r.value(p.value, f.Type, below(path, key), below(row, key), depth+1)
			continue
		}
		if instead, was := removed.Instead(removed.Setting, below(row, key)); was {
			r.bad(p.key, path, "removed key %q; %s", key, instead)
			continue
		}
		if path == "" && strings.HasPrefix(key, "x-") {
			continue // a key for anchors, as in Compose files
		}
		r.bad(p.key, path, "unknown key %q%s", key, meant(key, keys(t)))
	}
}

// keys returns the keys of a struct.
func keys(t reflect.Type) []string {
	var out []string
	for _, f := range fieldsOf(t) {
		out = append(out, f.Tag.Get("yaml"))
	}
	return out
}

// list checks a list. A single text is a valid list of texts: list then
// replaces at, but not n, because an anchor may refer to n.
func (r *reader) list(at, n *yaml.Node, t reflect.Type, path, row string, depth int) {
	if n.Kind == yaml.ScalarNode && t.Elem().Kind() == reflect.String {
		item := *n
		*at = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Content: []*yaml.Node{&item}}
		n = at
	}
	if n.Kind != yaml.SequenceNode {
		r.bad(n, path, "a list is required, not %s", kindOf(n))
		return
	}
	for k, item := range n.Content {
		r.value(item, t.Elem(), fmt.Sprintf("%s[%d]", path, k), row+"[]", depth+1)
	}
}

// scalar checks a text, a number, a time, or true or false.
func (r *reader) scalar(n *yaml.Node, t reflect.Type, path, row string) {
	if n.Kind == yaml.MappingNode {
		for _, p := range pairs(n, 0) { // the setting used to be a mapping
			if instead, was := removed.Instead(removed.Setting, below(row, p.key.Value)); was {
				r.bad(p.key, path, "removed key %q; %s", p.key.Value, instead)
				return
			}
		}
	}
	v := reflect.New(t)
	if n.Kind != yaml.ScalarNode || n.Decode(v.Interface()) != nil {
		r.bad(n, path, "%s is required, not %s", wanted(t), kindOf(n))
		return
	}
	problem := ""
	switch x := v.Elem(); x.Kind() {
	case reflect.String:
		if instead, was := removed.Instead(removed.Value, row+": "+x.String()); was {
			problem = fmt.Sprintf("removed value %q; %s", x, instead)
		} else {
			problem = limitOf(row).word(x.String())
		}
	case reflect.Int:
		problem = limitOf(row).count(int(x.Int()))
	}
	if problem != "" {
		r.bad(n, path, "%s", problem)
	}
}

func (r *reader) duration(n *yaml.Node, path, row string) {
	d, err := timespan.Parse(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.bad(n, path, "invalid duration %s (such as %s)", kindOf(n), timespan.Examples)
		return
	}
	if problem := limitOf(row).duration(d, n.Value); problem != "" {
		r.bad(n, path, "%s", problem)
	}
}

// secret checks a secret, and replaces a source with its value.
func (r *reader) secret(n *yaml.Node, path, row string) {
	value, ok := n.Value, true
	switch n.Kind {
	case yaml.ScalarNode:
	case yaml.MappingNode:
		value, ok = r.source(n, path)
	default:
		r.bad(n, path, "a secret must be a text, {env: NAME} or {file: PATH}")
		return
	}
	if !ok {
		return
	}
	value = strings.TrimSpace(value)
	blank := func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) && !limitOf(row).spaces }
	for part := range strings.SplitSeq(value, ",") {
		if strings.ContainsFunc(strings.TrimSpace(part), blank) {
			r.bad(n, path, "the secret contains a space or a line break; check that it is one complete secret")
			return
		}
	}
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: textTag, Value: value, Line: n.Line}
}

// source reads the value of a secret from a variable or a file.
func (r *reader) source(n *yaml.Node, path string) (string, bool) {
	var from struct{ env, file string }
	for _, p := range pairs(n, 0) {
		if p.value.Kind != yaml.ScalarNode || nothing(p.value) {
			r.bad(p.key, path, "a secret must be a text, {env: NAME} or {file: PATH}")
			return "", false
		}
		switch p.key.Value {
		case "env":
			from.env = p.value.Value
		case "file":
			from.file = p.value.Value
		default:
			r.bad(p.key, path, "unknown key %q in a secret; use env or file", p.key.Value)
			return "", false
		}
	}
	if from.env != "" && from.file != "" {
		r.bad(n, path, "env and file are both set; keep one of them")
		return "", false
	}
	value := r.env[from.env]
	if from.env != "" {
		r.used[from.env] = true
		if strings.TrimSpace(value) == "" {
			r.bad(n, path, "the environment variable %s is not set, or empty", from.env)
			return "", false
		}
		return value, true
	}
	file := from.file
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.dir, file)
	}
	raw, err := files.Read(file, maxSecret)
	switch {
	case err != nil:
		r.bad(n, path, "%v", err)
	case strings.TrimSpace(string(raw)) == "":
		r.bad(n, path, "the file %s is empty; write the secret to it, or remove the key", file)
	default:
		return string(raw), true
	}
	return "", false
}

// kindOf names the kind of a node's content.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == nullTag:
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// wanted names the kind of content that a type requires.
func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "a time such as 2026-11-02T09:00:00Z"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "text"
}
