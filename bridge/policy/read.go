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

// input is an action, parsed once for all rules.
type input struct {
	bridge.Act
	tree   any
	lines  []*line // every command in the input, in every reading
	files  []file
	leaves []leaf
	// doubts are the reasons why no rule may allow the input, and why no
	// grant by a rule may cover it.
	doubts []string
}

// maxDepth is the maximum depth of the fields of an input that are read.
const maxDepth = 32

func read(a bridge.Act) *input {
	in := &input{Act: a, doubts: slices.Clone(a.Doubts)}
	if len(a.Input) == 0 {
		return in
	}
	canonical, err := proof.Canonical(a.Input)
	if err == nil {
		in.tree, err = decode(canonical)
	}
	if err != nil {
		in.doubt("the input is ambiguous")
		in.tree, _ = decode(a.Input) // nil if that fails too
		in.lines = append(in.lines, &line{raw: string(a.Input), err: err})
	}
	switch v := in.tree.(type) {
	case map[string]any:
		in.object(nil, v, 0)
	case nil:
	default:
		in.doubt("the input is not an object")
		in.command("input", v, nil)
	}
	for _, l := range in.lines {
		if s := otherShell(a.Tool); s != "" && l.err == nil {
			l.err = fmt.Errorf("the tool is named after %s, which reads lines differently", s)
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

// object reads the fields of an object at any depth of the input.
func (in *input) object(outer field, fields map[string]any, depth int) {
	if depth > maxDepth {
		in.doubt("the input is nested too deeply")
		return
	}
	names := slices.Sorted(maps.Keys(fields))
	byName := map[string]string{}
	for _, name := range names {
		n := normal(name)
		if other, ok := byName[n]; ok {
			in.doubt("the fields %q and %q are easily confused", other, name)
		}
		byName[n] = name
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			in.doubt("the field name %q has a character other than printable ASCII", name)
		}
	}
	skip := in.started(fields, names)
	args, hasArgs := in.arguments(fields, names, skip)
	for _, name := range names {
		v, full := fields[name], outer.inner(name)
		switch {
		case skip[name]:
		case commandNames[normal(name)]:
			in.command(name, v, args)
		case normal(name) == "shell" && !isShellField(v):
			in.doubt("the field %q names a shell that does not read plain lines", name)
			in.command(name, v, nil)
		case hasArgs && argsNames[normal(name)]:
		case isPathName(name):
			in.path(full, v, depth)
		default:
			in.value(full, v, depth)
		}
	}
}

func isShellField(v any) bool {
	s, ok := v.(string)
	return ok && isKnownShell(s)
}

// started reads a program with its argument list, in the format of nod run. It
// returns the names of the fields that it has read.
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
		in.doubt("program is not a string, or argv is not a list of strings")
		return nil
	}
	l := startedLine(program, argv)
	in.lines = append(in.lines, l)
	if l.err != nil { // the behavior of a program such as busybox depends on its name
		in.lines = append(in.lines, wordLine(argv))
	}
	skip := map[string]bool{programName: true, argvName: true}
	if in.Tool == "run" {
		for _, name := range []string{"host", "user"} { // only shown to people
			if _, ok := fields[name].(string); ok {
				skip[name] = true
			}
		}
	}
	return skip
}

// arguments returns the arguments in the fields next to a command.
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
			in.doubt("the field %q is a string and not a list", name)
		}
		if !listed || len(skip) > 0 {
			in.doubt("the field %q is next to a command, but is not a list of strings", name)
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

// command reads a field with a command, a list of words, or a list of commands.
func (in *input) command(name string, v any, args []string) {
	if s, ok := v.(string); ok {
		if args == nil {
			in.lines = append(in.lines, newLine(s))
			return
		}
		words := strings.Fields(s)
		if len(words) != 1 {
			in.doubt("the field %q has several words, but its arguments are in another field", name)
			in.lines = append(in.lines, newLine(s))
		}
		in.words(append(words, args...))
		return
	}
	words, ok := texts(v)
	if !ok || len(words) == 0 {
		in.doubt("the field %q is neither a string nor a list of strings", name)
		in.value(field{name}, v, 0)
		return
	}
	if args != nil {
		in.doubt("the field %q is a list, but its arguments are in another field", name)
	}
	if listNames[normal(name)] {
		for _, s := range words {
			in.lines = append(in.lines, newLine(s))
		}
	}
	in.words(append(words, args...))
}

// words reads a list of words in two ways: as a program with arguments, and as
// a line joined by spaces, because some tools join the words before they start
// a shell.
func (in *input) words(words []string) {
	l := wordLine(words)
	joined := newLine(strings.Join(words, " "))
	if len(joined.calls) != 1 || !slices.Equal(joined.calls[0].words, words) {
		in.lines = append(in.lines, joined)
	}
	in.lines = append(in.lines, l)
}

// path reads a field with one or more paths.
func (in *input) path(full field, v any, depth int) {
	name := full[len(full)-1]
	switch v := v.(type) {
	case string:
		if isURL(name, v) {
			in.leaves = append(in.leaves, leaf{full, v})
			return
		}
		in.files = append(in.files, newFile(full, v, in.Where))
	case []any:
		if len(v) == 0 {
			in.leaves = append(in.leaves, leaf{full, v})
		}
		for _, item := range v {
			if _, nested := item.([]any); nested {
				in.doubt("the field %q is a list of lists", full)
			}
			if fields, ok := item.(map[string]any); ok {
				in.object(full, fields, depth+1)
				continue
			}
			in.path(full, item, depth)
		}
	default:
		if !weakNames[normal(name)] {
			in.doubt("the field %q is not a string", full)
		}
		in.value(full, v, depth)
	}
}

// value reads a field that is neither a command nor a path.
func (in *input) value(full field, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			in.leaves = append(in.leaves, leaf{full, v})
		}
		in.object(full, v, depth+1)
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

// place reports whether the location of an action can be compared with a
// pattern. Such a location contains neither .. nor a character that programs
// read differently.
func (in *input) place() bool {
	return in.Where != "" && path.Clean(in.Where) == in.Where && !slices.Contains(strings.Split(in.Where, "/"), "..") &&
		!strings.ContainsFunc(in.Where, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' })
}
