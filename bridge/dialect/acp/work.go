package acp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/dialect"
)

// work describes a tool call as an approval.
type work struct {
	tool, prompt, where string
	input               json.RawMessage
}

// Kinds of calls.
const (
	execute = "execute"
	edit    = "edit"
)

// Names of members in an input. ACP does not define these names.
const (
	commandName   = "command"
	diffsName     = "diffs"
	contentName   = "content"
	locationsName = "locations"
	earlierName   = "earlier"
	inputName     = "input"
)

// block is one item of a call's content.
type block struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
	Path    string          `json:"path"`
	Old     *string         `json:"oldText"`
	New     *string         `json:"newText"`
}

// diff is the change of a file.
type diff struct {
	Path string  `json:"path"`
	Old  *string `json:"oldText,omitempty"`
	New  string  `json:"newText"`
}

// work translates a call. Everything that the agent has sent about the call is
// in the input or in the prompt, once.
func (d details) work(p permissionParams) (work, error) {
	if d.Unreadable {
		return work{}, bridge.Errorf(bridge.CodeUnsupported, "toolCall: an earlier update cannot be read, so no card can show the call").
			WithHint("answer it in the editor")
	}
	w := work{tool: d.Kind, where: p.Subject.Cwd}
	input, notes := d.base(&w)
	title := d.Title
	if p.Title != "" {
		title = p.Title
	}
	diffs, texts, others, err := d.contents()
	if err != nil {
		return w, err
	}
	diffs = slices.DeleteFunc(diffs, func(c diff) bool { return repeats(input, c) })
	command := commandOf(input)
	if command == "" && w.tool == execute && len(input) == 0 && title != "" {
		command = title // Gemini CLI sends the command as the title, and no input
		input = object{commandName: text(command)}
	}
	switch {
	case w.tool != "":
	case command != "":
		w.tool = execute
	case len(diffs) > 0:
		w.tool = edit
	default:
		w.tool = "tool"
	}
	if title == "" && len(input)+len(diffs)+len(texts)+len(others)+len(d.Earlier)+len(d.Locations) == 0 {
		return w, bridge.Errorf(bridge.CodeUnsupported, "toolCall: neither a title, an input nor content, so no card can show the call").
			WithHint("answer it in the editor")
	}
	more := object{}
	if len(diffs) == 1 && len(input) == 0 && w.tool == edit {
		input, diffs = replaced(diffs[0]), nil
	}
	changes := make([]json.RawMessage, len(diffs))
	for n := range diffs {
		if changes[n], err = dialect.Encode(diffs[n]); err != nil {
			return w, err
		}
	}
	for name, items := range map[string][]json.RawMessage{diffsName: changes, contentName: others, locationsName: d.places(w.where, input, diffs), earlierName: d.Earlier} {
		if len(items) == 0 {
			continue
		}
		if more[name], err = dialect.Encode(items); err != nil {
			return w, err
		}
	}
	w.input = joined(input, more)
	w.prompt = prompt(title, command, d.ID, append(append([]string{p.Description}, notes...), texts...))
	return w, nil
}

// base returns the input of the call as an object, without the agent's internal
// members, and the notes of the agent in it.
func (d details) base(w *work) (input object, notes []string) {
	if isEmpty(d.RawInput) {
		return object{}, nil
	}
	input = objectOf(d.RawInput)
	if input == nil {
		return object{inputName: d.RawInput}, nil
	}
	input = maps.Clone(input)
	if cwd, ok := textOf(input["cwd"]); ok && (w.where == "" || w.where == cwd) {
		w.where = cwd
		delete(input, "cwd")
	}
	if says, ok := textOf(input["description"]); ok && commandOf(input) != "" {
		notes = append(notes, says)
		delete(input, "description")
	}
	if d.isCodex(input) {
		input, more := codexInput(w, input)
		return input, append(notes, more...)
	}
	return input, notes
}

// codexOwn lists members of a Codex event that codex-acp sends as the input.
// They repeat the command or the options, or identify the call.
var codexOwn = []string{
	"call_id", "turn_id", "approval_id", "started_at_ms", "completed_at_ms", "parsed_cmd", "available_decisions",
	"proposed_execpolicy_amendment", "proposed_network_policy_amendments",
}

// isCodex reports whether an input is an event of Codex and not the input of a
// tool. The ID of the call is in it, which the input of a tool cannot know, and
// so is a command that Codex has parsed, or changes of files.
func (d details) isCodex(input object) bool {
	id, _ := textOf(input["call_id"])
	_, turn := textOf(input["turn_id"])
	var command, parsed []json.RawMessage
	exec := dialect.Decode(commandName, input[commandName], &command) == nil && dialect.Decode("parsed_cmd", input["parsed_cmd"], &parsed) == nil
	return id != "" && id == d.ID && turn && (exec && len(command) > 0 && parsed != nil || objectOf(input["changes"]) != nil)
}

// codexInput translates an event of Codex.
func codexInput(w *work, event object) (input object, notes []string) {
	input = maps.Clone(event)
	for _, name := range codexOwn {
		delete(input, name)
	}
	maps.DeleteFunc(input, func(_ string, v json.RawMessage) bool { return isEmpty(v) })
	if reason, ok := textOf(input["reason"]); ok {
		notes = append(notes, reason)
		delete(input, "reason")
	}
	if commandOf(input) != "" {
		w.tool = execute // ACP's kind "read" includes commands that only read
	}
	return input, notes
}

// commandOf returns the command of an input, or "".
func commandOf(input object) string {
	for _, name := range []string{commandName, "cmd", "argv"} {
		if s, ok := textOf(input[name]); ok {
			return s
		}
		var list []string
		if raw := input[name]; len(raw) > 0 && raw[0] == '[' && dialect.Decode(name, raw, &list) == nil {
			return strings.Join(list, " ")
		}
	}
	return ""
}

// contents sorts the content of the call into file changes, texts, and all
// other items, which stay unchanged.
func (d details) contents() (diffs []diff, texts []string, others []json.RawMessage, err error) {
	for _, raw := range d.Content {
		var b block
		if err := dialect.Decode("content", raw, &b); err != nil {
			return nil, nil, nil, err
		}
		var inner struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		switch {
		case b.Type == "diff" && b.New != nil:
			diffs = append(diffs, diff{b.Path, b.Old, *b.New})
		case b.Type == "content" && dialect.Decode("content", b.Content, &inner) == nil && inner.Type == "text":
			texts = append(texts, inner.Text)
		default:
			others = append(others, raw)
		}
	}
	return diffs, texts, others, nil
}

// pathNames lists the names that agents use for the path of a file.
var pathNames = []string{"file_path", "path", "filePath", "filepath", "filename", "notebook_path", "abs_path", "absolute_path"}

// pathsOf returns the paths in an input.
func pathsOf(input object) []string {
	var out []string
	for _, name := range pathNames {
		if s, ok := textOf(input[name]); ok {
			out = append(out, s)
		}
	}
	return out
}

// repeats reports whether an input already contains the content of a diff.
func repeats(input object, c diff) bool {
	if !slices.Contains(pathsOf(input), c.Path) {
		return false
	}
	old := ""
	if c.Old != nil {
		old = *c.Old
	}
	same := func(name, want string) bool { s, ok := textOf(input[name]); return ok && s == want }
	return same("old_string", old) && same("new_string", c.New) || old == "" && same("content", c.New)
}

// replaced returns a diff in the form of an editing tool's input.
func replaced(c diff) object {
	if c.Old == nil {
		return object{"file_path": text(c.Path), "content": text(c.New)}
	}
	return object{"file_path": text(c.Path), "old_string": text(*c.Old), "new_string": text(c.New)}
}

// places returns the locations that are not the working directory, in the
// input, or in a diff.
func (d details) places(where string, input object, diffs []diff) []json.RawMessage {
	known := append(pathsOf(input), where)
	for _, c := range diffs {
		known = append(known, c.Path)
	}
	return slices.DeleteFunc(slices.Clone(d.Locations), func(raw json.RawMessage) bool {
		var at struct {
			Path string `json:"path"`
		}
		return dialect.Decode("location", raw, &at) == nil && slices.Contains(known, at.Path)
	})
}

// joined adds members to an input. If their names are in use, the complete
// input becomes a member.
func joined(input, more object) json.RawMessage {
	if len(input) == 0 && len(more) == 0 {
		return nil
	}
	for name := range more {
		if _, taken := input[name]; taken {
			input = object{inputName: input.raw()}
			break
		}
	}
	out := maps.Clone(input)
	maps.Copy(out, more)
	return out.raw()
}

// unquoted removes the Markdown that turns a complete text into code.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "```"); ok {
		_, code, block := strings.Cut(inner, "\n") // after the language
		if code, ok = strings.CutSuffix(code, "```"); ok && block {
			return strings.TrimSpace(code)
		}
		return s
	}
	if inner, ok := strings.CutPrefix(s, "`"); ok {
		return strings.TrimSuffix(inner, "`")
	}
	return s
}

// prompt returns the agent's text, without parts that only repeat the command.
func prompt(title, command, id string, texts []string) string {
	var out []string
	said := func(s string) bool {
		plain := unquoted(s)
		return plain == "" || command != "" && (plain == command || strings.TrimPrefix(plain, "$ ") == command)
	}
	switch {
	case title == "" && command == "":
		out = append(out, "**Tool call "+id+"**")
	case said(title):
		out = append(out, "Run this command?")
	case strings.ContainsAny(title, "\n\r"):
		out = append(out, dialect.Fenced(title))
	case strings.ContainsAny(title, "\\`*_[]<>~|&#"):
		out = append(out, dialect.Code(title))
	default:
		out = append(out, "**"+title+"**")
	}
	for _, s := range texts {
		if !said(s) && s != title && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n\n")
}
