package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/proof"
)

// input is an act, read once for all rules.
type input struct {
	bridge.Act
	tree   any
	lines  []*line // every command that it holds, in every reading
	files  []file
	leaves []leaf
	// doubts are the reasons why no rule may allow it, or a grant by a rule
	// cover it.
	doubts []string
}

// maxDepth is the depth to which fields of an input are read.
const maxDepth = 32

func read(a bridge.Act) *input {
	in := &input{Act: a}
	if len(a.Input) == 0 {
		return in
	}
	canonical, err := proof.Canonical(a.Input)
	if err == nil {
		in.tree, err = decode(canonical)
	}
	if err != nil {
		in.doubt("the input cannot be read in one way only")
		in.tree, _ = decode(a.Input) // nil if that cannot be read either
		in.lines = append(in.lines, &line{raw: string(a.Input), err: err})
	}
	switch v := in.tree.(type) {
	case map[string]any:
		in.object("", v, 0)
	case nil:
	default:
		in.doubt("the input is not an object")
		in.command("input", v, nil)
	}
	for _, l := range in.lines {
		if s := otherShell(a.Tool); s != "" && l.err == nil {
			l.err = fmt.Errorf("the tool is named after %s, which reads lines in another way", s)
		}
	}
	return in
}

func decode(raw []byte) (any, error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var out any
	err := dec.Decode(&out)
	return out, err
}

func isNumber(v any) bool {
	_, ok := v.(json.Number)
	return ok
}

func (in *input) doubt(format string, args ...any) {
	in.doubts = append(in.doubts, fmt.Sprintf(format, args...))
}

// object reads the fields of an object, wherever it is in the input.
func (in *input) object(prefix string, fields map[string]any, depth int) {
	if depth > maxDepth {
		in.doubt("the input is nested too deeply")
		return
	}
	names := slices.Sorted(maps.Keys(fields))
	byName := map[string]string{}
	for _, name := range names {
		n := normal(name)
		if other, ok := byName[n]; ok {
			in.doubt("the fields %q and %q can be taken for the same", other, name)
		}
		byName[n] = name
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			in.doubt("the field name %q has a character other than printable ASCII", name)
		}
	}
	skip := in.started(fields, names)
	args, hasArgs := in.arguments(fields, names, skip)
	for _, name := range names {
		v, full := fields[name], prefix+name
		switch {
		case skip[name]:
		case commandNames[normal(name)]:
			in.command(name, v, args)
		case normal(name) == "shell" && !isShellField(v):
			in.doubt("the field %q does not name a shell that reads plain lines", name)
			in.command(name, v, nil)
		case hasArgs && argsNames[normal(name)]:
		case isPathName(name):
			in.path(full, name, v, depth)
		default:
			in.value(full, v, depth)
		}
	}
}

func isShellField(v any) bool {
	s, ok := v.(string)
	return ok && isKnownShell(s)
}

// started reads a program with its argument list, as nod run sends it. It
// returns the fields that it has read.
func (in *input) started(fields map[string]any, names []string) map[string]bool {
	var programName, argvName string
	for _, name := range names {
		switch n := normal(name); {
		case programNames[n] && programName == "":
			programName = name
		case n == "argv" && argvName == "":
			argvName = name
		}
	}
	if programName == "" || argvName == "" {
		return nil
	}
	program, ok := fields[programName].(string)
	argv, listed := texts(fields[argvName])
	if !ok || !listed || len(argv) == 0 {
		in.doubt("program is not a text, or argv is not a list of texts")
		return nil
	}
	l := startedLine(program, argv)
	in.lines = append(in.lines, l)
	if l.err != nil { // a program such as busybox goes by the name that it is given
		in.lines = append(in.lines, wordLine(argv))
	}
	skip := map[string]bool{programName: true, argvName: true}
	if in.Tool == "run" {
		for _, name := range []string{"host", "user"} { // where it runs, for people to read
			if _, ok := fields[name].(string); ok {
				skip[name] = true
			}
		}
	}
	return skip
}

// arguments returns the arguments that a field next to a command holds.
func (in *input) arguments(fields map[string]any, names []string, skip map[string]bool) (args []string, ok bool) {
	hasCommand := slices.ContainsFunc(names, func(name string) bool { return commandNames[normal(name)] })
	if !hasCommand {
		return nil, false
	}
	for _, name := range names {
		if !argsNames[normal(name)] {
			continue
		}
		list, listed := texts(fields[name])
		if s, isText := fields[name].(string); isText {
			list, listed = strings.Fields(s), true
			in.doubt("the field %q is a text and not a list", name)
		}
		if !listed || len(skip) > 0 {
			in.doubt("the field %q is next to a command, and is not a list of texts for it", name)
		}
		args, ok = append(args, list...), ok || listed
	}
	return args, ok
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// command reads a field that holds a command, a list of words, or a list of
// commands.
func (in *input) command(name string, v any, args []string) {
	if s, ok := v.(string); ok {
		if args == nil {
			in.lines = append(in.lines, newLine(s))
			return
		}
		words := strings.Fields(s)
		if len(words) != 1 {
			in.doubt("the field %q has several words and arguments in another field", name)
			in.lines = append(in.lines, newLine(s))
		}
		in.words(append(words, args...))
		return
	}
	words, ok := texts(v)
	if !ok || len(words) == 0 {
		in.doubt("the field %q is neither a text nor a list of texts", name)
		in.value(name, v, 0)
		return
	}
	if args != nil {
		in.doubt("the field %q is a list, and has arguments in another field", name)
	}
	if listNames[normal(name)] {
		for _, s := range words {
			in.lines = append(in.lines, newLine(s))
		}
	}
	in.words(append(words, args...))
}

// words reads a list of words in two ways: as a program and its arguments, and
// joined by blanks, as some tools do before they call a shell.
func (in *input) words(words []string) {
	l := wordLine(words)
	joined := newLine(strings.Join(words, " "))
	if len(joined.calls) != 1 || !slices.Equal(joined.calls[0].words, words) {
		in.lines = append(in.lines, joined)
	}
	in.lines = append(in.lines, l)
}

// path reads a field that holds one path or several.
func (in *input) path(full, name string, v any, depth int) {
	switch v := v.(type) {
	case string:
		if isURL(name, v) {
			in.leaves = append(in.leaves, leaf{full, v})
			return
		}
		in.files = append(in.files, newFile(full, name, v, in.Where))
	case []any:
		if len(v) == 0 {
			in.leaves = append(in.leaves, leaf{full, v})
		}
		for _, item := range v {
			if _, nested := item.([]any); nested {
				in.doubt("the field %q is a list of lists", full)
			}
			if fields, ok := item.(map[string]any); ok {
				in.object(full+".", fields, depth+1)
				continue
			}
			in.path(full, name, item, depth)
		}
	default:
		if !weakNames[normal(name)] {
			in.doubt("the field %q is not a text", full)
		}
		in.value(full, v, depth)
	}
}

// value reads a field that is neither a command nor a path.
func (in *input) value(full string, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			in.leaves = append(in.leaves, leaf{full, v})
		}
		in.object(full+".", v, depth+1)
	case []any:
		if depth > maxDepth {
			in.doubt("the input is nested too deeply")
			return
		}
		if len(v) == 0 {
			in.leaves = append(in.leaves, leaf{full, v})
		}
		for _, item := range v {
			in.value(full, item, depth+1)
		}
	default:
		in.leaves = append(in.leaves, leaf{full, v})
	}
}

// place reports whether the place of an act can be compared with a pattern: it
// has no .. and nothing that other programs read in another way.
func (in *input) place() bool {
	return in.Where != "" && path.Clean(in.Where) == in.Where && !slices.Contains(strings.Split(in.Where, "/"), "..") &&
		!strings.ContainsFunc(in.Where, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}
