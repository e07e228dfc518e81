package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/nodbridge/nod/bridge"
)

// jsonFormat describes the files that an agent accepts. The agent ignores any
// other file completely, with all of its hooks. Tests with the versions in the
// table of agents determined these facts.
type jsonFormat struct {
	comments bool // the agent accepts comments and trailing commas
	mark     bool // the agent accepts a byte-order mark
	// last is set if the last of two members with the same name wins.
	// Otherwise, the agent ignores the file.
	last bool
	// members lists the members that a file may have; nil means any.
	members []string
	// entries checks a hook. fatal reports whether a malformed entry for an
	// event makes the agent ignore the complete file.
	entries func(raw json.RawMessage) error
	fatal   func(event string) bool
}

var (
	always = func(string) bool { return true }
	never  = func(string) bool { return false }

	lenientJSON = jsonFormat{comments: true, mark: true, last: true}
	claudeJSON  = jsonFormat{mark: true, last: true, entries: checkEntry, fatal: func(event string) bool {
		return event == "PreToolUse" || event == "PermissionRequest"
	}}
	codexJSON   = jsonFormat{members: []string{"description", "hooks"}, entries: checkEntry, fatal: always}
	copilotJSON = jsonFormat{entries: func(json.RawMessage) error { return nil }, fatal: never}
)

// complaint is a problem with a settings file. If the file is ignored, it has
// no effect at all.
type complaint struct {
	path, text string
	ignored    bool
}

// check returns the problems with a file, worst first.
func (a agent) check(path string, raw []byte) []complaint {
	var out []complaint
	ignored := func(format string, args ...any) []complaint {
		return []complaint{{path, fmt.Sprintf(format, args...), true}}
	}
	if bytes.HasPrefix(raw, byteOrderMark) && !a.json.mark {
		return ignored("begins with a byte-order mark")
	}
	doc, err := hujson.Parse(bytes.TrimPrefix(raw, byteOrderMark))
	switch {
	case err != nil:
		return ignored("is not valid JSON")
	case !a.json.comments && !doc.IsStandard():
		return ignored("has comments or trailing commas")
	}
	o, ok := doc.Value.(*hujson.Object)
	if !ok {
		return ignored("is not a JSON object")
	}
	if name := repeated(doc); name != "" {
		if !a.json.last {
			return ignored("has the member %q twice", name)
		}
		out = append(out, complaint{path, fmt.Sprintf("has the member %q twice, and only the last one counts", name), false})
	}
	for _, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if a.json.members != nil && !slices.Contains(a.json.members, name) {
			return ignored("has an unknown member %q", name)
		}
		if a.json.entries != nil && name != "hooks" && strings.EqualFold(name, "hooks") {
			out = append(out, complaint{path, fmt.Sprintf("has the member %q, which %s ignores: it is \"hooks\"", name, a.title), false})
		}
	}
	doc.Standardize()
	out = append(out, a.checkHooks(path, doc.Pack())...)
	slices.SortStableFunc(out, func(x, y complaint) int { return cmp.Compare(worse(y), worse(x)) })
	return out
}

func worse(c complaint) int {
	if c.ignored {
		return 1
	}
	return 0
}

// checkHooks checks the hooks of a file.
func (a agent) checkHooks(path string, raw []byte) []complaint {
	var file struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if a.json.entries == nil || decode(raw, &file) != nil || len(file.Hooks) == 0 {
		return nil
	}
	var hooks map[string]json.RawMessage
	if decode(file.Hooks, &hooks) != nil {
		return []complaint{{path, "hooks: must be an object", true}}
	}
	var out []complaint
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		var entries []json.RawMessage
		if decode(hooks[event], &entries) != nil {
			out = append(out, complaint{path, "hooks." + event + ": must be a list", a.json.fatal(event)})
		}
		for n, e := range entries {
			if err := a.json.entries(e); err != nil {
				out = append(out, complaint{path, fmt.Sprintf("hooks.%s[%d]: %v", event, n, err), a.json.fatal(event)})
			}
		}
	}
	return out
}

// handlerTypes are the types of hooks, with the member that each must have.
var handlerTypes = map[string]string{"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt", "mcp_tool": "tool"}

// checkEntry checks an entry in the format of Claude Code and Codex.
func checkEntry(raw json.RawMessage) error {
	var e map[string]json.RawMessage
	if decode(raw, &e) != nil || e == nil {
		return errors.New("must be an object")
	}
	var text string
	if m, ok := e["matcher"]; ok && (m[0] != '"' || decode(m, &text) != nil) {
		return errors.New("matcher: must be a string")
	}
	var handlers []map[string]json.RawMessage
	if m := e["hooks"]; len(m) == 0 || m[0] != '[' || decode(m, &handlers) != nil {
		return errors.New("hooks: required, as a list of objects")
	}
	for n, h := range handlers {
		if err := checkHandler(h); err != nil {
			return fmt.Errorf("hooks[%d].%w", n, err)
		}
	}
	return nil
}

func checkHandler(h map[string]json.RawMessage) error {
	var kind, text string
	_ = decode(h["type"], &kind) // kind stays empty for any other value
	member, known := handlerTypes[kind]
	if !known {
		return fmt.Errorf("type: unknown value %s", cmp.Or(string(h["type"]), "(none)"))
	}
	if decode(h[member], &text) != nil || text == "" {
		return fmt.Errorf("%s: required", member)
	}
	var number float64
	var yes bool
	for _, m := range []struct {
		name, want string
		ok         func(json.RawMessage) bool
	}{
		{"timeout", "a number above 0", func(v json.RawMessage) bool { return decode(v, &number) == nil && number > 0 }},
		{"async", "true or false", func(v json.RawMessage) bool { return decode(v, &yes) == nil }},
		{"asyncRewake", "true or false", func(v json.RawMessage) bool { return decode(v, &yes) == nil }},
		{"if", "a string", func(v json.RawMessage) bool { return decode(v, &text) == nil }},
		{"onFailure", "block or continue", func(v json.RawMessage) bool {
			return decode(v, &text) == nil && (text == "block" || text == "continue")
		}},
	} {
		if v, ok := h[m.name]; ok && (string(v) == "null" || !m.ok(v)) {
			return fmt.Errorf("%s: must be %s", m.name, m.want)
		}
	}
	return nil
}

// accepts returns an error for a file that the agent would ignore, because
// nod's entries would have no effect there.
func (a agent) accepts(path string, raw []byte) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	for _, c := range a.check(path, raw) {
		if c.ignored {
			return bridge.Errorf(bridge.CodeInvalid, "%s: %s, so %s ignores the whole file", path, c.text, a.title).
				WithHint("correct the file first; nothing was changed")
		}
	}
	return nil
}
