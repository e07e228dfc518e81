package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/nodbridge/nod/bridge"
)

// Action describes the action that an approval permits. nod derives the text
// from the tool and its input. The agent's prompt does not affect it.
type Action struct {
	// Head names the action: "Run `make deploy`".
	Head []Span
	// Short is the headline of a closed card. It differs from Head if Head does
	// not name the object.
	Short []Span
	// Verb is the label of the approving control: "Run command".
	Verb string
	// Rest is the part of the input that Head does not show.
	Rest []Block
	// Origin lists the host, the directory and the account that the input
	// names.
	Origin []string
	// Program is the path of the program that runs, if the input names it.
	Program string
	// Stdin names the source of the program's standard input, if nod does not
	// show the input.
	Stdin  string
	size   string // length of a script; empty for a short one
	names  string // full text of what Head names: a command, a path, an address or a tool
	leads  bool   // Head holds the first line of the prompt
	listed []Span // Head in a list, if it differs: it shows the start of the command
	rest   func() []Block
}

// Names of tools, in lower case and without separators.
var (
	shellTools = set("bash shell sh zsh exec execute run command terminal localshell shellcommand runcommand " +
		"executecommand execcommand runshellcommand runterminalcmd runterminalcommand runinterminal bashtool shelltool")
	writeTools  = set("write writefile createfile newfile savefile")
	editTools   = set("edit multiedit notebookedit editfile applypatch applydiff strreplace strreplaceeditor strreplacebasededittool patch")
	deleteTools = set("delete deletefile removefile rm")
	fetchTools  = set("webfetch fetch httprequest http request fetchurl")
)

func set(s string) map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(s) {
		out[n] = true
	}
	return out
}

// plainName returns a tool's name in lower case and without separators.
func plainName(tool string) string {
	return separators.Replace(strings.ToLower(tool))
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// Limits of texts in a headline, in characters. Longer texts get a block.
const (
	maxHeadCommand = 60
	maxHeadObject  = 80
	maxListed      = 160
)

// fitsHead reports whether a text is short enough for a headline and looks the
// same there.
func fitsHead(s string, limit int) bool {
	return s != "" && Runes(s) <= limit && Clean(s) == s && !strings.ContainsAny(s, "`\n\r\t") &&
		strings.TrimSpace(s) == s && !strings.Contains(s, "  ")
}

func ActionOf(i bridge.Interaction) Action {
	act := describe(i)
	if act.rest != nil {
		act.Rest = act.rest()
	}
	return act
}

// verb returns the label of the control that approves once. It does not build
// the rest of the action.
func verb(i bridge.Interaction) string { return describe(i).Verb }

// describe returns the action of an approval without Rest.
func describe(i bridge.Interaction) Action {
	a := i.Approval
	if isEmpty(a.Input) {
		return prompted(i)
	}
	fields := object(a.Input)
	changes, rest := fileChanges(fields)
	act, ok := interpreted(i, plainName(a.Tool), rest)
	switch {
	case ok && len(changes) == 0:
		return act
	case !ok && len(rest) == 0 && len(changes) > 0 && editTools[plainName(a.Tool)]:
		act = Action{Head: []Span{{Text: fmt.Sprintf("Edit %d files", len(changes))}}, Verb: "Apply edit"}
		act.Short = act.Head
	case !ok:
		act = called(a.Tool)
		act.rest = func() []Block { return inputBlocks(rest) }
		if len(changes) == 0 {
			act.rest = func() []Block { return Input(*a) }
		}
	}
	blocks := act.rest
	act.rest = func() []Block {
		var out []Block
		if blocks != nil {
			out = blocks()
		}
		for _, c := range changes {
			out = append(out, c.blocks()...)
		}
		return out
	}
	return act
}

// interpreted returns the action of a tool whose input nod knows how to read. It
// reports false for any other tool or input.
func interpreted(i bridge.Interaction, name string, fields map[string]any) (Action, bool) {
	switch {
	case len(fields) == 0:
	case shellTools[name] || name == "":
		return command(unsaid(i, fields))
	case writeTools[name] || editTools[name] || deleteTools[name]:
		return fileAction(name, fields)
	case fetchTools[name]:
		return fetch(fields)
	}
	return Action{}, false
}

// unsaid returns the fields of a command, without a description that the card
// quotes verbatim.
func unsaid(i bridge.Interaction, fields map[string]any) map[string]any {
	text, ok := fields["description"].(string)
	if !ok {
		return fields
	}
	doc := Markdown(i.Prompt)
	for n, b := range doc {
		if b.Kind == Paragraph && PlainText(doc[n:n+1]) == text {
			return without(fields, "description")
		}
	}
	return fields
}

// without returns the fields except for one. It returns nil if no other field
// exists.
func without(fields map[string]any, name string) map[string]any {
	if _, has := fields[name]; has && len(fields) == 1 {
		return nil
	}
	rest := maps.Clone(fields)
	delete(rest, name)
	return rest
}

// called is the action of a tool whose input nod does not interpret.
func called(tool string) Action {
	head := []Span{{Text: "Call "}, {Text: Line(toolName(tool)), Code: true}}
	return Action{Head: head, Short: head, Verb: LabelCall, names: tool}
}

func isEmpty(input json.RawMessage) bool {
	s := bytes.TrimSpace(input)
	return len(s) == 0 || string(s) == "null" || string(s) == "{}"
}

// prompted returns the action of an approval without an input. Its headline
// names the tool, or the agent and the start of the prompt.
func prompted(i bridge.Interaction) Action {
	if tool := i.Approval.Tool; tool != "" {
		return called(tool)
	}
	doc := Markdown(i.Prompt)
	if len(doc) == 0 || !isLine(doc[0]) {
		head := []Span{{Text: "Approve what " + Line(i.Agent) + " asks for"}}
		return Action{Head: head, Short: head, Verb: LabelAllow}
	}
	head := append([]Span{{Text: Line(i.Agent) + " asks: "}}, doc[0].Spans...)
	return Action{Head: head, Short: doc[0].Spans, Verb: LabelAllow, leads: true}
}

// toolName returns the display name of a tool: mcp__files__read becomes "files
// › read".
func toolName(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		if server, name, ok := strings.Cut(rest, "__"); ok && server != "" && name != "" {
			return server + " › " + name
		}
	}
	return tool
}

// object returns the members of a JSON object, or nil.
func object(raw json.RawMessage) map[string]any {
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&fields) != nil {
		return nil
	}
	return fields
}

func command(fields map[string]any) (Action, bool) {
	cmd, rest := take(fields, "command", "cmd", "argv")
	if cmd == "" {
		return Action{}, false
	}
	act := Action{names: cmd}
	if _, listed := fields["argv"]; listed {
		act.Program, rest = pop(rest, "program")
		act.Stdin, rest = pop(rest, "stdin")
		var host, directory, user string
		host, rest = popShort(rest, "host")
		directory, rest = popShort(rest, "directory")
		user, rest = popShort(rest, "user")
		if host != "" {
			act.Origin = append(act.Origin, "on "+Line(host))
		}
		if directory != "" {
			act.Origin = append(act.Origin, Line(directory))
		}
		if user != "" {
			act.Origin = append(act.Origin, "runs as "+Line(user))
		}
	}
	lines := strings.Count(strings.TrimRight(cmd, "\n"), "\n") + 1
	switch {
	case fitsHead(cmd, maxHeadCommand):
		act.Head, act.Verb = []Span{{Text: "Run "}, {Text: cmd, Code: true}}, LabelRun
		act.Short = act.Head
	case lines > 1:
		act.Head, act.Verb = []Span{{Text: "Run a " + Count(lines) + "-line script"}}, LabelScript
		act.Short, act.size = act.Head, sizeOf(cmd)
		act.listed = []Span{{Text: headText(act.Head) + ": "}, {Text: Cut(Line(cmd), maxListed, Runes), Code: true}}
	default:
		act.Head, act.Verb = []Span{{Text: "Run this command"}}, LabelRun
		act.Short = []Span{{Text: "Run a command"}}
		act.listed = []Span{{Text: "Run "}, {Text: Cut(Line(cmd), maxListed, Runes), Code: true}}
	}
	act.rest = func() []Block {
		if fitsHead(cmd, maxHeadCommand) {
			return jsonBlock(rest)
		}
		return append(shellBlock(cmd), jsonBlock(rest)...)
	}
	return act, true
}

// sizeOf returns the size of a script that is too long to read at a glance.
func sizeOf(script string) string {
	if len(script) < 10_000 {
		return ""
	}
	return " (" + Count(len(script)/1000) + " KB)"
}

// popShort removes a text from fields if it fits the line that names the agent.
// A longer text stays, and the card shows it in full with the input.
func popShort(fields map[string]any, name string) (string, map[string]any) {
	s, rest := pop(fields, name)
	if !fitsHead(s, maxHeadObject) {
		return "", fields
	}
	return s, rest
}

// pop removes a text from fields and returns both.
func pop(fields map[string]any, name string) (string, map[string]any) {
	s, _ := fields[name].(string)
	if s == "" { // an empty text shows nothing
		return "", fields
	}
	return s, without(fields, name)
}

func fileAction(tool string, fields map[string]any) (Action, bool) {
	path, rest := take(fields, "file_path", "path", "filename", "notebook_path")
	if path == "" {
		return Action{}, false
	}
	act := Action{names: path}
	word := ""
	change := func() ([]Block, map[string]any) { return nil, rest }
	switch {
	case writeTools[tool]:
		word, act.Verb = "Write ", "Write file"
		change = func() ([]Block, map[string]any) { return content(rest) }
	case deleteTools[tool]:
		word, act.Verb = "Delete ", "Delete file"
	default:
		word, act.Verb = "Edit ", "Apply edit"
		change = func() ([]Block, map[string]any) { return edit(rest) }
	}
	fits := fitsHead(path, maxHeadObject)
	act.Head = []Span{{Text: word}, {Text: path, Code: true}}
	act.Short = act.Head
	if !fits {
		act.Head = []Span{{Text: word + "this file"}}
		act.Short = []Span{{Text: word + "a file"}}
	}
	act.rest = func() []Block {
		blocks, others := change()
		if !fits {
			blocks = append([]Block{{Kind: Code, Text: exactName(path)}}, blocks...)
		}
		return append(blocks, jsonBlock(others)...)
	}
	return act, true
}

// fullDiff returns a line diff without headers that keeps every unchanged line.
func fullDiff(was, now string) string { return lineDiff(was, now, strings.Count(was, "\n")+2) }

// lineDiff returns a line diff without headers that keeps the given number of
// unchanged lines around each change. An ellipsis replaces the omitted lines
// between changes.
func lineDiff(was, now string, around int) string {
	edits := udiff.Lines(was+"\n", now+"\n")
	diff, err := udiff.ToUnified("a", "b", was+"\n", edits, around)
	if err != nil {
		return marked("-", was) + "\n" + marked("+", now)
	}
	var out []string
	for n, line := range strings.Split(strings.TrimRight(diff, "\n"), "\n") {
		switch {
		case n < 2: // file names
		case !strings.HasPrefix(line, "@@ "):
			out = append(out, line)
		case len(out) > 0:
			out = append(out, "…")
		}
	}
	return strings.Join(out, "\n")
}

func fetch(fields map[string]any) (Action, bool) {
	url, rest := pop(fields, "url")
	if url == "" {
		return Action{}, false
	}
	method, rest := pop(rest, "method")
	if !fitsHead(method, 10) && method != "" {
		return Action{}, false
	}
	act := Action{Verb: "Send request", names: url}
	text := "Send " + strings.ToUpper(method) + " to "
	if m := strings.ToUpper(method); m == "" || m == "GET" {
		act.Verb, text = "Fetch page", "Fetch "
	}
	act.Head = []Span{{Text: text}, {Text: url, Code: true}}
	act.Short = act.Head
	act.rest = func() []Block { return jsonBlock(rest) }
	if !fitsHead(url, maxHeadObject) {
		act.Head = []Span{{Text: text + "this address"}}
		act.Short = []Span{{Text: text + "an address"}}
		act.rest = func() []Block { return append([]Block{{Kind: Code, Text: exactName(url)}}, jsonBlock(rest)...) }
	}
	return act, true
}
